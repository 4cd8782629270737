/** An event's content: the page that it happened on, and, once that is allowed, whose it is. */
import { eventCharactersMax, nameLengthMax, titleLengthMax } from './bounds.ts'
import { forget, put, type QueuedEvent, queue, takeStored } from './outbox.ts'
import { isNear, makeId, nextSession, readJourney } from './sessions.ts'
import { read, write } from './storage.ts'
import { recordTouch } from './touches.ts'

/** The page as it is recorded. */
export interface View {
  url: string
  referrer: string
  /** As the last act there found it: by the page's end the next one may have set its own. */
  title?: string
}

declare const window: { Temporal?: { Now?: { timeZoneId?(): string } } }

/** Whether consent was given, or isn't needed. Undefined: not yet, and what is recorded is held; false: nothing is recorded. */
export let isOpen: boolean | undefined
/** As it is stored; of the last activity on this page. */
export let session = ''
/** The journey in the page's address, until consent is withdrawn. */
export let journey = readJourney(location.href, Date.now())

/** Records what happens from now on, and what was held: consent was given, or isn't needed. */
export function begin(): void {
  isOpen = true
  if (journey) {
    write('svc_aid', journey[1])
    write('svc_sid', journey[2])
  }
  for (const event of queue) stamp(event)
  takeStored()
}

/** Deletes all that tells of the visitor, in memory and storage. */
export function end(): void {
  isOpen = journey = false
  forget()
}

/**
 * Records an event of the page that `view` is.
 * @param isPassive it tells of the page's beginning or end: no activity that would prolong a session, or begin one
 */
export function record(
  view: View,
  name: string,
  properties?: object,
  more?: Partial<QueuedEvent>,
  isPassive?: boolean,
): void {
  if (isOpen === false) return
  // A form or picture named `title` stands in the title's place.
  if (!isPassive) view.title = (document.title + '').slice(0, titleLengthMax)
  const text = JSON.stringify({
    event_name: (name + '').slice(0, nameLengthMax),
    client_event_id: makeId(),
    occurred_at: new Date().toISOString(),
    ...view,
    properties: { ...properties },
    language: navigator.language,
    screen_width: screen.width,
    // Intl says the same; but its first use takes a slow processor longer than 50 ms.
    timezone: window.Temporal?.Now?.timeZoneId?.() ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...more,
    // NUL and half a pair, as a cut may leave it, would be refused. JSON has these as escapes, and else only control characters.
  }).replace(/\\u....|(\\.)/g, '$1')
  // A copy: what the page changes later isn't sent.
  const event: QueuedEvent = JSON.parse(text)
  if (text.length < eventCharactersMax && (!isOpen || stamp(event, isPassive))) put(event)
}

export function browserId(): string {
  return write('svc_aid', read('svc_aid') || makeId())
}

/** The session of an activity now, as it is stored. */
export function sessionNow(now = Date.now(), isNew?: boolean): string {
  session = write('svc_sid', nextSession(read('svc_sid'), now, isNew))
  return session
}

/** @returns false for what came so late that its session is over */
function stamp(event: QueuedEvent, isPassive?: boolean): boolean {
  const now = Date.parse(event.occurred_at)
  if (!isPassive) sessionNow(now, event.event_name === 'pageview' && recordTouch(event))
  browserId()
  event.session_id = session
  return isNear(session, now)
}
