/** All figures of an overview that events give, as few queries at once. Callers know nothing of how they are counted. */
import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import { botRetentionDays, creditWindowMs, sessionLengthMaxMs } from '../../../schemas/limits.ts'
import type { VitalName } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket, TimeRange } from '../../../schemas/time-range.ts'
import { dayMs } from '../../../schemas/time-zone.ts'
import { readBotVisits } from './bot-visits.ts'
import { type Composition, composeSpan, type PendingRows } from './composition.ts'
import { type Counts, type RangeCounts, readCounts, readSeries } from './counts.ts'
import { type PageCounts, readPages } from './pages.ts'
import { readPending } from './pending.ts'
import { type Presence, readPresence } from './presence.ts'
import { type RecentEvent, readRecentEvents } from './recent-events.ts'
import { readSessionFigures, readSessionTotals, type SessionFigures, type SessionTotals } from './sessions.ts'
import type { Reader } from './span.ts'
import {
  type PageVitals,
  readPageVitals,
  readVitalSeries,
  readVitals,
  type VitalPoint,
  type VitalTotals,
} from './vitals.ts'

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
  const { workspaceId, range, buckets, now, readableFrom, limit } = request
  const span = { workspaceId, readableFrom, start: range.start, end: range.end }
  // Bot visits are kept for a time of their own, whatever the plan.
  const botSpan = { ...span, readableFrom: now - botRetentionDays * dayMs }
  // What needs no aggregates doesn't wait for the look at what they lack.
  const ofRows = Promise.all([
    readRecentEvents(ch, span, now),
    readPresence(ch, { workspaceId, now, readableFrom }),
    readBotVisits(ch, botSpan, range.previous.start),
  ])
  const ofAggregates = readAround(ch, snapshot, request).then((pending) => {
    const composition = composeSpan(snapshot, span, pending)
    return Promise.all([
      readSessionFigures(ch, composition, limit),
      readCounts(ch, composition),
      readSeries(ch, composition, buckets),
      readPages(ch, composition, limit),
      readVitals(ch, composition),
      readVitalSeries(ch, composition, buckets),
      readPageVitals(ch, composition, limit),
      readPrevious(ch, snapshot, request, pending),
    ])
  })
  const [[recentEvents, presence, bots], [sessions, totals, series, pages, percentiles, points, pageVitals, before]] =
    await Promise.all([ofRows, ofAggregates])
  const { total, ...lists } = sessions
  const current = { counts: totals.counts, sessions: total, botVisits: bots.current }
  const previous = before && { ...before, botVisits: bots.previous }
  const vitals = { total: vitalTotals(percentiles, totals), series: points }
  return { current, previous, presence, series, lists, pages, vitals, pageVitals, recentEvents }
}

/** The pending rows of the range and the one before, and of the times around that change their figures. */
async function readAround(
  ch: Reader,
  snapshot: AggregateSnapshot,
  { workspaceId, range, readableFrom }: OverviewRequest,
): Promise<PendingRows | undefined> {
  if (snapshot.aggregated.length === 0) return undefined
  const from = Math.max(readableFrom, range.previous.start - creditWindowMs)
  return readPending(ch, snapshot, { workspaceId, from, to: range.end + sessionLengthMaxMs })
}

async function readPrevious(
  ch: Reader,
  snapshot: AggregateSnapshot,
  { workspaceId, range, readableFrom }: OverviewRequest,
  pending: PendingRows | undefined,
): Promise<Omit<PeriodFigures, 'botVisits'> | null> {
  if (range.previous.start < readableFrom) return null
  const composition: Composition = composeSpan(snapshot, { workspaceId, readableFrom, ...range.previous }, pending)
  const [{ counts }, sessions] = await Promise.all([readCounts(ch, composition), readSessionTotals(ch, composition)])
  return { counts, sessions }
}

function vitalTotals(percentiles: ReadonlyMap<VitalName, VitalTotals>, { vitals }: RangeCounts): VitalFigures['total'] {
  const entries = [...percentiles].map(([metric, figures]) => {
    const { total, latest } = vitals.get(metric) ?? { total: 0, latest: 0 }
    return [metric, { ...figures, latest, average: total / figures.count }] as const
  })
  return new Map(entries)
}
