/** Hosts that a short domain can't have, and addresses that it can't lead to. */
import { isPublicHost } from '../../../runtime/outbound/public-host.ts'
import type { PublicHosts } from '../../../runtime/public-hosts.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { canonicalHost } from '../../../schemas/exclusions.ts'

/** @throws Problem 422 for a host of the installation, or one that is never public */
export function requireUsableHost(host: string, { apiHost, shortUrlHost }: PublicHosts): void {
  const own = [apiHost, shortUrlHost].map((root) => new URL(root).hostname)
  const fault = own.includes(host)
    ? 'The host is the installation’s own'
    : isPublicHost(host)
      ? undefined
      : 'The host must be public: no localhost or name of a local network'
  if (fault !== undefined) throw invalid([valueError(['body', 'host'], host, fault)])
}

/** @throws Problem 422 where an address leads back to the domain: it might do so without end */
export function requireOtherHosts(
  host: string,
  urls: { readonly root_url?: string | null | undefined; readonly not_found_url?: string | null | undefined },
): void {
  const faults = (['root_url', 'not_found_url'] as const)
    .filter((name) => urls[name] != null && canonicalHost(new URL(urls[name]).hostname) === host)
    .map((name) => valueError(['body', name], urls[name], 'It leads to the domain itself'))
  if (faults.length > 0) throw invalid(faults)
}
