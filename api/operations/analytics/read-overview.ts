/** GET /v1/analytics/overview: the figures of a range, read at once and put together. */

import { z } from 'zod'
import {
  type OverviewFigures,
  type OverviewPart,
  readOverview,
} from '../../../clickhouse/queries/overview/read-overview.ts'
import { serializeEvents } from '../../../clickhouse/queries/serialize-event.ts'
import type { FigureBuild } from '../../../postgres/tables/figures/figure-builds.ts'
import { readFoldedAsOf } from '../../../postgres/tables/figures/folds.ts'
import { countNewContacts } from '../../../postgres/tables/people/contact-sightings.ts'
import { readContactsOfEvents } from '../../../postgres/tables/people/contacts-of-events.ts'
import { currentTrackingKey } from '../../../postgres/tables/workspaces/tracking-keys.ts'
import { scriptUrlOf, snippetOf } from '../../../schemas/install-snippet.ts'
import { laxIntOr, namesOf } from '../../../schemas/lax.ts'
import {
  advicePages,
  comparedLagMaxMs,
  overviewRowsDefault,
  overviewRowsMax,
} from '../../../schemas/limits/overview-limits.ts'
import { AnalyticsOverview, type OverviewMetrics, overviewMembers } from '../../../schemas/resources/overview.ts'
import { viewScope } from '../../../schemas/scopes.ts'
import { filterParameters, filterSigns, filtersOf } from '../../../schemas/session-filters.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { type Bucket, bucketsOf, type Span, type TimeRange } from '../../../schemas/time/time-range.ts'
import { defineOperation, type FigureContext, type Stores } from '../define.ts'
import { answerConsistently, buildAndCellsOf } from './consistent-answer.ts'
import { breakdownRows, browserLabel, countryLabel, deviceLabel, pageRows, sourceRows } from './lists.ts'
import { averagesOfBegun, countersOf } from './metrics.ts'
import { compareParameter, intervalParameter, rangeOf, rangeParameters, shownRange, timesOf } from './range-query.ts'
import { recommend } from './recommendations.ts'
import { type Earnings, noEarnings, readEarnings } from './revenue.ts'
import { vitalPageRow, vitalPoints, vitalRows } from './web-vitals.ts'

/** @param rowsMax of a list */
export const overviewQueryOf = (rowsMax: number) =>
  z.object({
    ...rangeParameters,
    interval: intervalParameter('by the range'),
    compare: compareParameter('metrics.previous'),
    limit: laxIntOr(overviewRowsDefault, { ge: 1, le: rowsMax, description: 'Rows of a list.' }),
    ...filterParameters,
    include: namesOf(overviewMembers, 'The members wanted; the others are empty. All when left out.'),
  })

export const OverviewQuery = overviewQueryOf(overviewRowsMax)

export interface OverviewContext extends FigureContext {
  readonly query: z.output<typeof OverviewQuery>
}

export const readAnalyticsOverview = defineOperation({
  name: 'overview.read',
  http: { method: 'GET', path: '/v1/analytics/overview' },
  tool: 'svc.analytics_overview',
  summary: 'Read the web analytics of a period.',
  description: `Visitors, sources, pages, conversions, web vitals, recent events and advice, in the workspace's timezone. Name in \`include\` what you need: the whole answer is long. ${filterSigns}`,
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: OverviewQuery },
  output: AnalyticsOverview,
  handle: computeOverview,
})

export async function computeOverview(context: OverviewContext): Promise<AnalyticsOverview> {
  const { workspace, stores, scopes } = context
  const { include: wanted = overviewMembers, ...query } = context.query
  const include = wanted.filter((member) => !(scopes.includes(viewScope) && hiddenFromSharedLinks.has(member)))
  const parts = allParts.filter((part) => include.some((member) => partsOf[member].includes(part)))
  // All that the answer depends on, besides the stores and the time.
  const question = JSON.stringify(['overview', query, parts, workspace])
  const answer = await stores.share(question, () => answerParts(context, new Set(parts)))
  return withMembers(answer, include)
}

/** Shared links get these members empty. Events name people; the others are for whoever runs the site. */
const hiddenFromSharedLinks = new Set<keyof AnalyticsOverview>(['recent_events', 'recommendations', 'snippet'])

