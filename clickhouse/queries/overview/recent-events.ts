/** The newest events of a range, as a person would look at them: without vitals and leaves of pages. */
import { LRUCache } from 'lru-cache'
import { crowdedWorkspacesMax, recentEventsMax } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
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
/** From the end of the range, looked through one after the other until there are enough: milliseconds. */
const lookBacks = [1 / 360, 1 / 30, 1, 24, 8 * 24].map((hours) => hours * hourMs)

/** Where a workspace's newest events were found: of a quiet one the first times have nothing, of a busy one the hour very much. */
interface FoundLast {
  /** The first of `lookBacks` in which there were enough, with some to spare. */
  readonly lookBack: number
  /** When the first and the last of them came; undefined where no range had enough. */
  readonly between: Span | undefined
}
const foundLast = new LRUCache<number, FoundLast>({ max: crowdedWorkspacesMax })
const foundFirst: FoundLast = { lookBack: 2, between: undefined }

export async function readRecentEvents(ch: Reader, span: ReadableSpan, now: number): Promise<RecentEvent[]> {
  const newest = Math.min(span.end, Math.max(now, span.start))
  for (const start of startsToTry(span, newest)) {
    const events = await readNewest(ch, { ...span, start })
    if (events.length < recentEventsMax && start !== span.start) continue
    note(span, events, newest)
    return events
  }
  return []
}

/** The shortest time first, and at last all of the range. */
function startsToTry({ workspaceId, start }: ReadableSpan, newest: number): number[] {
  const { lookBack, between } = foundLast.get(workspaceId) ?? foundFirst
  const starts = [...lookBacks.slice(lookBack).map((ms) => newest - ms), start]
  if (between !== undefined) {
    // The same are there still. Where the range ends before the last of them, as many more are needed as lie behind its end.
    const again = between.start - 2 * Math.max(0, between.end - newest)
    if (again < newest) starts.push(again)
  }
  return [...new Set(starts.map((at) => Math.max(start, at)))].sort((one, other) => other - one)
}

function note({ workspaceId, start }: ReadableSpan, events: readonly RecentEvent[], newest: number): void {
  const isEnough = events.length === recentEventsMax
  const lookBack = lookBacks.findIndex((ms) =>
    isEnough ? events.at(-1)!.occurred_at_ms >= newest - ms / 2 : newest - ms <= start,
  )
  foundLast.set(workspaceId, {
    lookBack: lookBack === -1 ? lookBacks.length : lookBack,
    between: isEnough
      ? { start: events.at(-1)!.occurred_at_ms, end: events[0]!.occurred_at_ms }
      : foundLast.get(workspaceId)?.between,
  })
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
