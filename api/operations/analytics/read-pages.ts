/** GET /v1/analytics/pages: the pages of a range, with how long and how far they were looked at. */
import { z } from 'zod'
import { type PageGroup, readPages } from '../../../clickhouse/queries/pages/read-pages.ts'
import type { RevenueByKey } from '../../../postgres/tables/revenue/revenue-figures.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import {
  overviewRowsDefault,
  pageReportRowsMax,
  pagesByRevenueLengthMax,
  pagesByRevenueMax,
} from '../../../schemas/limits/overview-limits.ts'
import { PageReport, pageSorts, sortOrders } from '../../../schemas/resources/page-report.ts'
import { filterParameters, filtersOf } from '../../../schemas/session-filters.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { defineOperation } from '../define.ts'
import { answerConsistently, buildAndCellsOf } from './consistent-answer.ts'
import { perCent, ratio } from './metrics.ts'
import { rangeOf, rangeParameters, readableSpan, shownRange } from './range-query.ts'
import { readPageEarnings } from './revenue.ts'

const PagesQuery = z.object({
  ...rangeParameters,
  sort: z.enum(pageSorts).default('pageviews').describe('What pages are ordered by.'),
  order: z.enum(sortOrders).default('desc').describe('The greatest or the least first; what is not known is last.'),
  limit: laxIntOr(overviewRowsDefault, { ge: 1, le: pageReportRowsMax, description: 'Rows of a list.' }),
  ...filterParameters,
})

export const readAnalyticsPages = defineOperation({
  name: 'pages.read',
  http: { method: 'GET', path: '/v1/analytics/pages' },
  tool: 'svc.analytics_pages',
  toolset: 'analytics',
  summary: 'List the pages of a period with entries, exits, time in sight, scroll depth, conversions and revenue.',
  description: 'Filters choose sessions; `path` chooses the pages too.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: PagesQuery },
  output: PageReport,
  async handle(context) {
    const { query, workspace, stores, clock } = context
    const question = JSON.stringify(['pages', query, workspace])
    return stores.share(question, () =>
      answerConsistently(context, async (figureBuild) => {
        const { sort, order, limit } = query
        const now = clock.now()
        const { build, cells } = buildAndCellsOf(figureBuild)
        // While a build for another timezone is in progress, figures go on in the one that stands.
        const timezone = figureBuild?.timezone ?? workspace.timezone
        const since = readableFrom({ ...workspace, timezone }, now)
        const range = rangeOf(query, timezone, now)
        const filters = filtersOf(query)
        const revenue = await readPageEarnings(stores, { workspace, range, since, build, filters })
        const pages = await readPages(stores.ch, {
          workspaceId: workspace.id,
          build,
          timezone,
          cells,
          endsNow: range.endsNow,
          filters,
          sort,
          order,
          limit,
          ...readableSpan(range, { since, timezone }, now),
          revenue: greatest(revenue),
        })
        return { range: shownRange(range), sort, order, rows: pages.map((page) => shownPage(page, revenue)) }
      }),
    )
  },
})

/** Those with most revenue, or most of refunds: as many as a statement takes. */
function greatest(revenue: RevenueByKey): RevenueByKey {
  const sent = new Map<string, number>()
  let characters = 0
  for (const [path, cents] of [...revenue].sort(([, a], [, b]) => Math.abs(b) - Math.abs(a))) {
    characters += path.length
    if (sent.size === pagesByRevenueMax || characters > pagesByRevenueLengthMax) break
    sent.set(path, cents)
  }
  return sent
}

function shownPage(page: PageGroup, revenue: RevenueByKey) {
  const { path, title, pageviews, visitors, sessions, entries, bounces, exits, conversions } = page
  const { engaged_ms, timed_views, depths, scrolled } = page
  return {
    path,
    title,
    pageviews,
    visitors,
    sessions,
    entries,
    exits,
    // A session that goes on after the range may have its exit there.
    exit_rate: Math.min(100, perCent(exits, sessions)),
    bounce_rate: perCent(bounces, entries),
    conversions,
    revenue_cents: revenue.get(path) ?? 0,
    time_on_page_seconds: timed_views === 0 ? null : ratio(engaged_ms, timed_views * 1000),
    scroll_depth: scrolled === 0 ? null : ratio(depths, scrolled),
  }
}
