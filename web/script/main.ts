/**
 * The browser script, `GET /svc.js?key=…`. Its parts:
 *
 *   config.ts    what the server writes into it: key, address, flags
 *   bounds.ts
 *   main.ts      `Svc`, consent, the start
 *   pages.ts     pageviews, routes, the back-forward cache, page_leave
 *   events.ts    an event, its visitor and its session
 *   sessions.ts  ids, sessions, journeys between sites (pure)
 *   touches.ts   first and last touch
 *   outbox.ts    queue, sending, retries
 *   storage.ts   what the browser keeps
 *   vitals-and-clicks.ts  the second file, `GET /svc.js?late=…`: vitals, and
 *   clicks.ts    what clicks were
 *   optional.ts  the second file of snippets that ask for more, `GET /svc.js?late=….7`, with
 *   downloads.ts          … clicks on links to files, and
 *   visited-addresses.ts  … missing pages and searches on the site
 *   replay-start.ts       … and whether a session is recorded: replay/ is the third file, `GET /svc.js?replay=…`
 *   svc.d.ts     types for sites
 *
 * `npm run build` bundles it into web/generated/, which is committed; web/bundle/ says how. docs/browser.md has all
 * that sites may rely on. Held by test/unit/browser-*.test.ts and, in real browsers, by test/browser.
 */
import { lateRetryMs } from './bounds.ts'
import type { Seen } from './clicks.ts'
import { base, consentMode, isAutocaptureOff, lateAddress } from './config.ts'
import { begin, browserId, end, isOpen, record, sessionNow } from './events.ts'
import { guard, on } from './listen.ts'
import { send } from './outbox.ts'
import { landing, page, schedulePage, view, watchPages } from './pages.ts'
import { sessionIdOf } from './sessions.ts'
import { readJson } from './storage.ts'

type Call = [name: keyof SvcApi, args: Iterable<unknown>]
type Calls = Iterable<Call> & { push(...calls: Call[]): void }
type Stub = Partial<SvcApi> & { q?: Calls }

declare const window: { Svc?: Stub }
declare const navigator: { readonly globalPrivacyControl?: boolean; readonly doNotTrack?: number }

const target: Stub = window.Svc || {}
let isGiven = consentMode ? consentMode > 1 : !(navigator.globalPrivacyControl || navigator.doNotTrack! > 0)
/** Requests for the second file that were made or have failed: odd while it is on its way, and once it is there. */
let lateSteps = 0
const early: Seen[] = []
/** Keeps the first 100 clicks, and the pages that they were on, until the second file can describe them. */
let takeClick = ([event, path]: Seen): unknown => early[99] || early.push([event, path, view])

const api: SvcApi = {
  page,
  track: act,
  // A name stays among the properties: as a field it would have the event refused, unless it is a text that is short.
  identify: (email, properties) => email && act('identify', properties, { event_type: 'identify', email }),
  conversion: (name, properties) => act(name, properties, { event_type: 'conversion' }),
  webVital: (metric, value, extra) => act('web_vital', { ...extra, value, metric }, {}, true),
  journey: () => ({
    anonymous_id: api.anonymousId(),
    session_id: api.sessionId(),
    first_touch: readJson<SvcTouch>('svc_first'),
    last_touch: readJson<SvcTouch>('svc_last'),
  }),
  consent: (given) => {
    isGiven = given === true
    if (isGiven) allow()
    else {
      end()
      page()
    }
  },
  anonymousId: () => (isOpen ? browserId() : null),
  sessionId: () => (isOpen ? sessionIdOf(sessionNow(), browserId()) : null),
  link: (url) => {
    try {
      const target = new URL(url, location.href)
      // `mailto:` and `tel:` have no host: they lead to no site.
      if (isOpen && target.host) target.searchParams.set('svc_j', browserId() + '.' + sessionNow())
      return target.href
    } catch {}
    return url
  },
}

function act(name: string, properties?: object, more?: object, isPassive?: boolean): void {
  page()
  if (name) record(view, name, properties, more, isPassive)
}

function start(): void {
  watchPages()
  // One listener for the whole page, which sees what the page's own ones stop.
  if (!isAutocaptureOff) {
    for (const type of ['click', 'auxclick', 'submit'] as const) {
      on(type, (event) => isOpen && takeClick([event, event.composedPath()]), true)
    }
  }
  on('pointerdown', loadLate)
  on('load', loadLate)
  on('online', send)
  // Consent was withdrawn in another tab, which has made the id empty first, and not given again since: that makes
  // another id. An act before this event has stored the same one anew.
  on(
    'storage',
    ({ key, newValue, oldValue }) =>
      key! + newValue === 'svc_aid' && (localStorage[key!] || oldValue) === oldValue && api.consent(false),
  )
  allow()
  // Calls that a prerendered page has queued happen once it is shown.
  call(...(target.q || []))
  target.q = { push: call } as Calls
}

function allow(): void {
  // People whose visits shall not count set `svc_off`.
  if (!isOpen && isGiven && !document.prerendering && !readJson('svc_off')) {
    begin()
    // Only `complete` sorts before "d": the other states are `interactive` and `loading`.
    if (document.readyState < 'd') loadLate()
  }
  schedulePage()
}

function loadLate(): void {
  if (!isOpen || lateSteps % 2) return
  // Measurements may come at once, and belong to a page that has been recorded: else there is no session yet.
  page()
  // Browsers remember a module that failed, so each try needs another address.
  import(base + lateAddress + lateSteps++)
    .then(({ default: watch }) => {
      takeClick = watch(act, (vital: object) => record(landing, 'web_vital', vital, {}, true), schedulePage)
      // A click that can't be described must not have the file fetched again: that would record the others twice.
      early.forEach(guard(takeClick))
    })
    .catch(() => setTimeout(loadLate, lateRetryMs * lateSteps++))
}

function call(...calls: Call[]): void {
  for (const [name, args] of calls) (target[name] as (...args: unknown[]) => void)(...args)
}

// Unless the script stands in the page twice.
if (!target.journey) {
  window.Svc = target
  for (const name in api) target[name as 'page'] = guard(api[name as 'page'])
  if (document.prerendering) on('prerenderingchange', start, true)
  else start()
}
