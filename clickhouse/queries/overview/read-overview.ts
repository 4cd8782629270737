/** All figures of an overview that events give, as few queries at once. Callers know nothing of how they are counted. */

import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import {
  backgroundNiceness,
  botRetentionDays,
  creditWindowMs,
  overviewRowsPerThread,
  sessionLengthMaxMs,
} from '../../../schemas/limits.ts'
import type { VitalName } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket, TimeRange } from '../../../schemas/time-range.ts'
import { dayMs } from '../../../schemas/time-zone.ts'
import type { QueryOptions } from '../../query-options.ts'
import { readClicksOfPeriods } from '../link-clicks.ts'
import { readBotVisits } from './bot-visits.ts'
import { type Composition, composeSpan, type PendingRows, type RowsRead } from './composition.ts'
import { readConversions } from './conversions.ts'
import { type Counts, readCounts, readTotals, type VitalSums } from './counts.ts'
import { type EdgesAsked, readEdges, warmEdges } from './edges.ts'
import {
  askBusiestPages,
  type BusiestPages,
  joinPages,
  type PageCounts,
  pathsOf,
  readBusiestPages,
  readPages,
} from './pages.ts'
import { allLeft, readPending } from './pending.ts'
import { hasEventsSince, type Presence, readLiveVisitors } from './presence.ts'
import { type RecentEvent, readRecentEvents } from './recent-events.ts'
import {
  readSessionRows,
  readSessionTotals,
  type SessionFigures,
  type SessionTotals,
  sessionFiguresOf,
} from './sessions.ts'
import type { Reader } from './span.ts'
import { type PageVitals, readPageVitals, readVitals, type VitalPoint, type VitalTotals } from './vitals.ts'

export interface OverviewRequest {
  readonly workspaceId: number
  readonly range: TimeRange
  readonly buckets: readonly Bucket[]
  readonly now: number
  /** Rows before this moment are as if they weren't there. */
  readonly readableFrom: number
  /** Rows of each list. */
  readonly limit: number
}

export interface PeriodFigures {
  readonly counts: Counts
  readonly sessions: SessionTotals
  readonly botVisits: number
  readonly linkClicks: number
}

/** What has no samples isn't listed. */
export interface VitalFigures {
  readonly total: ReadonlyMap<VitalName, VitalTotals & { readonly latest: number; readonly average: number }>
  /** One for each bucket, in order. */
  readonly series: readonly VitalPoint[]
}

export interface OverviewFigures {
  readonly current: PeriodFigures
  /** Null where not all of the period before is readable. */
  readonly previous: PeriodFigures | null
  readonly presence: Presence
  readonly series: readonly Counts[]
  readonly lists: Omit<SessionFigures, 'total'>
  readonly pages: readonly PageCounts[]
  /** Pages that may be among the busiest soon. */
  readonly comingPages: BusiestPages
  readonly vitals: VitalFigures
  readonly pageVitals: readonly PageVitals[]
  readonly recentEvents: readonly RecentEvent[]
}

/** @param snapshot of the aggregates; an older one gives the same figures, later */
export async function readOverview(
  ch: Reader,
  snapshot: AggregateSnapshot,
  request: OverviewRequest,
): Promise<OverviewFigures> {
  const { workspaceId, range, now, readableFrom } = request
  const { span } = spansOf(request)
  // Bot visits are kept for a time of their own, whatever the plan.
  const botSpan = { ...span, readableFrom: now - botRetentionDays * dayMs }
  const one = oneThread(ch)
  // All else waits for these; statements are answered in their order where many are asked.
  const waiting = readAround(one, snapshot, request)
  const ofAggregates = Promise.all([
    waiting,
    readEdges(one, snapshot, edgesAskedBy(request), waiting),
    askBusiestPages(one, composeSpan(snapshot, span)),
  ]).then(([pending, edges]) => {
    const reader = areManyRead(snapshot, pending) ? ch : one
    return readAggregated(reader, snapshot, request, { pending, edges })
  })
  // The shortest first.
  const ofRows = Promise.all([
    readBotVisits(one, botSpan, range.previous.start),
    readClicksOfPeriods(one, span, range.previous.start),
    readRecentEvents(one, span, now),
    readLiveVisitors(one, { workspaceId, now, readableFrom }),
  ])
  const [
    [bots, clicks, recentEvents, liveVisitors],
    [sessions, counts, pages, vitals, pageVitals, { coming }, countsBefore, sessionsBefore],
  ] = await Promise.all([ofRows, ofAggregates])
  const { total, ...lists } = sessions
  return {
    current: { counts: counts.total, sessions: total, botVisits: bots.current, linkClicks: clicks.current },
    previous: countsBefore &&
      sessionsBefore && {
        counts: countsBefore,
        sessions: sessionsBefore,
        ...{ botVisits: bots.previous, linkClicks: clicks.previous },
      },
    presence: {
      liveVisitors,
      hasEvents: counts.total.events > 0 || (await hasEventsSince(ch, workspaceId, readableFrom)),
    },
    series: counts.series,
    lists,
    pages,
    comingPages: coming,
    vitals: { total: vitalTotals(vitals.total, counts.vitals), series: vitals.series },
    pageVitals,
    recentEvents,
  }
}

/**
 * Asks of the aggregates what `readOverview` will ask of them, for a reader that remembers: what is left to be read then are
 * the raw rows.
 * @param coming as the last answer had them
 * @param now when that is: the request may be of a moment to come
 */
