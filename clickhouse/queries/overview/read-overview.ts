/**
 * All figures of an overview, by four statements: the figures first, then what depends on the pages they list and on the
 * events they reflect. Callers know nothing of how they are counted.
 */
import { botRetentionDays, recentEventsMax } from '../../../schemas/limits.ts'
import type { Bucket, Span, TimeRange } from '../../../schemas/time-range.ts'
import { dayMs, localDayAt } from '../../../schemas/time-zone.ts'
import type { Reader } from '../reader.ts'
import { divide, type Pieces } from './pieces.ts'
import { type OtherCounts, readCounts } from './read-counts.ts'
import { type Details, type DetailsRequest, readDetails } from './read-details.ts'
import { type Figures, readFigures } from './read-figures.ts'
import { type RecentEvent, readRecentEvents } from './read-recent-events.ts'

export interface OverviewRequest {
  readonly workspaceId: number
  /** The workspace's derived rows, and the last local day that has cells. */
  readonly build: number
  readonly cellsThrough: number | null
  readonly range: TimeRange
  readonly buckets: readonly Bucket[]
  readonly now: number
  /** Rows before this moment are as if they weren't there: a local midnight. */
  readonly readableFrom: number
  /** Rows of each list. */
  readonly limit: number
}

export interface OverviewFigures extends Omit<Figures, 'folded' | 'sampledPages'>, OtherCounts, Details {
  readonly recentEvents: readonly RecentEvent[]
}

export async function readOverview(ch: Reader, request: OverviewRequest): Promise<OverviewFigures> {
  const { workspaceId, build, range, buckets, now, readableFrom, limit } = request
  const { timeZone: timezone, endsNow, previous } = range
  const cellsThrough = request.cellsThrough ?? -1
  const hasDayBuckets = range.bucket !== 'hour'
  const bucketDays = hasDayBuckets ? buckets.map(({ start }) => localDayAt(start, timezone)) : undefined
  const pieces = divide(range, { timezone, readableFrom, endsNow })
  const before =
    range.isCompared && previous.start >= readableFrom
      ? divide(previous, { timezone, readableFrom, endsNow: false })
      : undefined
  const period = { cellsThrough, wanted: 'all kinds' as const }
  const figures = await readFigures(ch, {
    ...{ workspaceId, build, buckets, bucketDays, limit },
    current: pieces && { ...period, number: 0, pieces, hasDayBuckets },
    previous: before && { ...period, number: 1, pieces: before, wanted: 'totals', hasDayBuckets: false },
  })
  const { folded, sampledPages, ...shown } = figures
  const ofCells = spansOf(pieces, cellsThrough, hasDayBuckets)
  const botsReadableFrom = now - botRetentionDays * dayMs
  const [counts, details, recentEvents] = await Promise.all([
    readCounts(ch, { workspaceId, build, current: range, previous, now, readableFrom, botsReadableFrom, folded }),
    readDetails(ch, {
      workspaceId,
      build,
      folded,
      buckets,
      bucketDays,
      pages: figures.pages,
      sampledPages,
      ...ofCells,
    }),
    readRecentEvents(
      ch,
      { workspaceId, readableFrom, start: startOfNewest(range, buckets, figures), end: pieces?.end ?? range.end },
      folded,
    ),
  ])
  return { ...shown, ...counts, ...details, recentEvents }
}

/** Where the buckets begin that have all recent events: the last ones, with enough events that are listed. */
function startOfNewest({ start }: Span, buckets: readonly Bucket[], { series }: Figures): number {
  let events = 0
  let at = series.length - 1
  for (; at > 0; at--) {
    events += series[at]!.pageviews + series[at]!.conversions
    if (events >= recentEventsMax) break
  }
  return at > 0 ? Math.max(start, buckets[at]!.start) : start
}

/** What of a period is read from cells, and what from events. Hours are read from events alone. */
function spansOf(
  pieces: Pieces | undefined,
  cellsThrough: number,
  hasDayBuckets: boolean,
): Pick<DetailsRequest, 'days' | 'spans'> {
  const noDays = { from: 1, to: 0 }
  if (pieces === undefined) return { days: noDays, spans: [] }
  const { start, end, cutStart, days, cutEnd } = pieces
  const closed = { from: days.from, to: Math.min(days.to, cellsThrough) }
  if (!hasDayBuckets || closed.from > closed.to) return { days: noDays, spans: [{ start, end }] }
  const afterClosed: Span = { start: pieces.startOf(closed.to + 1), end }
  const isMore = closed.to < days.to || cutEnd !== undefined
  return { days: closed, spans: [...(cutStart ? [cutStart] : []), ...(isMore ? [afterClosed] : [])] }
}
