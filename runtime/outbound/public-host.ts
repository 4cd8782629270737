/** Whether a URL's host can be one of the open Internet, as far as its name tells. Where it leads is checked when connecting. */
import { isAddress, isPublicAddress } from './public-address.ts'

/** Names that are never public (RFC 6761, 6762, 8375); clouds keep their metadata under `internal`. */
const closedSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa']

/** @param hostname as `URL` gives it: in lower case, IPv4 in four decimal parts, IPv6 in brackets */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isAddress(host)) return isPublicAddress(host)
  return host.includes('.') && !closedSuffixes.some((suffix) => host.endsWith(`.${suffix}`) || host === suffix)
}
