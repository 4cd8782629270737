/** Classifies hosts, with a cache. */
import { LRUCache } from 'lru-cache'
import { parse } from 'tldts'
import { hostCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { type Source, sourceOfHost } from '../../schemas/reference/sources.ts'
import { isUnwantedReferrer } from '../../schemas/reference/unwanted-referrers.ts'

export interface Site {
  /** Names the owner: `example.co.uk` of `www.example.co.uk`. The host itself where it is an address or a local name. */
  readonly domain: string
  /** Where a visit from it comes from; null for payment and sign-in pages, from which visitors come back. */
  readonly source: Source | null
}

/** From a host in lower case to its site; null for a text that can be no host. */
export function makeSites(): (host: string) => Site | null {
  const known = new LRUCache<string, { site: Site | null }>({ max: hostCacheMax })
  return (host) => {
    if (host === '') return null
    const found = known.get(host)
    if (found !== undefined) return found.site
    const site = siteOf(host)
    if (host.length <= hostLengthMax) known.set(host, { site })
    return site
  }
}

const hostLengthMax = 253

function siteOf(host: string): Site | null {
  // Sites under one suffix of a hosting company, such as github.io, are different owners'.
  const { hostname, domain } = parse(host, { allowPrivateDomains: true })
  if (hostname === null) return null
  return { domain: domain ?? hostname, source: isUnwantedReferrer(hostname) ? null : sourceOfHost(hostname) }
}
