/** Addresses that a customer gives for our requests: of the open Internet, and over TLS. */
import { isPublicHost } from '../../runtime/outbound/public-host.ts'

export const notPublic = 'The host must be public: no private address, localhost or name of a local network'

/** @returns why the address can't be taken; undefined where it can. Where the host's name leads is checked when connecting */
export function faultOfTarget({ protocol, hostname }: URL): string | undefined {
  if (protocol !== 'https:') return 'The URL must begin with https://'
  return isPublicHost(hostname) ? undefined : notPublic
}
