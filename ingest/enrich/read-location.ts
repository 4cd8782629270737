import type { Facts, Verdict } from './facts.ts'
import { clearCampaign, hostOf, keptReferrer, namedPath, readPageUrl, rooted } from './page-url.ts'

/** Where the event happened. A path that the sender names wins over that of its URL; parameters are no part of it. */
export function readLocation({ event, page, row, countDropped }: Facts): Verdict {
  const { url, path, referrer } = event
  readPageUrl(url || rooted(path ?? ''), page)
  // Links within the site aren't landings: their parameters may mean anything. The browser script's touches.ts agrees.
  if (page.host !== '' && referrer && hostOf(referrer) === page.host) clearCampaign(page)
  if (url && page.url === '') countDropped('not_a_page_url')
  row.url = url ? page.url : ''
  row.path = path && url ? namedPath(path) : page.path
  row.referrer = referrer ? keptReferrer(referrer) : ''
  return undefined
}
