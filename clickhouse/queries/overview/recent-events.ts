/** The newest events of a range, as a person would look at them: without vitals and leaves of pages. */
import { recentEventsMax } from '../../../schemas/limits.ts'
import { hourMs } from '../../aggregates/row-scope.ts'
import { inRange, type ReadableSpan, type Reader, spanParams } from './span.ts'

/** A row as it is stored; times in milliseconds, `session` null where the client named none. */
export interface RecentEvent {
  readonly id: number
  readonly session: number | null
  readonly anonymous_id: string
  readonly event_type: string
  readonly event_name: string
  readonly url: string
  readonly path: string
  readonly title: string
  readonly referrer: string
  readonly source: string
  readonly medium: string
  readonly campaign: string
  readonly content: string
  readonly properties: string
  readonly occurred_at_ms: number
  readonly received_at_ms: number
}

const shown = `${inRange} AND kind NOT IN ('web_vital', 'page_leave')`
/** Looked through one after the other, from the end of the range, until there are enough. */
const lookBackHours = [1, 24, 8 * 24, Number.POSITIVE_INFINITY]

export async function readRecentEvents(ch: Reader, span: ReadableSpan, now: number): Promise<RecentEvent[]> {
  const newest = Math.min(span.end, Math.max(now, span.start))
  for (const hours of lookBackHours) {
    const start = Math.max(span.start, newest - hours * hourMs)
    const events = await readNewest(ch, { ...span, start })
    if (events.length === recentEventsMax || start === span.start) return events
  }
  return []
}

function readNewest(ch: Reader, span: ReadableSpan): Promise<RecentEvent[]> {
  return ch.query<RecentEvent>(
    `SELECT id, if(session_named = 1, session, NULL) AS session, anonymous_id, toString(event_type) AS event_type,
       event_name, url, path, title, referrer, source, medium, campaign, content, properties,
       toUnixTimestamp64Milli(occurred_at) AS occurred_at_ms, toUnixTimestamp64Milli(received_at) AS received_at_ms
     FROM events WHERE ${shown}
     ORDER BY occurred_at DESC, id DESC LIMIT ${recentEventsMax}`,
    spanParams(span),
  )
}
