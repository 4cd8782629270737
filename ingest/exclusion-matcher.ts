/**
 * Applies the rules by which a workspace leaves traffic out. They are read once for each change, so that an event costs a few
 * look-ups, and none without rules. Imports enrich events by themselves and never come here. Held by
 * test/unit/exclusions.test.ts and test/integration/exclusions.test.ts.
 */

import type { ReplayBody, TrackEvent } from '../schemas/event/event.ts'
import { noCountry } from '../schemas/event/row.ts'
import { canonicalHost, type ExclusionReason, type Exclusions } from '../schemas/exclusions.ts'
import { fitsPattern, readPattern } from '../schemas/session-filters.ts'
import { hostOf, makePageUrl, readPageUrl } from './enrich/page-url.ts'
import type { Enriched, ExclusionMatcher, Sender, TrackedWorkspace } from './event-context.ts'
import { keyOfAddress, makeAddressRanges } from './verify/address-ranges.ts'

export function makeExclusionMatcher({ addresses, countries, paths, hostnames }: Exclusions): ExclusionMatcher {
  const ranges = makeAddressRanges(addresses)
  const codes = new Set(countries)
  const patterns = paths.map(readPattern)
  const spared = patterns.filter(({ isNot }) => isNot)
  const leftOut = patterns.filter(({ isNot }) => !isNot)
  const hosts = new Set(hostnames)
  const endings = hostnames.filter((each) => each.startsWith('*.')).map((each) => each.slice(1))

  function hasAddress(address: string): boolean {
    const key = addresses.length > 0 ? keyOfAddress(address) : null
    return key !== null && ranges.has(key)
  }

  function isElsewhere(url: string): boolean {
    if (hostnames.length === 0) return false
    const host = canonicalHost(hostOf(url))
    return host !== '' && !hosts.has(host) && !endings.some((ending) => host.endsWith(ending))
  }

  /** Filters take patterns with `!` alone for all other pages. Here they spare pages, and leave none out. */
  function isLeftOut(path: string): boolean {
    return leftOut.some((each) => fitsPattern(path, each)) && !spared.some((each) => fitsPattern(path, each))
  }

  return {
    reasonFor: ({ address, country, url, path }) => {
      if (hasAddress(address)) return 'address'
      if (codes.has(country)) return 'country'
      if (isElsewhere(url)) return 'hostname'
      return path !== '' && isLeftOut(path) ? 'path' : null
    },
  }
}

/** Why an event is left out; null: it counts. The country of a crawler's event isn't known. */
export function exclusionOfEvent(
  event: TrackEvent,
  { row }: Exclude<Enriched, { stream: 'rejected' }>,
  sender: Sender,
  { exclusions }: TrackedWorkspace,
): ExclusionReason | null {
  if (exclusions === null) return null
  const country = 'country' in row ? row.country : noCountry
  return exclusions.reasonFor({ address: event.ip || sender.address, country, url: row.url, path: row.path })
}

/** The same of a chunk of a recording. */
export function exclusionOfChunk(
  { url }: ReplayBody,
  country: string,
  { address }: Sender,
  { exclusions }: TrackedWorkspace,
): ExclusionReason | null {
  if (exclusions === null) return null
  readPageUrl(url ?? '', page)
  return exclusions.reasonFor({ address, country, url: page.url, path: page.path })
}
const page = makePageUrl()
