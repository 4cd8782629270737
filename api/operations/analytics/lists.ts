/** The lists of the answer: sources, pages, breakdowns, recent events. */
import type { SessionGroup } from '../../../clickhouse/queries/overview/read-figures.ts'
import type { OverviewFigures } from '../../../clickhouse/queries/overview/read-overview.ts'
import type { RecentEvent } from '../../../clickhouse/queries/overview/read-recent-events.ts'
import { channelOf } from '../../../schemas/reference/channels.ts'
import { countryName } from '../../../schemas/reference/country-names.ts'
import type { AnalyticsOverview } from '../../../schemas/resources/overview.ts'
import { perCent } from './metrics.ts'

type List<Name extends keyof AnalyticsOverview> = NonNullable<AnalyticsOverview[Name]>

export function sourceRows(groups: readonly SessionGroup[]): List<'top_sources'> {
  return groups.map(({ key, detail, visitors, sessions, pageviews, events, conversions }) => ({
    source: key,
    medium: detail,
    channel: channelOf(key, detail),
    visitors,
    sessions,
    pageviews,
    events,
    conversions,
    revenue_cents: 0,
  }))
}

export function pageRows({ pages, titles }: Pick<OverviewFigures, 'pages' | 'titles'>): List<'top_pages'> {
  return pages.map(({ path, pageviews, visitors, sessions, conversions, entries, bounces }) => ({
    ...{ path, title: titles.get(path) ?? '', pageviews, visitors, sessions, conversions },
    revenue_cents: 0,
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

export function breakdownRows(groups: readonly SessionGroup[], labelOf: (key: string) => string): List<'devices'> {
  return groups.map(({ key, visitors, sessions, pageviews, conversions }) => ({
    key,
    label: key === 'unknown' ? 'Unknown' : labelOf(key),
    visitors,
    sessions,
    pageviews,
    conversions,
    revenue_cents: 0,
  }))
}

export function recentEventRows(events: readonly RecentEvent[]): List<'recent_events'> {
  return events.map(({ session, properties, occurred_at_ms, received_at_ms, ...event }) => ({
    ...event,
    object_id: `event_${event.id}`,
    contact_id: null,
    session_id: session,
    currency: '',
    value_cents: 0,
    properties: readProperties(properties),
    occurred_at: new Date(occurred_at_ms).toISOString(),
    created_at: new Date(received_at_ms).toISOString(),
  }))
}

/** Stored as the text of an object; an event without any has an empty text. */
function readProperties(text: string): Record<string, unknown> {
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}
