/** The lists of the answer: sources, pages, breakdowns, recent events. */
import type { SessionGroup } from '../../../clickhouse/queries/overview/read-figures.ts'
import type { OverviewFigures } from '../../../clickhouse/queries/overview/read-overview.ts'
import type { RevenueByKey } from '../../../postgres/tables/revenue/revenue-figures.ts'
import { channelOf } from '../../../schemas/reference/channels.ts'
import { countryName } from '../../../schemas/reference/country-names.ts'
import type { AnalyticsOverview } from '../../../schemas/resources/overview.ts'
import { perCent } from './metrics.ts'
import { pairKey, withRevenue } from './revenue.ts'

type List<Name extends keyof AnalyticsOverview> = NonNullable<AnalyticsOverview[Name]>

export function sourceRows(groups: readonly SessionGroup[], revenue: RevenueByKey, limit: number): List<'top_sources'> {
  const rowOf = (source: string, medium: string) => ({
    source,
    medium,
    channel: channelOf(source, medium),
    visitors: 0,
    sessions: 0,
    pageviews: 0,
    events: 0,
    conversions: 0,
    revenue_cents: 0,
  })
  const rows = groups.map(({ key, detail, visitors, sessions, pageviews, events, conversions }) => ({
    ...rowOf(key, detail),
    visitors,
    sessions,
    pageviews,
    events,
    conversions,
  }))
  return withRevenue(rows, revenue, {
    keyOf: ({ source, medium }) => pairKey(source, medium),
    rowOf: (key) => rowOf(...(JSON.parse(key) as [string, string])),
    limit,
  })
}

/** Pages without pageviews in the period aren't listed, whatever was earned by them. */
export function pageRows(
  { pages, titles }: Pick<OverviewFigures, 'pages' | 'titles'>,
  revenue: RevenueByKey,
): List<'top_pages'> {
  return pages.map(({ path, pageviews, visitors, sessions, conversions, entries, bounces }) => ({
    path,
    title: titles.get(path) ?? '',
    pageviews,
    visitors,
    sessions,
    conversions,
    revenue_cents: revenue.get(path) ?? 0,
    bounce_rate: perCent(bounces, entries),
  }))
}

const deviceLabels = new Map([
  ['desktop', 'Desktop'],
  ['mobile', 'Mobile'],
  ['tablet', 'Tablet'],
  ['other', 'Other'],
])

export const deviceLabel = (key: string): string => deviceLabels.get(key) ?? key
export const browserLabel = (key: string): string => key
export const countryLabel = countryName

export function breakdownRows(
  groups: readonly SessionGroup[],
  labelOf: (key: string) => string,
  revenue: RevenueByKey,
  limit: number,
): List<'devices'> {
  const rowOf = (key: string) => ({
    key,
    label: key === 'unknown' ? 'Unknown' : labelOf(key),
    visitors: 0,
    sessions: 0,
    pageviews: 0,
    conversions: 0,
    revenue_cents: 0,
  })
  const rows = groups.map(({ key, visitors, sessions, pageviews, conversions }) => ({
    ...rowOf(key),
    visitors,
    sessions,
    pageviews,
    conversions,
  }))
  return withRevenue(rows, revenue, { keyOf: ({ key }) => key, rowOf, limit })
}
