/**
 * Refuses loops of redirects: an address of a short domain must not lead back to that domain. It could do so at once, by
 * other domains of the workspace, or by its links. A key of a domain counts as known and as unknown, because its link may
 * be made or end later. Ingest ends the loops that several workspaces make together (ingest/tables/short-domains.ts).
 *
 * Held by test/integration/short-domain-loops.test.ts.
 */

import { keyUnderRoots } from '../../../authoring/links/short-addresses.ts'
import { linksOfKeys } from '../../../postgres/tables/links/links-known.ts'
import type { StoredDomain } from '../../../postgres/tables/links/short-domains.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { canonicalHost } from '../../../schemas/exclusions.ts'
import { shortDomainHopsMax } from '../../../schemas/limits/domain-limits.ts'
import { linkKeyOfPath } from '../../../schemas/link-key.ts'
import type { CallContext } from '../define.ts'

type LoopContext = Pick<CallContext, 'workspace' | 'stores' | 'config'>

/** An address of the workspace's own: a path of a domain, or a key under the installation's roots. */
interface OwnPlace {
  /** Null: the installation's. */
  readonly domain: StoredDomain | null
  /** Null: no link stands there. */
  readonly key: string | null
  readonly isRoot: boolean
}

/**
 * @param domains of the workspace, which is to be locked: two domains that are changed at once might lead to each other.
 * @throws Problem 422 where an address leads back to the domain
 */
export async function requireNoLoop(
  host: string,
  urls: { readonly root_url?: string | null | undefined; readonly not_found_url?: string | null | undefined },
  domains: readonly StoredDomain[],
  context: LoopContext,
): Promise<void> {
  const faults = []
  for (const name of ['root_url', 'not_found_url'] as const) {
    const fault = urls[name] == null ? null : await loopFault(urls[name], host, domains, context)
    if (fault !== null) faults.push(valueError(['body', name], urls[name], fault))
  }
  if (faults.length > 0) throw invalid(faults)
}

async function loopFault(
  url: string,
  host: string,
  domains: readonly StoredDomain[],
  context: LoopContext,
): Promise<string | null> {
  let urls = [url]
  let passed = 0
  while (urls.length > 0) {
    if (urls.some((each) => hostOf(each) === host)) {
      return passed === 0
        ? 'It leads to the domain itself'
        : 'It leads back to the domain itself, by other addresses of the workspace'
    }
    const places = urls.flatMap((each) => placeOf(new URL(each), domains, context) ?? [])
    passed += places.length
    if (passed > shortDomainHopsMax)
      return `It leads through more than ${shortDomainHopsMax} addresses of the workspace`
    urls = await nextOf(places, context)
  }
  return null
}

function hostOf(url: string): string {
  return canonicalHost(new URL(url).hostname)
}

/** Null: it isn't the workspace's. */
function placeOf(url: URL, domains: readonly StoredDomain[], { config }: LoopContext): OwnPlace | null {
  const domain = domains.find(({ host }) => host === canonicalHost(url.hostname)) ?? null
  const key = domain === null ? keyUnderRoots(url, config) : linkKeyOfPath(url.pathname.slice(1))
  return domain === null && key === null ? null : { domain, key, isRoot: url.pathname === '/' }
}

/** All addresses that these places lead to, by domain or by link. */
async function nextOf(places: readonly OwnPlace[], { workspace, stores }: LoopContext): Promise<string[]> {
  const keys = places.flatMap(({ key, domain }) => (key === null ? [] : [{ key, domainId: domain?.id ?? null }]))
  const links = keys.length === 0 ? [] : await linksOfKeys(stores.pg, keys)
  const urls = [
    ...places.map(({ domain, isRoot }) => (isRoot ? domain?.root_url : domain?.not_found_url)),
    ...links
      .filter(({ workspace_id }) => workspace_id === workspace.id)
      .flatMap(({ destination_url, expired_url, targets }) => [
        destination_url,
        expired_url,
        ...targets.map((target) => target.destination_url),
      ]),
  ]
  return [...new Set(urls.filter((url) => url != null))]
}
