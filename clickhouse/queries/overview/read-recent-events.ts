/** The newest events of a range, as a person would look at them: without vitals and leaves of pages. */
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import { recentEventsMax } from '../../../schemas/limits/overview-limits.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { idsIn } from '../../rollups/event-sql.ts'
import { isInSpan, type ReadableSpan, type Reader, spanParams } from '../reader.ts'

/** A row as it is stored; times in milliseconds, `session` null where the client named none. */
export interface RecentEvent {
  readonly id: number
  /** Hash of the event's e-mail: decimal text; '0' for none. */
  readonly email_hash: string
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

export const recentEventColumns = `id, toString(email_hash) AS email_hash, if(session_named = 1, session, NULL) AS session, anonymous_id, toString(event_type) AS event_type,
       event_name, url, path, title, referrer, source, medium, campaign, content, properties,
       toUnixTimestamp64Milli(occurred_at) AS occurred_at_ms, toUnixTimestamp64Milli(arrived_at) AS received_at_ms`

/**
 * @param folded ids of the events that are seen
 * @param isCounted condition: the event is of a session that is counted; all are, where there is none
 */
export function readRecentEvents(
  ch: Reader,
  span: ReadableSpan,
  folded: readonly IdRange[],
  isCounted: BoundSql | undefined,
): Promise<RecentEvent[]> {
  const seen = idsIn(folded, 'folded')
  return ch.query<RecentEvent>(
    `SELECT ${recentEventColumns}
     FROM events WHERE ${isInSpan} AND kind NOT IN ('web_vital', 'page_leave') AND ${seen.sql} AND ${isCounted?.sql ?? '1'}
     ORDER BY occurred_at DESC, id DESC LIMIT ${recentEventsMax}`,
    { ...isCounted?.params, ...spanParams(span), ...seen.params },
  )
}
