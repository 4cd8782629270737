/** What an event says: the page that it happened on, and, once that is allowed, whose it is. */
import { clear, put, queue, type Sent, takeStored } from './outbox.ts'
import { isWithinLength, makeId, nextSession, readJourney, sessionIdOf, withoutJourney } from './sessions.ts'
import { eraseAll, read, write } from './storage.ts'
import { keepTouch } from './touches.ts'

/** The page as it is recorded. */
export interface View {
  url: string
  referrer: string
}

/** Bounds of what the server takes: longer texts are cut, or it would refuse the event. */
const nameLengthMax = 120
const titleLengthMax = 500
const urlLengthMax = 2048

export let isOpen = false
export let isDenied = false
/** As it is stored; of the last activity on this page. */
let session = ''
let journey = readJourney(location.href, Date.now())

/** A page's or link's address as it is recorded. */
export function addressOf(url: string): string {
  return withoutJourney(url).slice(0, urlLengthMax)
}

/** Records what happens from now on, and what was held: consent was given, or isn't needed. */
export function begin(): void {
  isOpen = true
  isDenied = false
  if (journey) {
    write('svc_aid', journey.browser)
    write('svc_sid', journey.session)
    journey = undefined
  }
  for (const event of queue) stamp(event)
  takeStored()
}

/** Deletes all that tells of the visitor, in memory and storage. */
export function end(): void {
  isOpen = false
  isDenied = true
  journey = undefined
  clear()
  eraseAll()
}

/**
 * Records an event of the page that `view` is.
 * @param isPassive it tells of the page's beginning or end: no activity that would prolong a session, or begin one
 */
export function record(view: View, name: string, properties?: object, more?: Partial<Sent>, isPassive?: boolean): void {
  if (isDenied) return
  const event: Sent = {
    event_name: `${name}`.slice(0, nameLengthMax),
    client_event_id: makeId(),
    occurred_at: new Date().toISOString(),
    ...view,
    title: document.title.slice(0, titleLengthMax),
    // A copy: what the page changes later isn't sent.
    properties: JSON.parse(JSON.stringify({ ...properties })),
    screen_width: screen.width,
    language: navigator.language,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...more,
  }
  if (!isOpen || stamp(event, isPassive)) put(event)
}

export function browserId(): string {
  const id = read('svc_aid') || makeId()
  write('svc_aid', id)
  return id
}

/** The session of an activity now, as it is stored. */
export function sessionNow(now = Date.now(), isNew?: boolean): string {
  session = nextSession(read('svc_sid'), now, isNew)
  write('svc_sid', session)
  return session
}

/** @returns false for what came so late that its session is over */
function stamp(event: Sent, isPassive?: boolean): boolean {
  const { event_name: name, url, referrer, occurred_at: at } = event
  const now = Date.parse(at)
  if (!isPassive) sessionNow(now, name === 'pageview' && keepTouch(url, referrer, at))
  event.anonymous_id = browserId()
  event.session_id = sessionIdOf(session)
  return isWithinLength(session, now)
}
