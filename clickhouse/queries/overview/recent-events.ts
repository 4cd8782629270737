/** The newest events of a range, as a person would look at them: without vitals and leaves of pages. */
import { LRUCache } from 'lru-cache'
import { crowdedWorkspacesMax, recentEventsMax } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { dayMs, hourMs } from '../../../schemas/time-zone.ts'
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
const second = hourMs / 3600
/**
 * From the end of the range, looked through one after the other until there are enough: milliseconds. Where the last of those
 * that are shown lies within `enough`, it is looked there first the next time: a little less, where events come all the time.
 */
const lookBacks = [
  { ms: 10 * second, enough: 5 * second },
  { ms: 120 * second, enough: 60 * second },
  ...[hourMs, dayMs, 8 * dayMs].map((ms) => ({ ms, enough: ms })),
]

/** Where a workspace's newest events were found: of a quiet one the first times have nothing, of a busy one the hour very much. */
interface FoundLast {
  /** Place in `lookBacks`: those before it had too few. */
  readonly first: number
  /** When the first and the last of them came; undefined where no range had enough. */
  readonly between: Span | undefined
}
const foundLast = new LRUCache<number, FoundLast>({ max: crowdedWorkspacesMax })
const nothingFound: FoundLast = { first: 2, between: undefined }

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
  const { first, between } = foundLast.get(workspaceId) ?? nothingFound
  const starts = [...lookBacks.slice(first).map(({ ms }) => newest - ms), start]
  if (between !== undefined && newest > between.start) {
    // The same are there still. Where the range ends before the last of them, as many more are needed as lie behind its end.
    starts.push(between.start - 2 * Math.max(0, between.end - newest))
  }
  return [...new Set(starts.map((at) => Math.max(start, at)))].sort((one, other) => other - one)
}

function note({ workspaceId, start }: ReadableSpan, events: readonly RecentEvent[], newest: number): void {
  const known = foundLast.get(workspaceId) ?? nothingFound
  const placeOf = (isIt: (lookBack: (typeof lookBacks)[number]) => boolean) => {
    const place = lookBacks.findIndex(isIt)
    return place === -1 ? lookBacks.length : place
  }
  if (events.length < recentEventsMax) {
    // A short range says nothing of longer ones.
    const first = Math.max(
      known.first,
      placeOf(({ ms }) => newest - ms <= start),
    )
    foundLast.set(workspaceId, { ...known, first })
    return
  }
  const between = { start: events.at(-1)!.occurred_at_ms, end: events[0]!.occurred_at_ms }
  foundLast.set(workspaceId, { between, first: placeOf(({ enough }) => newest - enough <= between.start) })
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