const allParts = ['figures', 'totals', 'details', 'recentEvents', 'revenue', 'advice'] as const
/** Parts that need statements of their own, or rows beyond the limit. Whoever wants none of a part's members saves them. */
type Part = (typeof allParts)[number]

const partsOf: Readonly<Record<keyof AnalyticsOverview, readonly Part[]>> = {
  metrics: ['figures', 'totals', 'revenue'],
  top_sources: ['figures', 'revenue'],
  top_pages: ['figures', 'details', 'revenue'],
  recent_events: ['figures', 'recentEvents'],
  recommendations: allParts,
  snippet: [],
  traffic_series: ['figures', 'revenue'],
  devices: ['figures', 'revenue'],
  browsers: ['figures', 'revenue'],
  countries: ['figures', 'revenue'],
  web_vitals: ['figures', 'details'],
  web_vital_pages: ['figures', 'details'],
  web_vital_series: ['figures', 'details'],
}

type Answer = Pick<AnalyticsOverview, 'snippet'> & Partial<AnalyticsOverview>

/** Members that weren't asked for are empty. */
function withMembers(answer: Answer, include: readonly (keyof AnalyticsOverview)[]): AnalyticsOverview {
  const { workspace_id } = answer.snippet
  const noSnippet = { workspace_id, workspace_slug: '', tracking_key: '', script_url: '', snippet: '' }
  const empty = (member: keyof AnalyticsOverview) => (member === 'metrics' ? {} : member === 'snippet' ? noSnippet : [])
  const members = overviewMembers.map((member) => [member, include.includes(member) ? answer[member] : empty(member)])
  return Object.fromEntries(members) as AnalyticsOverview
}

async function answerParts(context: OverviewContext, parts: ReadonlySet<Part>): Promise<Answer> {
  if (!parts.has('figures')) return { snippet: await readSnippet(context) }
  return answerConsistently(context, (build) => answerOverview(context, parts, build))
}

async function answerOverview(
  context: OverviewContext,
  parts: ReadonlySet<Part>,
  build: FigureBuild | undefined,
): Promise<Answer> {
  const { query, workspace, stores, clock } = context
  const now = clock.now()
  const foldedAsOf = await readFoldedAsOf(stores.pg)
  // While a build for another timezone is in progress, figures go on in the one that stands.
  const timezone = build?.timezone ?? workspace.timezone
  const range = rangeOf(query, timezone, now)
  const buckets = bucketsOf(range)
  const filters = filtersOf(query)
  const since = readableFrom({ ...workspace, timezone }, now)
  // Advice is about the whole site, and the same whatever the limit is.
  const isAdvised = filters === undefined && parts.has('advice')
  const limit = isAdvised ? Math.max(query.limit, overviewRowsMax) : query.limit
  const pageLimit = isAdvised ? Math.max(query.limit, advicePages) : query.limit
  const [figures, snippet, earnings, newContacts, previousContacts] = await Promise.all([
    readOverview(stores.ch, {
      workspaceId: workspace.id,
      range,
      buckets,
      now,
      readableFrom: since,
      limit,
      pageLimit,
      ...buildAndCellsOf(build),
      filters,
      parts: parts as ReadonlySet<OverviewPart>,
    }),
    readSnippet(context),
    parts.has('revenue')
      ? readEarnings(stores, {
          workspace,
          range,
          buckets,
          since,
          limit,
          filters,
          build: buildAndCellsOf(build).build,
        })
      : noEarnings,
    parts.has('totals') ? newContactsIn(stores.pg, workspace.id, range, since) : null,
    parts.has('totals') && range.isCompared ? newContactsIn(stores.pg, workspace.id, range.previous, since) : null,
  ])
  // Without new events a fold writes no rows, and only its time goes on. A fold that isn't committed may still be writing.
  const isCommitted = foldedAsOf.version === figures.version
  const asOf = isCommitted ? Math.max(foldedAsOf.asOf, figures.asOf) : Math.min(foldedAsOf.asOf, figures.asOf)
  const contacts = filters === undefined ? { newContacts, previousContacts } : noContacts
  const metrics = metricsOf(figures, { range, asOf, since, earnings, ...contacts })
  return {
    metrics: { ...metrics, ad_campaigns: metrics.ad_campaigns.slice(0, query.limit) },
    ...listsOf(figures, buckets, {
      revenue: earnings.current,
      limit: query.limit,
      contacts: await readContactsOfEvents(stores.pg, workspace.id, figures.recentEvents),
    }),
    recommendations: isAdvised
      ? recommend({
          ...figures,
          metrics,
          currency: workspace.currency,
          hasEvents: build !== undefined,
          pages: figures.pages.slice(0, advicePages),
          pageVitals: figures.pageVitals.slice(0, advicePages),
          isOver: range.end <= Math.min(now, asOf + comparedLagMaxMs),
          revenue: earnings.current,
        })
      : [],
    snippet,
  }
}

