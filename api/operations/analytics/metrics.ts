/** From counts to the counters of the answer. */
import type { PeriodFigures } from '../../../clickhouse/queries/overview/read-overview.ts'
import type { OverviewCounters } from '../../../schemas/resources/overview.ts'

/** `part` in per cent of `whole` with two decimals; 0 where there is nothing to divide by. */
export function perCent(part: number, whole: number): number {
  return ratio(part * 100, whole)
}

/** A quotient with two decimals; 0 where there is nothing to divide by. */
export function ratio(dividend: number, divisor: number): number {
  return divisor === 0 ? 0 : Math.round((dividend * 100) / divisor) / 100
}

export function countersOf(
  { counts, sessions, botVisits, linkClicks }: PeriodFigures,
  newContacts: number,
): OverviewCounters {
  return {
    visitors: counts.visitors,
    pageviews: counts.pageviews,
    sessions: counts.sessions,
    events: counts.events,
    conversions: counts.conversions,
    conversion_rate: perCent(counts.converting, counts.visitors),
    revenue_cents: 0,
    bounce_rate: perCent(sessions.bounces, sessions.sessions),
    average_session_seconds: ratio(sessions.durationMs, sessions.sessions * 1000),
    pages_per_session: ratio(counts.pageviews, counts.sessions),
    new_contacts: newContacts,
    bot_visits: botVisits,
    link_clicks: linkClicks,
  }
}
