/**
 * Which addresses lie on the open Internet. Everything else belongs to a machine, a local network, a protocol or a manual.
 * The ranges are ipaddr.js's, which follow IANA's special-purpose address registries for IPv4 and IPv6 (RFC 6890).
 */
import ipaddr from 'ipaddr.js'

/** Azure answers metadata and DNS here, in the middle of public space. */
const platformAddresses = new Set(['168.63.129.16'])
/** All IPv6 addresses that are given out to networks. Addresses outside map, translate or tunnel to others. */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/** NAT64 (RFC 6052): in IPv6-only networks, DNS gives these addresses for hosts that have IPv4 only. */
const translated = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number]

/** Whether a text is an address of IPv4 or IPv6, in any notation. */
export function isAddress(text: string): boolean {
  return ipaddr.isValid(text)
}

/** @param address in any notation of IPv4 or IPv6; an IPv4 address that is mapped or translated into IPv6 counts as itself */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv6 && parsed.match(translated)) {
    return isPublicAddress(parsed.toByteArray().slice(12).join('.'))
  }
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv6 ? parsed.match(globalUnicast) : !platformAddresses.has(parsed.toString())
}

/** Whether the sender of a request has a public address of its own: one that was translated from IPv4 stands for all of IPv4. */
export function isPublicSender(address: string): boolean {
  const parsed = isPublicAddress(address) ? ipaddr.process(address) : undefined
  return parsed !== undefined && !(parsed instanceof ipaddr.IPv6 && parsed.match(translated))
}