export async function warmOverview(
  ch: Reader,
  snapshot: AggregateSnapshot,
  request: OverviewRequest,
  { coming, now }: { coming: BusiestPages; now: number },
): Promise<void> {
  const ahead = inTurn(oneThread(ch, { os_thread_priority: backgroundNiceness }))
  const lasting: Reader = {
    query: async (sql, params, options) =>
      options?.isLasting === true ? ahead.query(sql, params, { ...options, isAhead: true }) : [],
  }
  const composition = composeSpan(snapshot, spansOf(request).span)
  // Before the others: what these come to is to be remembered last.
  const busiest = await readBusiestPages(lasting, composition, request.limit)
  await askPages(lasting, composition, joinPages(coming, busiest.coming))
  await readAggregated(lasting, snapshot, request, {})
  await warmEdges(lasting, snapshot, { ...edgesAskedBy(request), now })
}

/** Rows that wait may bring a page among the busiest: what it takes to show it is at hand then. */
async function askPages(ch: Reader, composition: Composition, { viewed, sampled }: BusiestPages): Promise<void> {
  if (viewed.length > 0) await readPages(ch, composition, viewed)
  if (viewed.length > 0) await readSessionRows(ch, composition, pathsOf(viewed))
  if (sampled.length > 0) await readPageVitals(ch, composition, sampled)
}

/** Each statement waits until the one before has its answer: whoever waits for an answer is to have room. After one that fails none is sent. */
function inTurn(ch: Reader): Reader {
  let last: Promise<unknown> = Promise.resolve()
  return {
    query: (sql, params, options) => {
      const answer = last.then(() => ch.query(sql, params, options))
      last = answer
      // Whoever asked gets the error: that nobody waits behind it is no second one.
      last.catch(() => {})
      return answer
    },
  }
}

function spansOf({ workspaceId, range, readableFrom }: OverviewRequest) {
  const span = { workspaceId, readableFrom, start: range.start, end: range.end }
  return { span, previousSpan: range.previous.start >= readableFrom ? { ...span, ...range.previous } : null }
}

function edgesAskedBy(request: OverviewRequest): EdgesAsked {
  const { span, previousSpan } = spansOf(request)
  // Where what is closed may begin, behind the hour that the range begins in, and end.
  const boundaries = [...request.buckets.slice(1, 3), ...request.buckets.slice(-2)].map(({ start }) => start)
  return { ranges: previousSpan ? [span, previousSpan] : [span], boundaries, now: request.now }
}

/** The figures that stand in aggregates, as far as these have them. */
function readAggregated(reader: Reader, snapshot: AggregateSnapshot, request: OverviewRequest, rows: RowsRead) {
  const { buckets, limit } = request
  const { span, previousSpan } = spansOf(request)
  const composition = composeSpan(snapshot, span, rows)
  const previous = previousSpan && composeSpan(snapshot, previousSpan, rows)
  const ofSessions = withSessions(rows)
  const forSessions = composeSpan(snapshot, span, ofSessions)
  const previousForSessions = previousSpan && composeSpan(snapshot, previousSpan, ofSessions)
  const busiest = readBusiestPages(reader, composition, limit)
  const paths = busiest.then(({ viewed }) => pathsOf(viewed))
  const sessions = Promise.all([
    paths.then((some) => readSessionRows(reader, forSessions, some)),
    readConversions(reader, forSessions),
  ])
  return Promise.all([
    sessions.then(([rows, conversions]) => sessionFiguresOf(rows, conversions, limit)),
    readCounts(reader, composition, buckets),
    busiest.then(({ viewed }) => readPages(reader, composition, viewed)),
    readVitals(reader, composition, buckets),
    busiest.then(({ sampled }) => readPageVitals(reader, composition, sampled)),
    busiest,
    previous && readTotals(reader, previous),
    previousForSessions && readSessionTotals(reader, previousForSessions),
  ])
}

/**
 * Merging states by two threads takes a third more of the processor than by one, and the statements of an overview run
 * beside each other anyway: only where many rows have to be gone through is a statement divided.
 */
function oneThread(ch: Reader, more: QueryOptions['settings'] = {}): Reader {
  return {
    query: (sql, params, options) =>
      ch.query(sql, params, { ...options, settings: { ...options?.settings, ...more, max_threads: 1 } }),
  }
}

function areManyRead({ aggregated }: AggregateSnapshot, pending: PendingRows | undefined): boolean {
  return aggregated.length === 0 || (pending?.rows ?? 0) > overviewRowsPerThread
}

/** The pending rows of the range and the one before, and of the times around that change their figures. */
async function readAround(
  ch: Reader,
  snapshot: AggregateSnapshot,
  { workspaceId, range, readableFrom, now }: OverviewRequest,
): Promise<PendingRows | undefined> {
  if (snapshot.aggregated.length === 0) return undefined
  const from = Math.max(readableFrom, range.previous.start - creditWindowMs)
  return readPending(ch, snapshot, { workspaceId, from, to: range.end + sessionLengthMaxMs, now })
}

/** Without the pending rows, where what they change about sessions is left to the aggregator. */
function withSessions(rows: RowsRead): RowsRead {
  return rows.pending?.areSessionsLeft ? { ...rows, pending: allLeft } : rows
}

function vitalTotals(percentiles: ReadonlyMap<VitalName, VitalTotals>, sums: VitalSums): VitalFigures['total'] {
  const entries = [...percentiles].map(([metric, figures]) => {
    const { total, latest } = sums.get(metric) ?? { total: 0, latest: 0 }
    return [metric, { ...figures, latest, average: total / figures.count }] as const
  })
  return new Map(entries)
}
