/**
 * All figures of an overview, by four statements (one or two more where sessions are filtered). The figures come first,
 * then the rest, which depends on the pages they list and on the events they reflect. Callers know nothing of how they
 * are counted.
 */
import { liveWindowMs } from '../../../schemas/limits/figure-limits.ts'
import { recentEventsMax } from '../../../schemas/limits/overview-limits.ts'
import { botRetentionDays } from '../../../schemas/limits/retention-limits.ts'
import type { SessionFilters } from '../../../schemas/session-filters.ts'
import type { Bucket, Span, TimeRange } from '../../../schemas/time/time-range.ts'
import { dayMs, latestEventAt, localDayAt } from '../../../schemas/time/time-zone.ts'
import type { Reader } from '../reader.ts'
import type { CellDays } from './figure-parts.ts'
import { divide } from './pieces.ts'
import { type OtherCounts, readCounts } from './read-counts.ts'
import { type Counts, type Figures, type FiguresRequest, readFigures } from './read-figures.ts'
import { choose, countChosenVisitors, isOfChosenSession, readFilteredFigures } from './read-filtered.ts'
import { type RecentEvent, readRecentEvents } from './read-recent-events.ts'
import { type Details, readDetails } from './read-vitals-and-titles.ts'
import { spansOf } from './spans-of.ts'

export interface OverviewRequest {
  readonly workspaceId: number
  /** The workspace's derived rows, and the local days that have cells of them. */
  readonly build: number
  readonly cells: CellDays
  readonly range: TimeRange
  readonly buckets: readonly Bucket[]
  readonly now: number
  /** Rows before this moment are as if they weren't there: a local midnight. */
  readonly readableFrom: number
  /** Rows of each list, and of those of pages. */
  readonly limit: number
  readonly pageLimit: number
  /** Undefined where all sessions count. */
  readonly filters: SessionFilters | undefined
  /** The parts that are read beside the figures of the period. Other parts are answered as if nothing were there. */
  readonly parts: ReadonlySet<OverviewPart>
}

/** `totals`: those of the period before, and the counts beside visitors' events. */
export type OverviewPart = 'totals' | 'details' | 'recentEvents'

export interface OverviewFigures
  extends Omit<Figures, 'folded' | 'sampledPages'>,
    Omit<OtherCounts, 'cutBefore'>,
    Details {
  readonly recentEvents: readonly RecentEvent[]
}

export async function readOverview(ch: Reader, request: OverviewRequest): Promise<OverviewFigures> {
  const { workspaceId, build, cells, range, buckets, now, readableFrom, limit, pageLimit, filters, parts } = request
  const { timeZone: timezone, endsNow, previous } = range
  const hasDayBuckets = range.bucket !== 'hour'
  const bucketDays = hasDayBuckets
    ? buckets.map(({ start }) => Math.min(localDayAt(start, timezone), lastDayNumber))
    : undefined
  const pieces = divide(countable(range), { timezone, readableFrom, endsNow })
  const before =
    parts.has('totals') && range.isCompared && previous.start >= readableFrom
      ? divide(countable(previous), { timezone, readableFrom, endsNow: false })
      : undefined
  // Sessions are looked for where they can be.
  const latest = latestEventAt(timezone, now)
  const readable = (moment: number) => Math.min(Math.max(moment, readableFrom, 0), latest)
  const period = { cells, wanted: 'all kinds' as const }
  const chosen =
    filters &&
    (await choose(ch, {
      workspaceId,
      build,
      timezone,
      filters,
      from: Math.max(0, readable(Math.min(before?.start ?? range.start, now)) - dayMs),
      to: Math.max(readable(pieces?.end ?? range.end), now) + dayMs,
    }))
  const figuresRequest: FiguresRequest = {
    workspaceId,
    build,
    buckets,
    bucketDays,
    limit,
    current: pieces && { ...period, number: 0, pieces, hasDayBuckets },
    previous: before && { ...period, number: 1, pieces: before, wanted: 'totals', hasDayBuckets: false },
  }
  const figures =
    chosen === undefined ? await readFigures(ch, figuresRequest) : await readFilteredFigures(ch, figuresRequest, chosen)
  const { folded, sampledPages, isCutCounted, ...others } = figures
  const shown = { ...others, pages: others.pages.slice(0, pageLimit) }
  const end = pieces?.end ?? range.end
  const isOfChosen =
    chosen &&
    ((from: number) =>
      isOfChosenSession(chosen, { build, folded, timezone, from: readable(from), to: readable(end) - 1 }))
  const newestFrom = startOfNewest(range, buckets, figures)
  const countsRequest = {
    workspaceId,
    current: range,
    previous,
    now,
    readableFrom,
    cutBefore: isCutCounted ? undefined : before?.cutEnd,
    botsReadableFrom: now - botRetentionDays * dayMs,
    folded,
  }
  const [{ cutBefore, ...counts }, details, recentEvents] = await Promise.all([
    parts.has('totals') ? readCounts(ch, countsRequest) : noCounts,
    parts.has('details')
      ? readDetails(ch, {
          workspaceId,
          build,
          folded,
          buckets,
          bucketDays,
          pages: shown.pages,
          sampledPages: sampledPages.slice(0, pageLimit),
          ...spansOf(pieces, cells, hasDayBuckets),
          chosen: isOfChosen && { isCounted: isOfChosen(pieces?.start ?? range.start), span: pieces },
        })
      : noDetails(buckets),
    parts.has('recentEvents')
      ? readRecentEvents(
          ch,
          { workspaceId, readableFrom, start: newestFrom, end },
          folded,
          isOfChosen?.(Math.max(newestFrom, readableFrom)),
        )
      : [],
  ])
  if (chosen === undefined) {
    return { ...shown, previous: withCut(shown.previous, cutBefore), ...counts, ...details, recentEvents }
  }
  if (!parts.has('totals')) return { ...shown, ...counts, ...details, recentEvents }
  const live = { workspaceId, from: Math.max(readableFrom, now - liveWindowMs), to: now, folded }
  const isLive = isOfChosenSession(chosen, { ...live, build, timezone })
  const liveVisitors = await countChosenVisitors(ch, live, isLive)
  return { ...shown, ...counts, botVisits: null, linkClicks: null, liveVisitors, ...details, recentEvents }
}

const noCounts: OtherCounts = {
  botVisits: null,
  linkClicks: null,
  liveVisitors: 0,
  cutBefore: { pageviews: 0, events: 0 },
}

function noDetails(buckets: readonly Bucket[]): Details {
  return {
    vitals: { total: new Map(), series: buckets.map(() => new Map()) },
    pageVitals: [],
    titles: new Map(),
  }
}

function withCut(counts: Counts | undefined, cut: OtherCounts['cutBefore']): Counts | undefined {
  return counts && { ...counts, pageviews: counts.pageviews + cut.pageviews, events: counts.events + cut.events }
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

/** Numbers of local days have 16 bits in ClickHouse: they end in 2149. */
const lastDayNumber = 65_535
const lastCountable = Date.UTC(2149, 0, 1)

/** A span beyond the last countable day has no event: another day without any is read in its place. */
function countable(span: Span): Span {
  return span.end <= lastCountable ? span : { start: lastCountable - 2 * dayMs, end: lastCountable - dayMs }
}
