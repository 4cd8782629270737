import type { Facts, Verdict } from './facts.ts'
import { readPageUrl, withoutClickValues } from './page-url.ts'

/** Where the event happened. A path that the sender names wins over that of its URL; parameters are no part of it. */
export function readLocation({ event, page, row }: Facts): Verdict {
  const { url, path } = event
  readPageUrl(url || path || '', page)
  row.url = url ? page.url : ''
  row.path = path && url ? pathAlone(path) : page.path
  row.referrer = event.referrer ? withoutClickValues(event.referrer) : ''
  return undefined
}

function pathAlone(path: string): string {
  const end = path.search(/[?#]/)
  return end < 0 ? path : path.slice(0, end)
}
