/**
 * All stored events of a workspace, in order of time and id, some at a time: for the export. A portion is read by the
 * hours that the table is sorted by, so no statement looks at more than its own hours.
 */
import { exportedEventsEach } from '../../schemas/limits/event-limits.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { isInSpan, type ReadableSpan, type Reader, spanParams } from './reader.ts'

/** A row with what an import can bring back. Texts are empty where there is none. */
export interface StoredEvent {
  readonly id: number
  readonly occurred_at_ms: number
  readonly event_type: string
  readonly event_name: string
  /** Its `client_event_id`, or the one that an import gives it: see `importedAs`. */
  readonly imported_as: string
  /** Decimal text; `0` for a server event. */
  readonly visitor: string
  readonly anonymous_id: string
  readonly session: number
  /** 0 where the session is the visitor's of that UTC day. */
  readonly session_named: number
  /** Hash of the e-mail: decimal text; `0` for none. */
  readonly email_hash: string
  readonly path: string
  readonly url: string
  readonly title: string
  readonly referrer: string
  readonly source: string
  readonly medium: string
  readonly campaign: string
  readonly content: string
  readonly device: string
  readonly browser: string
  readonly os: string
  /** Two NULs for none. */
  readonly country: string
  readonly region: string
  readonly region_name: string
  readonly city: string
  readonly screen_width: number
  readonly language: string
  readonly timezone: string
  /** JSON. */
  readonly properties: string
}

/**
 * SQL of the id by which an event counts once in imports: its own, or one by its number and time. Imports look stored
 * events up by it, so that an export is known in the workspace that it comes from.
 */
export const importedAs = `if(client_event_id = '', concat('svc-event-', toString(id), '-', toString(${eventMs})), client_event_id)`

const columns = `id, ${eventMs} AS occurred_at_ms, toString(event_type) AS event_type, event_name, ${importedAs} AS imported_as,
  toString(visitor) AS visitor, anonymous_id, session, session_named, toString(email_hash) AS email_hash,
  path, url, title, referrer, source, medium, campaign, content,
  toString(device) AS device, browser, os, toString(country) AS country, region, region_name, city, screen_width, language, timezone, properties`

/** A statement looks at all hours of a workspace, or sorts one hour that has millions of events. */
const deadlineMs = 120_000

/** How many there are, and where portions begin, in milliseconds since 1970. */
export interface StoredHours {
  readonly events: number
  /** The first hours of portions, of about `exportedEventsEach` events or of one hour. */
  readonly starts: readonly number[]
}

export async function readStoredHours(ch: Reader, span: ReadableSpan): Promise<StoredHours> {
  const hours = await ch.query<{ hour: number; count: number }>(
    `SELECT toUnixTimestamp(toStartOfHour(occurred_at)) * 1000 AS hour, count() AS count FROM events
     WHERE ${isInSpan} GROUP BY hour ORDER BY hour`,
    spanParams(span),
    { deadlineMs, isLong: true },
  )
  const starts: number[] = []
  let [events, since] = [0, Number.POSITIVE_INFINITY]
  for (const { hour, count } of hours) {
    if (since + count > exportedEventsEach) {
      starts.push(hour)
      since = 0
    }
    since += count
    events += count
  }
  return { events, starts }
}

/** The events of the hours, at most `exportedEventsEach` at a time. */
export async function* readStoredEvents(
  ch: Reader,
  span: ReadableSpan,
  { starts }: StoredHours,
): AsyncGenerator<StoredEvent[]> {
  const { from, to, workspace } = spanParams(span)
  for (const [at, start] of starts.entries()) {
    const hours = { workspace, from: Math.max(from, start), to: Math.min(to, starts[at + 1] ?? to) }
    let after = { time: hours.from, id: 0 }
    for (;;) {
      const events = await ch.query<StoredEvent>(
        `SELECT ${columns} FROM events
         WHERE ${isInSpan} AND occurred_at >= ${moment('time')} AND (occurred_at > ${moment('time')} OR id > {id:UInt64})
         ORDER BY occurred_at, id LIMIT ${exportedEventsEach}`,
        { ...hours, ...after },
        { deadlineMs, isLong: true },
      )
      if (events.length > 0) yield events
      if (events.length < exportedEventsEach) break
      const last = events.at(-1)!
      after = { time: last.occurred_at_ms, id: last.id }
    }
  }
}
