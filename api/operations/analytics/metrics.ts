/** From counts to the counters of the answer. */
import type { BegunCounts, Counts } from '../../../clickhouse/queries/overview/read-figures.ts'
import type { AdSpend } from '../../../postgres/tables/revenue/ad-spend.ts'
import type { RevenueTotals } from '../../../postgres/tables/revenue/revenue-figures.ts'
import type { OverviewCounters } from '../../../schemas/resources/overview.ts'

/** `part` in per cent of `whole` with two decimals; 0 where there is nothing to divide by. */
export function perCent(part: number, whole: number): number {
  return ratio(part * 100, whole)
}

/** A quotient with two decimals; 0 where there is nothing to divide by. */
export function ratio(dividend: number, divisor: number): number {
  return divisor === 0 ? 0 : Math.round((dividend * 100) / divisor) / 100
}

/** Bounce rate and length of the sessions that begin in a range or bucket. */
export function averagesOfBegun({
  begun,
  bounces,
  durationMs,
}: BegunCounts): Pick<OverviewCounters, 'bounce_rate' | 'average_session_seconds'> {
  return { bounce_rate: perCent(bounces, begun), average_session_seconds: ratio(durationMs, begun * 1000) }
}

/** Counts beside the events of visitors. */
export interface OtherCounters {
  /** Counts without a session are null where sessions are filtered. */
  readonly newContacts: number | null
  readonly botVisits: number | null
  readonly linkClicks: number | null
  readonly revenue: RevenueTotals
  readonly spending: AdSpend | null
}

export function countersOf(
  counts: Counts,
  { newContacts, botVisits, linkClicks, revenue, spending }: OtherCounters,
): OverviewCounters {
  return {
    visitors: counts.visitors,
    pageviews: counts.pageviews,
    sessions: counts.sessions,
    events: counts.events,
    conversions: counts.conversions,
    conversion_rate: perCent(counts.converting, counts.visitors),
    revenue_cents: revenue.cents,
    revenue_by_currency: revenue.apart,
    ad_spend_cents: spending?.cents ?? null,
    ad_spend_by_currency: spending?.apart ?? {},
    ...averagesOfBegun(counts),
    pages_per_session: ratio(counts.pageviews, counts.sessions),
    new_contacts: newContacts,
    bot_visits: botVisits,
    link_clicks: linkClicks,
  }
}
