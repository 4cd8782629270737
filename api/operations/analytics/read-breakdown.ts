/** GET /v1/analytics/breakdown: the sessions of a range by one of their properties. */
import { z } from 'zod'
import { readBreakdown } from '../../../clickhouse/queries/breakdown.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { breakdownRowsMax, overviewRowsDefault } from '../../../schemas/limits/overview-limits.ts'
import { languageName } from '../../../schemas/reference/language-names.ts'
import { cityLabel, regionLabel } from '../../../schemas/reference/places.ts'
import { screenClasses } from '../../../schemas/reference/screen-classes.ts'
import { Breakdown, type BreakdownName, breakdownNames } from '../../../schemas/resources/breakdown.ts'
import { filterParameters, filtersOf } from '../../../schemas/session-filters.ts'
import { defineOperation } from '../define.ts'
import { readableVisitors } from '../people/readable-visitors.ts'
import { countryLabel, deviceLabel } from './lists.ts'
import { perCent, ratio } from './metrics.ts'
import { rangeOf, rangeParameters, readableSpan, shownRange } from './range-query.ts'

const BreakdownQuery = z.object({
  ...rangeParameters,
  by: z.enum(breakdownNames).default('source').describe('What sessions are counted by.'),
  limit: laxIntOr(overviewRowsDefault, { ge: 1, le: breakdownRowsMax, description: 'Rows of a list.' }),
  ...filterParameters,
})

const labels: Partial<Record<BreakdownName, (key: string, regionName: string) => string>> = {
  device: deviceLabel,
  country: countryLabel,
  region: regionLabel,
  city: cityLabel,
  language: languageName,
  screen: (key) => screenClasses.find((its) => its.key === key)?.label ?? key,
}

export const readAnalyticsBreakdown = defineOperation({
  name: 'breakdown.read',
  http: { method: 'GET', path: '/v1/analytics/breakdown' },
  tool: 'svc.analytics_breakdown',
  summary: 'Count the sessions that began in a period by one property.',
  description: 'Filters choose sessions.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: BreakdownQuery },
  output: Breakdown,
  async handle(context) {
    const { query, workspace, stores, clock } = context
    return stores.share(JSON.stringify(['breakdown', query, workspace]), async () => {
      const { by, limit } = query
      const rows = await readableVisitors(context)
      const range = rangeOf(query, rows.timezone, clock.now())
      const span = readableSpan(range, rows, clock.now())
      const groups = await readBreakdown(stores.ch, { ...rows, ...span, by, limit, filters: filtersOf(query) })
      const labelOf = (key: string, name: string) => (key === 'unknown' ? 'Unknown' : (labels[by]?.(key, name) ?? key))
      return {
        range: shownRange(range),
        by,
        rows: groups.map(({ key, region_name, visitors, sessions, bounces, duration_ms }) => ({
          key,
          label: labelOf(key, region_name),
          visitors,
          sessions,
          bounce_rate: perCent(bounces, sessions),
          average_session_seconds: ratio(duration_ms, sessions * 1000),
        })),
      }
    })
  },
})
