/** GET /v1/analytics/goals: how many visitors of a range did what the workspace wants them to do. */
import { z } from 'zod'
import { type GoalCounts, readGoals } from '../../../clickhouse/queries/goals.ts'
import { goalRows, type StoredGoal } from '../../../postgres/tables/figures/goals.ts'
import { type FunnelStep, readStep } from '../../../schemas/funnel-steps.ts'
import { GoalFigures } from '../../../schemas/resources/goal.ts'
import { viewScope } from '../../../schemas/scopes.ts'
import { filterParameters, filtersOf, readPattern } from '../../../schemas/session-filters.ts'
import type { Span } from '../../../schemas/time/time-range.ts'
import { defineOperation } from '../define.ts'
import { readableVisitors } from '../people/readable-visitors.ts'
import { perCent } from './metrics.ts'
import { comparedSpan, compareParameter, rangeOf, rangeParameters, readableSpan, shownRange } from './range-query.ts'

const GoalsQuery = z.object({ ...rangeParameters, compare: compareParameter('previous'), ...filterParameters })

export const readAnalyticsGoals = defineOperation({
  name: 'goals.read',
  http: { method: 'GET', path: '/v1/analytics/goals' },
  tool: 'svc.analytics_goals',
  toolset: 'analytics',
  summary: 'Count the visitors of a period who reached the goals.',
  description: 'Filters choose sessions.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: GoalsQuery },
  output: GoalFigures,
  async handle(context) {
    const { query, workspace, stores, clock } = context
    const goals = await goalRows.list(stores.pg, workspace.id)
    const answer = await stores.share(JSON.stringify(['goals', query, workspace, goals]), async () => {
      const rows = await readableVisitors(context)
      const range = rangeOf(query, rows.timezone, clock.now())
      const request = {
        ...rows,
        filters: filtersOf(query),
        goals: goals.map(stepOf),
      }
      const countsOf = (span: Span) => readGoals(stores.ch, { ...request, ...readableSpan(span, rows, clock.now()) })
      const previous = comparedSpan(range, rows.since)
      const [counts, before] = await Promise.all([countsOf(range), previous ? countsOf(previous) : null])
      const figures = goals.map(({ created_at: _, ...goal }, at) => ({
        ...goal,
        object_id: `goal_${goal.id}`,
        ...shownCounts(counts, at),
        previous: before && shownCounts(before, at),
      }))
      const order = (one: (typeof figures)[number], other: typeof one) =>
        other.visitors - one.visitors || other.completions - one.completions || other.id - one.id
      return { range: shownRange(range), visitors: counts.visitors, rows: figures.sort(order) }
    })
    // A property may hold anything, such as an e-mail.
    const isShared = context.scopes.includes(viewScope)
    return isShared ? { ...answer, rows: answer.rows.map((row) => ({ ...row, property: null })) } : answer
  },
})

function stepOf({ kind, value, property }: StoredGoal): FunnelStep {
  const step = readStep(`${kind}:${value}`)!
  return property === null ? step : { ...step, property: { name: property.name, pattern: readPattern(property.value) } }
}

function shownCounts({ visitors: all, goals }: GoalCounts, at: number) {
  const { visitors, completions } = goals[at]!
  return { visitors, completions, conversion_rate: perCent(visitors, all) }
}
