/**
 * Where a visit came from. The surest answer counts: the sender's own fields, then the campaign in the page's URL, then
 * the click id of a paid click. The referring site follows, then the click id of a shared link or mail. Otherwise the
 * visit is direct.
 */
import { direct, type Source } from '../../schemas/reference/sources.ts'
import type { Facts, Step, Verdict } from './facts.ts'
import type { Site } from './hosts.ts'
import { hostOf } from './page-url.ts'

export function classifySource(sites: (host: string) => Site | null): Step {
  return ({ event, page, row }: Facts): Verdict => {
    row.campaign = event.campaign || page.campaign
    row.content = event.content || page.content
    const source = event.source || page.source
    const medium = event.medium || page.medium
    const { clickId } = page
    if (source !== '') {
      row.source = source
      row.medium = medium || (clickId?.isPaid ? clickId.medium : direct.medium)
      return undefined
    }
    const found = clickId?.isPaid ? clickId : (referringSource(event.referrer, page.host, sites) ?? clickId ?? direct)
    row.source = found.source
    row.medium = medium || found.medium
    return undefined
  }
}

/** Null without a referrer, where it belongs to the same owner as the page, and on a return from payment or sign-in. */
function referringSource(
  referrer: string | null | undefined,
  pageHost: string,
  sites: (host: string) => Site | null,
): Source | null {
  if (!referrer) return null
  const host = hostOf(referrer)
  if (host === '' || host === pageHost) return null
  const site = sites(host)
  if (site === null || site.domain === sites(pageHost)?.domain) return null
  return site.source
}
