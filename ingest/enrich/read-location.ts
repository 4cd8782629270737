import type { Facts, Verdict } from './facts.ts'
import { keptReferrer, namedPath, readPageUrl, rooted } from './page-url.ts'

/** Where the event happened. A path that the sender names wins over that of its URL; parameters are no part of it. */
export function readLocation({ event, page, row, countDropped }: Facts): Verdict {
  const { url, path } = event
  readPageUrl(url || rooted(path ?? ''), page)
  if (url && page.url === '') countDropped('not_a_page_url')
  row.url = url ? page.url : ''
  row.path = path && url ? namedPath(path) : page.path
  row.referrer = event.referrer ? keptReferrer(event.referrer) : ''
  return undefined
}
