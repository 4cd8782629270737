/** GET /v1/analytics/pages: the pages of a range, with how long and how far they were looked at. */
import { z } from 'zod'
import { type PageGroup, readPages } from '../../../clickhouse/queries/pages.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { overviewRowsDefault, pageReportRowsMax } from '../../../schemas/limits/overview-limits.ts'
import { PageReport, pageSorts } from '../../../schemas/resources/page-report.ts'
import { filterParameters, filtersOf } from '../../../schemas/session-filters.ts'
import { defineOperation } from '../define.ts'
import { readableVisitors } from '../people/visitor-rows.ts'
import { perCent, ratio } from './metrics.ts'
import { rangeOf, rangeParameters, readableSpan, shownRange } from './range-query.ts'

const PagesQuery = z.object({
  ...rangeParameters,
  sort: z.enum(pageSorts).default('pageviews').describe('What pages are ordered by.'),
  limit: laxIntOr(overviewRowsDefault, { ge: 1, le: pageReportRowsMax, description: 'Rows of a list.' }),
  ...filterParameters,
})

export const readAnalyticsPages = defineOperation({
  name: 'pages.read',
  http: { method: 'GET', path: '/v1/analytics/pages' },
  summary: 'List the pages of a period with entries, exits, time in sight and scroll depth.',
  description: 'Filters choose sessions; `path` chooses the pages too.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: PagesQuery },
  output: PageReport,
  async handle(context) {
    const { query, workspace, stores, clock } = context
    return stores.share(JSON.stringify(['pages', query, workspace]), async () => {
      const { sort, limit } = query
      const rows = await readableVisitors(context)
      const range = rangeOf(query, rows.timezone, clock.now())
      const span = readableSpan(range, rows, clock.now())
      const pages = await readPages(stores.ch, { ...rows, ...span, filters: filtersOf(query), sort, limit })
      return { range: shownRange(range), sort, rows: pages.map(shownPage) }
    })
  },
})

function shownPage(page: PageGroup) {
  const { path, title, pageviews, visitors, sessions, entries, bounces, exits } = page
  const { engaged_ms, timed_views, depths, scrolled } = page
  return {
    ...{ path, title, pageviews, visitors, sessions, entries, exits },
    // A session that goes on after the range may have its exit there.
    exit_rate: Math.min(100, perCent(exits, sessions)),
    bounce_rate: perCent(bounces, entries),
    time_on_page_seconds: timed_views === 0 ? null : ratio(engaged_ms, timed_views * 1000),
    scroll_depth: scrolled === 0 ? null : ratio(depths, scrolled),
  }
}
