/** Hosts that a short domain can't have. */
import { ownHostsOf } from '../../../postgres/tables/links/own-hosts.ts'
import { isPublicHost } from '../../../runtime/outbound/public-host.ts'
import type { PublicHosts } from '../../../runtime/public-hosts.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'

/** @throws Problem 422 for a host of the installation, or one that is never public */
export function requireUsableHost(host: string, hosts: PublicHosts): void {
  const fault = isOwnHost(host, hosts)
    ? 'The host is the installation’s own'
    : isPublicHost(host)
      ? undefined
      : 'The host must be public: no localhost or name of a local network'
  if (fault !== undefined) throw invalid([valueError(['body', 'host'], host, fault)])
}

/** Whether it is the installation's, which may have taken it after it was added. */
export function isOwnHost(host: string, hosts: PublicHosts): boolean {
  return ownHostsOf(hosts).some((own) => own.host === host)
}
