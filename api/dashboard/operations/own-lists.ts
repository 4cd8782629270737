/** The overview for the dashboard alone: its lists as a whole have more rows than a client may ask for. */
import { ownListRowsMax } from '../../../schemas/limits/overview-limits.ts'
import { AnalyticsOverview } from '../../../schemas/resources/overview.ts'
import { computeOverview, overviewQueryOf } from '../../operations/analytics/read-overview.ts'
import { defineOperation } from '../../operations/define.ts'

export const readOwnLists = defineOperation({
  name: 'overview.read_lists',
  http: { method: 'GET', path: '/v1/analytics/lists' },
  summary: 'Read the overview with long lists.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  input: { query: overviewQueryOf(ownListRowsMax) },
  output: AnalyticsOverview,
  handle: computeOverview,
})
