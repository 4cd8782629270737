/** The analytics overview as the API shows it. docs/metrics.md says what each figure means. */
import { z } from 'zod'
import { vitalNames, vitalRatings } from '../reference/web-vitals.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { previousMeaning, Range } from './range.ts'

const count = z.int()
/** Always in our answers, though the contract doesn't require it. */
const addedCount = count.optional().meta({ default: 0 })
const addedFigure = z.number().optional().meta({ default: 0 })
/** Null where sessions are filtered: it is of no session. */
const unfiltered = count.nullable()
const rating = z.string().describe(`${vitalRatings.join(', ')}, or no_data where there are no samples.`)

const SourceRow = z
  .object({
    source: z.string(),
    medium: z.string(),
    visitors: count,
    events: count,
    conversions: count,
    revenue_cents: count,
    pageviews: addedCount,
    sessions: addedCount,
    channel: z.string().optional().describe('The default channel group of the source.'),
  })
  .meta({ id: 'SourceRow' })

const TopPageRow = z
  .object({
    path: z.string(),
    title: z.string().describe('The newest one seen.'),
    pageviews: count,
    conversions: count,
    revenue_cents: count,
    visitors: addedCount,
    sessions: addedCount,
    bounce_rate: addedFigure.describe('Of the sessions that entered here.'),
  })
  .meta({ id: 'TopPageRow' })

const trafficCounts = {
  visitors: count,
  pageviews: count,
  sessions: count,
  conversions: count,
  revenue_cents: count,
}

const TrafficPoint = z
  .object({
    label: z.string(),
    start: dateTime,
    end: dateTime,
    ...trafficCounts,
    bounce_rate: addedFigure.describe('Of the sessions that begin in the bucket.'),
    average_session_seconds: addedFigure.describe('Of the sessions that begin in the bucket.'),
  })
  .meta({ id: 'TrafficPoint' })

const BreakdownRow = z.object({ key: z.string(), label: z.string(), ...trafficCounts }).meta({ id: 'BreakdownRow' })

const WebVitalMetric = z
  .object({
    metric: z.string().describe(vitalNames.join(', ')),
    label: z.string(),
    unit: z.string(),
    rating: rating.describe('By p75.'),
    count,
    latest: z.number(),
    average: z.number(),
    p75: z.number(),
    p90: z.number(),
    p99: z.number(),
    good_threshold: z.number(),
    poor_threshold: z.number(),
  })
  .meta({ id: 'WebVitalMetric' })

const WebVitalPage = z
  .object({
    path: z.string(),
    worst_metric: z.string(),
    rating: rating.describe('Of the worst metric.'),
    pageviews: count,
    samples: count,
    good: count,
    needs_improvement: count,
    poor: count,
    p90: z.number(),
    metric_p90s: z.record(z.string(), z.number()).optional(),
    metric_ratings: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'WebVitalPage' })

const WebVitalSeriesPoint = z
  .object({
    label: z.string(),
    start: dateTime,
    end: dateTime,
    values: z.record(z.string(), z.number()).optional().describe('p75 of each metric with samples.'),
    counts: z.record(z.string(), count).optional().describe('Samples of each metric.'),
  })
  .meta({ id: 'WebVitalSeriesPoint' })

export const Event = z
  .object({
    id: z.int(),
    object_id: objectId('event').optional(),
    contact_id: z.int().nullable(),
    session_id: z.int().nullable(),
    anonymous_id: z.string(),
    event_type: z.string(),
    event_name: z.string(),
    url: z.string(),
    path: z.string(),
    title: z.string(),
    referrer: z.string(),
    source: z.string(),
    medium: z.string(),
    campaign: z.string(),
    content: z.string(),
    currency: z.string(),
    value_cents: z.int(),
    properties: z.record(z.string(), z.unknown()),
    occurred_at: dateTime,
    created_at: dateTime,
  })
  .meta({ id: 'Event' })
export type Event = z.output<typeof Event>

export const Recommendation = z
  .object({ title: z.string(), detail: z.string(), priority: z.string().describe('high, medium or low.') })
  .meta({ id: 'Recommendation' })

const InstallSnippet = z
  .object({
    workspace_id: z.int(),
    workspace_slug: z.string(),
    tracking_key: z.string(),
    script_url: z.string(),
    snippet: z.string(),
  })
  .meta({ id: 'InstallSnippet' })

/** The counters of a range and of the one before it. */
const counters = {
  visitors: count,
  pageviews: count,
  sessions: count,
  events: count,
  conversions: count,
  conversion_rate: z.number().describe('Converting visitors in per cent of visitors.'),
  revenue_cents: count.describe("In the workspace's currency, less refunds."),
  revenue_by_currency: z.record(z.string(), count).describe('What no rate converts, apart.'),
  ad_spend_cents: unfiltered.describe('Of imported ads; null with filters.'),
  ad_spend_by_currency: z.record(z.string(), count).describe('What no rate converts, apart.'),
  bounce_rate: z.number().describe('In per cent.'),
  average_session_seconds: z.number(),
  pages_per_session: z.number(),
  new_contacts: unfiltered.describe('Null with filters.'),
  bot_visits: unfiltered.describe('Null with filters.'),
  link_clicks: unfiltered.describe('Null with filters.'),
}

const AdCampaign = z
  .object({ source: z.string(), campaign: z.string(), cost_cents: count, clicks: count, revenue_cents: count })
  .meta({ id: 'AdCampaign' })

const { start, end } = Range.shape

const OverviewMetrics = z.looseObject({
  ...counters,
  ad_campaigns: z.array(AdCampaign).describe('Those that cost most.'),
  live_visitors: count.describe('In the last five minutes.'),
  as_of: dateTime.describe('Every event answered 202 before it is in all figures.'),
  readable_from: dateTime.describe('Nothing before it is counted.'),
  lists_cut: z.boolean().describe('A day had more pages or sources than are kept.'),
  range: Range,
  previous: z.looseObject(counters).nullable().describe(previousMeaning),
  previous_range: z.object({ start, end }).nullable(),
})

/** Left out by `include`. */
const noMetrics = z.strictObject({}).meta({ description: 'Left out.' })

export const AnalyticsOverview = z
  .object({
    metrics: z.union([OverviewMetrics, noMetrics]),
    top_sources: z.array(SourceRow),
    top_pages: z.array(TopPageRow),
    recent_events: z.array(Event),
    recommendations: z.array(Recommendation),
    snippet: InstallSnippet,
    traffic_series: z.array(TrafficPoint).optional(),
    devices: z.array(BreakdownRow).optional(),
    browsers: z.array(BreakdownRow).optional(),
    countries: z.array(BreakdownRow).optional(),
    web_vitals: z.array(WebVitalMetric).optional(),
    web_vital_pages: z.array(WebVitalPage).optional(),
    web_vital_series: z.array(WebVitalSeriesPoint).optional(),
  })
  .meta({ id: 'AnalyticsOverview' })

export const overviewMembers = Object.keys(AnalyticsOverview.shape) as (keyof AnalyticsOverview)[]
export type AnalyticsOverview = z.output<typeof AnalyticsOverview>
export type OverviewMetrics = z.output<typeof OverviewMetrics>
export type OverviewCounters = NonNullable<OverviewMetrics['previous']>
