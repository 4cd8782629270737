/**
 * Pageviews and their ends. A page is told from the next by its URL without the fragment, unless that is a route
 * (`#/…`, `#!…`). Each time the page is hidden, the visitor's acts since the last time go out.
 */
import { titleMs } from './bounds.ts'
import { isOpen, journey, record, session, type View } from './events.ts'
import { guard, on } from './listen.ts'
import { sendAtEnd, takeStored } from './outbox.ts'
import { addressOf, nextSession, sessionIdOf } from './sessions.ts'
import { read } from './storage.ts'

/** The page that was recorded last. */
export let view: View
/** The page that was loaded, or came back from the cache: what is measured of loading is its. */
export let landing: View
/** A journey goes on from another of the owner's sites: that one didn't bring the visitor. */
let referrer = journey ? '' : addressOf(document.referrer)
/** The address that the page was loaded with, until it is recorded: many apps change theirs as they start. */
let loaded = addressOf(location.href)
/** Tells the present page from others; empty where none is recorded. */
let current = ''
let hasLeft = false
let engagedMs = 0
let isEngaged: boolean | undefined
let countedAt = 0
/** In per cent of the page's height, the lowest that was in sight. */
let depth = 0
/** Set while a change of address waits to be recorded: what is in sight may be of the next page then. */
let soon: number | string = ''

/** Records the page, unless it is the one that was recorded last. Without consent it is a new one to whoever begins again. */
export const page = guard((extra?: object): void => {
  const url = loaded || addressOf(location.href)
  // It is the same page where an app takes the campaign or link out of its address, or its router begins with an empty route.
  const name = url.replace(/#([^!/].*|\W*)$|[?&](utm_[^&#]*|svc_[^&#]*|)/g, '')
  if (isOpen === false) current = ''
  else if (name !== current) {
    leave()
    view = { url, referrer: current ? view.url : referrer }
    if (!current) landing = view
    hasLeft = false
    engagedMs = depth = 0
    record(view, 'pageview', extra)
    // Not before: properties that are no JSON throw, and the page is recorded soon without them.
    current = name
  }
  loaded = soon = ''
})

/** Records the page soon, unless `Svc.page()` does so before. */
export const schedulePage = guard(() => {
  look()
  soon = setTimeout(page, titleMs)
})

export function watchPages(): void {
  on('popstate', schedulePage)
  on('pageshow', ({ persisted }) => {
    if (persisted) {
      // It is no landing: its campaign and the site that led to it counted when it was loaded.
      referrer = location.origin
      current = ''
      // At once: its title is there, and what is measured of its return must not go to the page that was landed on before.
      page()
    }
  })
  on('visibilitychange', () => {
    look()
    // Without consent, too: then there is nothing to end.
    if (isEngaged) takeStored()
    else hide()
  })
  on('scroll', look)
  on('pagehide', hide)
  for (const name of ['pushState', 'replaceState'] as const) {
    // Named once: the bundler puts `window.` before each use.
    const its = history
    const original = its[name]
    its[name] = (...args) => {
      original.apply(its, args)
      schedulePage()
    }
  }
}

function hide(): void {
  page()
  leave()
  // A page that goes is told so twice, the first time while it is still in sight: what lies between is no attention.
  isEngaged = false
  sendAtEnd()
}

function leave(): void {
  look()
  // Another look at the page is told of while its session goes on: a later one would stretch the session.
  if (
    isOpen &&
    current &&
    (!hasLeft || (engagedMs && sessionIdOf(session) === sessionIdOf(nextSession(read('svc_sid'), Date.now()))))
  ) {
    record(view, 'page_leave', { engagement_ms: engagedMs | 0, scroll_depth: depth }, {}, true)
    hasLeft = true
    engagedMs = 0
  }
}

/** Counts what was in sight until now: how long, and how far. */
function look(): void {
  const now = performance.now()
  if (isEngaged) engagedMs += now - countedAt
  countedAt = now
  isEngaged = !document.hidden && isOpen
  // Ingest bounds it by 100: beyond are pages that are pulled past their end.
  if (isOpen && !soon)
    depth = Math.max(depth, Math.round((100 * (scrollY + innerHeight)) / document.documentElement.scrollHeight))
}
