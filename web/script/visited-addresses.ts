/**
 * Pages that are missing, and searches on the site: both are told by the page that is there and its address. A landing
 * is looked at once. A route of a single-page app is looked at when its address has stayed, so that a search counts
 * once and not for each letter.
 */
import { settledMs } from './bounds.ts'
import { shorten } from './clicks.ts'
import { guard, on } from './listen.ts'

declare const self: { readonly navigation?: EventTarget }

const usualParameters = 'q,s,search,query'

/** @param parameters names that a site gives in place of the usual ones: `find, term` */
export function watchAddresses(
  act: (name: string, properties: object) => void,
  isMissingWanted: number,
  isSearchWanted: number,
  parameters: string | null | undefined,
): void {
  const names = (parameters || usualParameters).split(/[\s,]+/)
  const [landing] = performance.getEntriesByType('navigation') as { name: string; responseStatus?: number }[]
  // Before this file came, an app may have gone on to a route that the server's answer isn't about.
  const isThere = landing && pageNameOf(landing.name) === pageNameOf(location.href)
  let status: string | number | undefined = isThere ? landing.responseStatus : undefined
  let before = document.referrer
  let timer: number | undefined

  const look = guard(() => {
    const { href, pathname: path } = location
    // A link to a part of a missing page leads to no other page. A page that led to itself was told of before.
    if (pageNameOf(href) === pageNameOf(before)) {
      status = undefined
      return
    }
    const [search_term, previous] = [termOf(href, names), termOf(before, names)]
    // The next page of a result is no other search.
    if (isSearchWanted && search_term && search_term !== previous) act('site_search', { search_term })
    status = document.querySelector('meta[name="svc:status"]')?.getAttribute('content') || status
    const referrer = before.replace(/[?#].*/, '')
    if (isMissingWanted && /^4(04|10)$/.test(`${status}`)) act('not_found', { path, ...(referrer && { referrer }) })
    // The server's answer is about the landing alone.
    status = undefined
    before = href
  })
  const lookSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(look, settledMs)
  }
  look()
  on('popstate', lookSoon)
  self.navigation?.addEventListener('currententrychange', lookSoon)
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name]
    history[name] = (...args) => {
      original.apply(history, args)
      lookSoon()
    }
  }
}

/** Pages as pages.ts tells them apart: the first file has no byte to spare for a function that both share. */
function pageNameOf(url: string): string {
  return url.replace(/#([^!/].*|\W*)$|[?&](utm_[^&#]*|svc_[^&#]*|)/g, '')
}

function termOf(url: string, names: readonly string[]): string {
  const query = new URLSearchParams(/\?[^#]*/.exec(url)?.[0])
  return shorten(names.map((name) => query.get(name) || '').find((value) => value.trim()) || '')
}
