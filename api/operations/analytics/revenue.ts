/** Revenue of an overview: read beside the figures of visitors, and put into their rows. */
import { readChosenSessions } from '../../../clickhouse/queries/overview/read-chosen-sessions.ts'
import {
  type AdCampaign,
  type AdSpend,
  listAdCampaigns,
  sumAdSpend,
} from '../../../postgres/tables/revenue/ad-spend.ts'
import {
  listSessionsOfPayments,
  type RevenueByKey,
  type RevenueFigures,
  type RevenueRequest,
  type RevenueTotals,
  readRevenueFigures,
  readRevenueOfPages,
  readRevenueTotals,
} from '../../../postgres/tables/revenue/revenue-figures.ts'
import type { SessionFilters } from '../../../schemas/session-filters.ts'
import { lastMoment } from '../../../schemas/time/date-time.ts'
import type { Bucket, Span, TimeRange } from '../../../schemas/time/time-range.ts'
import { dayMs, localDayAt, startOfLocalDay } from '../../../schemas/time/time-zone.ts'
import type { Stores } from '../define.ts'

export interface Earnings {
  readonly current: RevenueFigures
  readonly previous: RevenueTotals
  /** Null where sessions are filtered: ads are of no session. */
  readonly spending: AdSpend | null
  readonly previousSpending: AdSpend | null
  readonly campaigns: readonly (AdCampaign & { readonly revenue_cents: number })[]
}

const noTotals: RevenueTotals = { cents: 0, apart: {} }
const none: RevenueByKey = new Map()

/** Where nobody asks for any. */
export const noEarnings: Earnings = {
  current: {
    ...noTotals,
    buckets: new Map(),
    sources: none,
    campaigns: none,
    pages: none,
    devices: none,
    browsers: none,
    countries: none,
  },
  previous: noTotals,
  spending: null,
  previousSpending: null,
  campaigns: [],
}

export interface EarningsRequest {
  readonly workspace: { readonly id: number; readonly currency: string }
  readonly range: TimeRange
  readonly buckets: readonly Bucket[]
  /** Earlier payments count as absent. */
  readonly since: number
  /** Campaigns that are listed. */
  readonly limit: number
  readonly build: number
  /** Undefined where all sessions count. */
  readonly filters: SessionFilters | undefined
}

export async function readEarnings(stores: Pick<Stores, 'pg' | 'ch'>, request: EarningsRequest): Promise<Earnings> {
  const { workspace, range, buckets, limit, filters } = request
  const { pg } = stores
  const payments = filters && (await paymentsOf(stores, filters, request))
  const of = (span: Span): RevenueRequest => ({ ...periodOf(span, request), currency: workspace.currency, payments })
  const [current, previous] = [of(range), of(range.previous)]
  const adsOf = ({ workspaceId, currency, ...span }: RevenueRequest) => ({
    workspaceId,
    currency,
    ...daysOf(span, range.timeZone),
  })
  const bucketStarts = buckets.map(({ start }) => start)
  const [figures, totals, spending, previousSpending, campaigns] = await Promise.all([
    readRevenueFigures(pg, current, bucketStarts),
    range.isCompared ? readRevenueTotals(pg, previous) : noTotals,
    filters ? null : sumAdSpend(pg, adsOf(current)),
    filters || !range.isCompared ? null : sumAdSpend(pg, adsOf(previous)),
    filters ? [] : listAdCampaigns(pg, adsOf(current), limit),
  ])
  return {
    current: figures,
    previous: totals,
    spending,
    previousSpending,
    campaigns: campaigns.map((one) => ({
      ...one,
      revenue_cents: figures.campaigns.get(pairKey(one.source, one.campaign)) ?? 0,
    })),
  }
}

function periodOf({ start, end }: Span, { workspace, since }: Pick<EarningsRequest, 'workspace' | 'since'>) {
  return { workspaceId: workspace.id, start: Math.max(start, since), end: Math.max(end, since) }
}

/** Cents by page, as `top_pages` of the overview has them. */
export async function readPageEarnings(
  stores: Pick<Stores, 'pg' | 'ch'>,
  request: Omit<EarningsRequest, 'buckets' | 'limit'>,
): Promise<RevenueByKey> {
  const { workspace, range, filters } = request
  const payments = filters && (await paymentsOf(stores, filters, request))
  return readRevenueOfPages(stores.pg, { ...periodOf(range, request), currency: workspace.currency, payments })
}

/** Ids of the payments in both periods that are credited to a chosen session. */
async function paymentsOf(
  { pg, ch }: Pick<Stores, 'pg' | 'ch'>,
  filters: SessionFilters,
  request: Omit<EarningsRequest, 'buckets' | 'limit'>,
): Promise<number[]> {
  const { workspace, range, build } = request
  const start = range.isCompared ? Math.min(range.start, range.previous.start) : range.start
  const sessions = await listSessionsOfPayments(pg, periodOf({ start, end: range.end }, request))
  const sought = { workspaceId: workspace.id, build, timezone: range.timeZone, filters }
  return (await readChosenSessions(ch, sessions, sought)).map(({ id }) => id)
}

/** The local days that begin in a period: each day's cost counts in one of two periods side by side. */
function daysOf({ start, end }: Span, timeZone: string): { from: string; to: string } {
  const day = localDayAt(start, timeZone)
  const from = startOfLocalDay(day, timeZone) < start ? day + 1 : day
  return { from: writtenDay(from), to: writtenDay(localDayAt(end - 1, timeZone)) }
}

/** No day comes after the last one that can be written. */
function writtenDay(day: number): string {
  return new Date(Math.min(day * dayMs, lastMoment)).toISOString().slice(0, 10)
}

/** The key of two texts in `RevenueFigures`. */
export function pairKey(source: string, other: string): string {
  return `[${JSON.stringify(source)}, ${JSON.stringify(other)}]`
}

/** Rows with their revenue; where the list has room left, behind them the keys that have revenue alone, most first. */
export function withRevenue<Row extends { readonly revenue_cents: number }>(
  rows: readonly Row[],
  revenue: RevenueByKey,
  { keyOf, rowOf, limit }: { keyOf: (row: Row) => string; rowOf: (key: string) => Row; limit: number },
): Row[] {
  const listed = new Set(rows.map(keyOf))
  const alone = [...revenue]
    .filter(([key, cents]) => !listed.has(key) && cents !== 0)
    .sort(([key, cents], [otherKey, otherCents]) => otherCents - cents || (key < otherKey ? -1 : 1))
  return [...rows, ...alone.map(([key]) => rowOf(key))]
    .slice(0, limit)
    .map((row) => ({ ...row, revenue_cents: revenue.get(keyOf(row)) ?? 0 }))
}
