/** GET /v1/analytics/flow: what visitors of a range viewed right before and right after a page. */
import { z } from 'zod'
import { type NextPage, readPageFlow } from '../../../clickhouse/queries/page-flow.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { overviewRowsDefault, overviewRowsMax } from '../../../schemas/limits/overview-limits.ts'
import { pageOfFlow, readPageOfFlow } from '../../../schemas/page-of-flow.ts'
import { PageFlow } from '../../../schemas/resources/page-flow.ts'
import { filterParameters, filtersOf } from '../../../schemas/session-filters.ts'
import { latestEventAt } from '../../../schemas/time/time-zone.ts'
import { defineOperation } from '../define.ts'
import { readableVisitors } from '../people/readable-visitors.ts'
import { perCent } from './metrics.ts'
import { rangeOf, rangeParameters, readableSpan, shownRange } from './range-query.ts'

const PageFlowQuery = z.object({
  ...filterParameters,
  path: pageOfFlow,
  ...rangeParameters,
  limit: laxIntOr(overviewRowsDefault, { ge: 1, le: overviewRowsMax, description: 'Rows of each side.' }),
})

export const readAnalyticsPageFlow = defineOperation({
  name: 'page_flow.read',
  http: { method: 'GET', path: '/v1/analytics/flow' },
  tool: 'svc.analytics_page_flow',
  toolset: 'analytics',
  summary: 'List the pages that visitors viewed right before and right after a page.',
  description: 'The page’s views lie in the period, and in sessions that filters choose.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: PageFlowQuery },
  output: PageFlow,
  async handle(context) {
    const { query, workspace, stores, clock } = context
    return stores.share(JSON.stringify(['page_flow', query, workspace]), async () => {
      const { page, unwanted } = readPageOfFlow(query.path)
      const now = clock.now()
      const rows = await readableVisitors(context)
      const range = rangeOf(query, rows.timezone, now)
      const { asOf, before, after, ...counts } = await readPageFlow(stores.ch, {
        ...rows,
        ...readableSpan(range, rows, now),
        page,
        limit: query.limit,
        // A session with the page needs no filter that chooses it by the page.
        filters: filtersOf({ ...query, path: unwanted }),
        latest: latestEventAt(rows.timezone, now),
      })
      return {
        range: shownRange(range),
        as_of: new Date(asOf).toISOString(),
        readable_from: new Date(rows.since).toISOString(),
        path: page.value,
        ...counts,
        before: shownSide(before, counts.views),
        after: shownSide(after, counts.views),
      }
    })
  },
})

/** @param all views of the page */
function shownSide(pages: readonly NextPage[], all: number): PageFlow['before'] {
  return {
    rows: pages.map(({ path, views }) => ({ path, views, share: perCent(views, all) })),
    other: pages.reduce((left, { views }) => left - views, all),
  }
}