/** Contacts are of no session. */
const noContacts = { newContacts: null, previousContacts: null }

function newContactsIn(pg: Stores['pg'], workspaceId: number, { start, end }: Span, since: number): Promise<number> {
  return countNewContacts(pg, workspaceId, Math.max(start, since), Math.max(end, since))
}

interface MetricsOptions {
  readonly range: TimeRange
  readonly asOf: number
  readonly since: number
  readonly earnings: Earnings
  readonly newContacts: number | null
  readonly previousContacts: number | null
}

function metricsOf(
  figures: OverviewFigures,
  { range, asOf, since, earnings, newContacts, previousContacts }: MetricsOptions,
): OverviewMetrics {
  const { current, previous, botVisits, linkClicks } = figures
  return {
    ...countersOf(current, {
      newContacts,
      botVisits: botVisits?.current ?? null,
      linkClicks: linkClicks?.current ?? null,
      revenue: earnings.current,
      spending: earnings.spending,
    }),
    ad_campaigns: [...earnings.campaigns],
    live_visitors: figures.liveVisitors,
    as_of: new Date(asOf).toISOString(),
    readable_from: new Date(since).toISOString(),
    lists_cut: figures.areListsCut,
    range: shownRange(range),
    previous:
      previous === undefined
        ? null
        : countersOf(previous, {
            newContacts: previousContacts,
            botVisits: botVisits?.previous ?? null,
            linkClicks: linkClicks?.previous ?? null,
            revenue: earnings.previous,
            spending: earnings.previousSpending,
          }),
    previous_range: previous === undefined ? null : timesOf(range.previous),
  }
}

interface ListOptions {
  readonly revenue: Earnings['current']
  readonly limit: number
  /** Contact ids by event id, for the recent events. */
  readonly contacts: ReadonlyMap<number, number>
}

function listsOf(figures: OverviewFigures, buckets: readonly Bucket[], { revenue, limit, contacts }: ListOptions) {
  const { series, vitals, pageVitals, recentEvents } = figures
  return {
    traffic_series: buckets.map((bucket, i) => {
      const { visitors, pageviews, sessions, conversions, ...begun } = series[i]!
      const counts = { visitors, pageviews, sessions, conversions, revenue_cents: revenue.buckets.get(i) ?? 0 }
      return { label: bucket.label, ...timesOf(bucket), ...counts, ...averagesOfBegun(begun) }
    }),
    top_sources: sourceRows(figures.sources, revenue.sources, limit),
    top_pages: pageRows(figures, revenue.pages).slice(0, limit),
    devices: breakdownRows(figures.devices, deviceLabel, revenue.devices, limit),
    browsers: breakdownRows(figures.browsers, browserLabel, revenue.browsers, limit),
    countries: breakdownRows(figures.countries, countryLabel, revenue.countries, limit),
    web_vitals: vitalRows(vitals.total),
    web_vital_pages: pageVitals.slice(0, limit).map(vitalPageRow),
    web_vital_series: vitalPoints(vitals.series, buckets),
    recent_events: serializeEvents(recentEvents, contacts),
  }
}

async function readSnippet({ workspace: { id, slug }, stores, config }: OverviewContext) {
  const trackingKey = (await currentTrackingKey(stores.pg, id)) ?? ''
  const scriptUrl = scriptUrlOf(config.apiHost, trackingKey)
  return {
    workspace_id: id,
    workspace_slug: slug,
    tracking_key: trackingKey,
    script_url: scriptUrl,
    snippet: snippetOf(scriptUrl),
  }
}
