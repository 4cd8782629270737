/**
 * Pageviews and their ends. A page is told from the next by its URL without the fragment, unless that is a route (`#/…`,
 * `#!…`). What the visitor did with it goes out whenever it is hidden: each time what came since.
 */
import { addressOf, isDenied, isOpen, record, type View } from './events.ts'
import { guard, on } from './listen.ts'
import { sendAtEnd, takeStored } from './outbox.ts'

/** Routes set their title after their address, and a script that comes from a cache may run before the page's is read. */
const titleMs = 50

export let view: View = { url: addressOf(location.href), referrer: addressOf(document.referrer) }
/** The page that was loaded, or came back from the cache: what is measured of loading is its. */
export let landing = view
/** What tells the present page from others; empty where none is recorded. */
let current = ''
let hasLeft = false
let engagedMs = 0
let isEngaged = false
let countedAt = 0
/** In per cent of the page's height, the lowest that was in sight. */
let depth = 0

/** Records the page, unless it is the one that was recorded last. */
export function page(extra?: object): void {
  const url = addressOf(location.href)
  const name = url.replace(/#(?![!/]).*/, '')
  if (isDenied || name === current) return
  leave()
  view = current ? { url, referrer: view.url } : landing
  current = name
  hasLeft = false
  depth = 0
  record(view, 'pageview', extra)
}

/** The page is new to whoever records it: after consent, and back from the cache. */
export function land(referrer: string): void {
  current = ''
  landing = { url: addressOf(location.href), referrer }
  countEngagement()
  engagedMs = 0
}

/** Records the page soon, unless `Svc.page()` does so before. */
export const pageSoon = guard(() => {
  look()
  setTimeout(guard(page), titleMs)
})

export function watchPages(): void {
  on('popstate', pageSoon)
  on('pageshow', ({ persisted }) => {
    if (persisted) {
      land('')
      pageSoon()
    }
  })
  on('visibilitychange', () => (document.hidden ? hide() : show()))
  on('pagehide', hide)
  on('focus', countEngagement)
  on('blur', countEngagement)
  on('scroll', look)
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name]
    history[name] = function (...args) {
      original.apply(this, args)
      pageSoon()
    }
  }
}

function hide(): void {
  page()
  look()
  leave()
  sendAtEnd()
}

function show(): void {
  countEngagement()
  takeStored()
}

function leave(): void {
  countEngagement()
  if (isOpen && current && (!hasLeft || engagedMs)) {
    record(view, 'page_leave', { engagement_ms: Math.round(engagedMs), scroll_depth: depth }, {}, true)
    hasLeft = true
  }
  engagedMs = 0
}

function look(): void {
  const seen = ((scrollY + innerHeight) / document.documentElement.scrollHeight) * 100
  depth = Math.max(depth, Math.min(100, Math.round(seen)))
}

function countEngagement(): void {
  const now = performance.now()
  if (isEngaged) engagedMs += now - countedAt
  countedAt = now
  isEngaged = !document.hidden && document.hasFocus()
}
