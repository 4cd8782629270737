/** GET /v1/analytics/overview: the figures of a range, read at once and put together. */
import { z } from 'zod'
import {
  type OverviewFigures,
  type OverviewRequest,
  readOverview,
  warmOverview,
} from '../../../clickhouse/queries/overview/read-overview.ts'
import { countNewContacts } from '../../../postgres/tables/contact-sightings.ts'
import { currentTrackingKey } from '../../../postgres/tables/tracking-keys.ts'
import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import { scriptUrlOf, snippetOf } from '../../../schemas/install-snippet.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { overviewRowsDefault, overviewRowsMax } from '../../../schemas/limits.ts'
import { AnalyticsOverview, type OverviewMetrics } from '../../../schemas/resources/overview.ts'
import { type Bucket, bucketsOf, type Span, type TimeRange } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { type CallContext, type Context, defineOperation, type Stores } from '../define.ts'
import {
  breakdownRows,
  browserLabel,
  countryLabel,
  deviceLabel,
  pageRows,
  recentEventRows,
  sourceRows,
} from './lists.ts'
import { countersOf } from './metrics.ts'
import { rangeOf, rangeParameters, shownRange, timesOf } from './range-query.ts'
import { readableFrom } from './readable-from.ts'
import { recommend } from './recommendations.ts'
import { vitalPageRow, vitalPoints, vitalRows } from './web-vitals.ts'

const OverviewQuery = z.object({
  ...rangeParameters,
  limit: laxIntOr(overviewRowsDefault, { ge: 1, le: overviewRowsMax, description: 'Rows of each list.' }),
})

type OverviewContext = Context<{ readonly query: typeof OverviewQuery }>

export const readAnalyticsOverview = defineOperation({
  name: 'overview.read',
  http: { method: 'GET', path: '/v1/analytics/overview' },
  tool: 'svc.analytics_overview',
  summary: 'Read the web analytics of a period.',
  description:
    'Visitors, sources, pages, conversions, web vitals, recent events and advice, in the timezone of the workspace.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  input: { query: OverviewQuery },
  output: AnalyticsOverview,
  async handle(context) {
    const { query, workspace, stores } = context
    // All that the answer depends on, besides the stores and the time.
    const question = JSON.stringify(['overview', query, workspace])
    const answered = stores.share(question, () => answerOverview(context, question))
    stores.readAhead(question, async (snapshot) => warmAhead(context, snapshot, (await answered).comingPages))
    return (await answered).answer
  },
})

/** So long before an hour ends, what will be asked in the next one is read ahead too: ranges begin an hour later then. */
const nextHourAheadMs = 2 * 60_000

async function warmAhead(
  context: OverviewContext,
  snapshot: AggregateSnapshot,
  coming: OverviewFigures['comingPages'],
): Promise<void> {
  const { stores, clock } = context
  const now = clock.now()
  await warmOverview(stores.ch, snapshot, requestOf(context, now), { coming, now })
  const nextHour = Math.ceil(now / hourMs) * hourMs
  // In the hour, not where it begins.
  if (nextHour - now > nextHourAheadMs) return
  await warmOverview(stores.ch, snapshot, requestOf(context, nextHour + 1), { coming, now })
}

function requestOf({ query, workspace }: OverviewContext, now: number): OverviewRequest {
  const range = rangeOf(query, workspace.timezone, now)
  return {
    ...{ workspaceId: workspace.id, range, now, limit: query.limit },
    buckets: bucketsOf(range),
    readableFrom: readableFrom(workspace, now),
  }
}

async function answerOverview(context: OverviewContext, question: string) {
  const { workspace, stores, config, clock } = context
  const request = requestOf(context, clock.now())
  const { range, buckets, readableFrom: oldest } = request
  const [figures, trackingKey, newContacts, previousContacts] = await Promise.all([
    stores.snapshot(question).then((snapshot) => readOverview(stores.ch, snapshot, request)),
    currentTrackingKey(stores.pg, workspace.id),
    newContactsIn(stores, workspace.id, range, oldest),
    newContactsIn(stores, workspace.id, range.previous, oldest),
  ])
  const metrics = metricsOf(figures, range, newContacts, previousContacts)
  const answer = {
    metrics,
    ...listsOf(figures, buckets),
    recommendations: recommend({ ...figures, metrics }),
    snippet: shownSnippet(workspace, config.apiHost, trackingKey ?? ''),
  }
  return { answer, comingPages: figures.comingPages }
}

function newContactsIn({ pg }: Stores, workspaceId: number, { start, end }: Span, oldest: number): Promise<number> {
  return countNewContacts(pg, workspaceId, Math.max(start, oldest), Math.max(end, oldest))
}

function metricsOf(
  { current, previous, presence }: OverviewFigures,
  range: TimeRange,
  newContacts: number,
  previousContacts: number,
): OverviewMetrics {
  return {
    ...countersOf(current, newContacts),
    live_visitors: presence.liveVisitors,
    range: shownRange(range),
    previous: previous && countersOf(previous, previousContacts),
  }
}

function listsOf(figures: OverviewFigures, buckets: readonly Bucket[]) {
  const { lists, series, vitals, pageVitals, recentEvents } = figures
  return {
    traffic_series: buckets.map((bucket, i) => {
      const { visitors, pageviews, sessions, conversions } = series[i]!
      return { label: bucket.label, ...timesOf(bucket), visitors, pageviews, sessions, conversions, revenue_cents: 0 }
    }),
    top_sources: sourceRows(lists.sources),
    top_pages: pageRows(figures),
    devices: breakdownRows(lists.devices, deviceLabel),
    browsers: breakdownRows(lists.browsers, browserLabel),
    countries: breakdownRows(lists.countries, countryLabel),
    web_vitals: vitalRows(vitals.total),
    web_vital_pages: pageVitals.map(vitalPageRow),
    web_vital_series: vitalPoints(vitals.series, buckets),
    recent_events: recentEventRows(recentEvents),
  }
}

function shownSnippet({ id, slug }: CallContext['workspace'], apiHost: string, trackingKey: string) {
  const scriptUrl = scriptUrlOf(apiHost, trackingKey)
  return {
    workspace_id: id,
    workspace_slug: slug,
    tracking_key: trackingKey,
    script_url: scriptUrl,
    snippet: snippetOf(scriptUrl),
  }
}
