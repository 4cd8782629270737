/**
 * Short domains: hosts of workspaces, each with short links of its own. A workspace proves that it may use one by a TXT record.
 * docs/links.md says how. Held by test/unit/short-domain.test.ts.
 */
import { canonicalHost } from './exclusions.ts'
import { shortDomainLengthMax } from './limits/domain-limits.ts'

/** Why the last check failed. `host_taken`: another workspace has proven it before, or it is the installation's own by now. */
export const domainFailures = ['record_missing', 'record_different', 'dns_timeout', 'dns_failed', 'host_taken'] as const
export type DomainFailure = (typeof domainFailures)[number]

/** Two labels or more; the last one isn't a number, so that no address is a name. */
const shape = /^(?:[\da-z](?:[\da-z-]{0,61}[\da-z])?\.)+(?!\d+$)[\da-z](?:[\da-z-]{0,61}[\da-z])$/

/** @returns the host in lower case and ASCII, or null where the text is no name of a host */
export function readShortDomain(text: string): string | null {
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return null
  const host = canonicalHost(text)
  return host.length <= shortDomainLengthMax && shape.test(host) ? host : null
}

/** The host that a request names in its `Host` header, without the port, in the form of `readShortDomain`. */
export function hostOfHeader(header: string): string {
  return header.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}

/** The TXT record that proves a host. */
export function proofOf(host: string, token: string): { readonly name: string; readonly value: string } {
  return { name: `_svc.${host}`, value: `svc-domain=${token}` }
}
