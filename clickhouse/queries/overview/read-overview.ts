/** All figures of an overview that events give, as few queries at once. Callers know nothing of how they are counted. */
import { botRetentionDays } from '../../../schemas/limits.ts'
import type { Bucket, TimeRange } from '../../../schemas/time-range.ts'
import { dayMs } from '../../../schemas/time-zone.ts'
import { readBotVisits } from './bot-visits.ts'
import { type Counts, readCounts, readSeries } from './counts.ts'
import { type PageCounts, readPages } from './pages.ts'
import { type Presence, readPresence } from './presence.ts'
import { type RecentEvent, readRecentEvents } from './recent-events.ts'
import { readSessionFigures, readSessionTotals, type SessionFigures, type SessionTotals } from './sessions.ts'
import type { Reader } from './span.ts'
import { type PageVitals, readPageVitals, readVitals, type VitalFigures } from './vitals.ts'

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

export async function readOverview(ch: Reader, request: OverviewRequest): Promise<OverviewFigures> {
  const { workspaceId, range, buckets, now, readableFrom, limit } = request
  const span = { workspaceId, readableFrom, start: range.start, end: range.end }
  // Bot visits are kept for a time of their own, whatever the plan.
  const botSpan = { ...span, readableFrom: now - botRetentionDays * dayMs }
  const [sessions, counts, pages, vitals, pageVitals, recentEvents, presence, bots, before] = await Promise.all([
    readSessionFigures(ch, span, limit),
    readSeries(ch, span, buckets),
    readPages(ch, span, limit),
    readVitals(ch, span, buckets),
    readPageVitals(ch, span, limit),
    readRecentEvents(ch, span),
    readPresence(ch, { workspaceId, now, readableFrom }),
    readBotVisits(ch, botSpan, range.previous.start),
    readPrevious(ch, request),
  ])
  const { total, ...lists } = sessions
  const current = { counts: counts.total, sessions: total, botVisits: bots.current }
  const previous = before && { ...before, botVisits: bots.previous }
  return { current, previous, presence, series: counts.series, lists, pages, vitals, pageVitals, recentEvents }
}

async function readPrevious(
  ch: Reader,
  { workspaceId, range, readableFrom }: OverviewRequest,
): Promise<Omit<PeriodFigures, 'botVisits'> | null> {
  if (range.previous.start < readableFrom) return null
  const span = { workspaceId, readableFrom, ...range.previous }
  const [counts, sessions] = await Promise.all([readCounts(ch, span), readSessionTotals(ch, span)])
  return { counts, sessions }
}
