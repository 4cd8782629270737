import type { Facts, Verdict } from './facts.ts'
import { hostOf, keepCarried, keptReferrer, namedPath, readPageUrl, rooted } from './page-url.ts'

/** Where the event happened. A path that the sender names wins over that of its URL; parameters are no part of it. */
export function readLocation({ event, page, row, countDropped }: Facts): Verdict {
  const { url, path, referrer } = event
  const address = url || rooted(path ?? '')
  readPageUrl(address, page)
  // Links within the site aren't landings: their parameters may mean anything. But a landing's own script may send it on
  // to another page of the site, with what names the campaign. The browser script's touches.ts agrees.
  if (page.host !== '' && referrer && hostOf(referrer) === page.host) keepCarried(address, referrer, page)
  if (url && page.url === '') countDropped('not_a_page_url')
  row.url = url ? page.url : ''
  row.path = (path && url && namedPath(path)) || page.path
  row.referrer = referrer ? keptReferrer(referrer) : ''
  return undefined
}
