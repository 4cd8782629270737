/** The newest events of a range, as a person would look at them: without vitals and leaves of pages. */
import { LRUCache } from 'lru-cache'
import { crowdedWorkspacesMax, recentEventsMax } from '../../../schemas/limits.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
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
/** Looked through one after the other, from the end of the range, until there are enough: hours. */
const lookBacks = [1 / 360, 1 / 30, 1, 24, 8 * 24, Number.POSITIVE_INFINITY]
/** From which one on there were enough, or nearly: of a quiet workspace the first ones have nothing, of a busy one the hour very much. */
const usedLast = new LRUCache<number, number>({ max: crowdedWorkspacesMax })
const usedFirst = 2

export async function readRecentEvents(ch: Reader, span: ReadableSpan, now: number): Promise<RecentEvent[]> {
  const newest = Math.min(span.end, Math.max(now, span.start))
  const first = usedLast.get(span.workspaceId) ?? usedFirst
  for (const [at, hours] of [...lookBacks.entries()].slice(first)) {
    const start = Math.max(span.start, newest - hours * hourMs)
    const events = await readNewest(ch, { ...span, start })
    if (events.length < recentEventsMax && start !== span.start) continue
    usedLast.set(span.workspaceId, nextFirst(at, events, newest))
    return events
  }
  return []
}

/** The shortest time that would have been enough, with some to spare. */
function nextFirst(at: number, events: readonly RecentEvent[], newest: number): number {
  if (events.length < recentEventsMax) return at
  const oldest = events.at(-1)!.occurred_at_ms
  const enough = lookBacks.findIndex((hours) => oldest >= newest - (hours * hourMs) / 2)
  return enough === -1 ? at : Math.min(at, enough)
}

function readNewest(ch: Reader, span: ReadableSpan): Promise<RecentEvent[]> {
  return ch.query<RecentEvent>(
    `SELECT id, if(session_named = 1, session, NULL) AS session, anonymous_id, toString(event_type) AS event_type,
       event_name, url, path, title, referrer, source, medium, campaign, content, properties,
       toUnixTimestamp64Milli(occurred_at) AS occurred_at_ms, toUnixTimestamp64Milli(arrived_at) AS received_at_ms
     FROM events WHERE ${shown}
     ORDER BY occurred_at DESC, id DESC LIMIT ${recentEventsMax}`,
    spanParams(span),
  )
}
