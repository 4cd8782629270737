/** GET /v1/analytics/overview: the figures of a range, read at once and put together. */
import { z } from 'zod'
import { type OverviewFigures, readOverview } from '../../../clickhouse/queries/overview/read-overview.ts'
import { countNewContacts } from '../../../postgres/tables/contact-sightings.ts'
import { type FigureBuild, readCurrentBuild } from '../../../postgres/tables/figure-builds.ts'
import { readFoldedAsOf } from '../../../postgres/tables/folds.ts'
import { currentTrackingKey } from '../../../postgres/tables/tracking-keys.ts'
import { scriptUrlOf, snippetOf } from '../../../schemas/install-snippet.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { overviewRowsDefault, overviewRowsMax } from '../../../schemas/limits.ts'
import { AnalyticsOverview, type OverviewMetrics } from '../../../schemas/resources/overview.ts'
import { type Bucket, bucketsOf, type Span, type TimeRange } from '../../../schemas/time-range.ts'
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
    return stores.share(JSON.stringify(['overview', query, workspace]), () => answerOverview(context))
  },
})

async function answerOverview({ query, workspace, stores, config, clock }: OverviewContext) {
  const now = clock.now()
  const [build, foldedAsOf] = await Promise.all([readCurrentBuild(stores.pg, workspace.id), readFoldedAsOf(stores.pg)])
  // While a build for another timezone is in progress, figures go on in the one that stands.
  const timezone = build?.timezone ?? workspace.timezone
  const range = rangeOf(query, timezone, now)
  const buckets = bucketsOf(range)
  const oldest = readableFrom({ ...workspace, timezone }, now)
  const [figures, trackingKey, newContacts, previousContacts] = await Promise.all([
    readOverview(stores.ch, {
      ...{ workspaceId: workspace.id, range, buckets, now, readableFrom: oldest, limit: query.limit },
      ...rowsOf(build),
    }),
    currentTrackingKey(stores.pg, workspace.id),
    newContactsIn(stores, workspace.id, range, oldest),
    newContactsIn(stores, workspace.id, range.previous, oldest),
  ])
  // Without new events a fold writes no rows, and only its time goes on. A fold that isn't committed may still be writing.
  const isCommitted = foldedAsOf.version === figures.version
  const asOf = isCommitted ? Math.max(foldedAsOf.asOf, figures.asOf) : Math.min(foldedAsOf.asOf, figures.asOf)
  const metrics = metricsOf(figures, { range, asOf, newContacts, previousContacts })
  return {
    metrics,
    ...listsOf(figures, buckets),
    recommendations: recommend({ ...figures, metrics }),
    snippet: shownSnippet(workspace, config.apiHost, trackingKey ?? ''),
  }
}

/** Build 0 has no rows. */
function rowsOf(build: FigureBuild | undefined): { build: number; cellsThrough: number | null } {
  return { build: build?.build ?? 0, cellsThrough: build?.cellsThrough ?? null }
}

function newContactsIn({ pg }: Stores, workspaceId: number, { start, end }: Span, oldest: number): Promise<number> {
  return countNewContacts(pg, workspaceId, Math.max(start, oldest), Math.max(end, oldest))
}

interface MetricsOptions {
  readonly range: TimeRange
  readonly asOf: number
  readonly newContacts: number
  readonly previousContacts: number
}

function metricsOf(
  figures: OverviewFigures,
  { range, asOf, newContacts, previousContacts }: MetricsOptions,
): OverviewMetrics {
  const { current, previous, botVisits, linkClicks } = figures
  return {
    ...countersOf(current, { newContacts, botVisits: botVisits.current, linkClicks: linkClicks.current }),
    live_visitors: figures.liveVisitors,
    as_of: new Date(asOf).toISOString(),
    lists_cut: figures.areListsCut,
    range: shownRange(range),
    previous:
      previous === undefined
        ? null
        : countersOf(previous, {
            newContacts: previousContacts,
            botVisits: botVisits.previous,
            linkClicks: linkClicks.previous,
          }),
  }
}

function listsOf(figures: OverviewFigures, buckets: readonly Bucket[]) {
  const { series, vitals, pageVitals, recentEvents } = figures
  return {
    traffic_series: buckets.map((bucket, i) => {
      const { visitors, pageviews, sessions, conversions } = series[i]!
      return { label: bucket.label, ...timesOf(bucket), visitors, pageviews, sessions, conversions, revenue_cents: 0 }
    }),
    top_sources: sourceRows(figures.sources),
    top_pages: pageRows(figures),
    devices: breakdownRows(figures.devices, deviceLabel),
    browsers: breakdownRows(figures.browsers, browserLabel),
    countries: breakdownRows(figures.countries, countryLabel),
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
