/** The network that an address stands for, where addresses are counted or hashed. */
import ipaddr from 'ipaddr.js'

/** An IPv6 address cut to the /64 that one household has; an IPv4 address, or any other text, as it is. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}
