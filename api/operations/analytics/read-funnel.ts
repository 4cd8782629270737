/** GET /v1/analytics/funnel: how many visitors of a range went through some steps in order. */
import { z } from 'zod'
import { readFunnel, type StepCount } from '../../../clickhouse/queries/funnel.ts'
import { type FunnelStep, funnelParameters, readStep } from '../../../schemas/funnel-steps.ts'
import { funnelSessionHours } from '../../../schemas/limits/overview-limits.ts'
import { Funnel } from '../../../schemas/resources/funnel.ts'
import { filterParameters, filtersOf } from '../../../schemas/session-filters.ts'
import { dayMs, hourMs, latestEventAt } from '../../../schemas/time/time-zone.ts'
import { defineOperation } from '../define.ts'
import { readableVisitors } from '../people/readable-visitors.ts'
import { perCent, ratio } from './metrics.ts'
import { rangeOf, rangeParameters, readableSpan, shownRange } from './range-query.ts'

const FunnelQuery = z.object({ ...funnelParameters, ...rangeParameters, ...filterParameters })

export const readAnalyticsFunnel = defineOperation({
  name: 'funnel.read',
  http: { method: 'GET', path: '/v1/analytics/funnel' },
  tool: 'svc.analytics_funnel',
  summary: 'Count the visitors who went through some steps in order.',
  description: 'The first step lies in the period, and in a session that filters choose.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: FunnelQuery },
  output: Funnel,
  async handle(context) {
    const { query, workspace, stores, clock } = context
    return stores.share(JSON.stringify(['funnel', query, workspace]), async () => {
      const { within } = query
      const steps = query.step.map((text) => readStep(text)!)
      const rows = await readableVisitors(context)
      const range = rangeOf(query, rows.timezone, clock.now())
      const isOfSession = within === 'session'
      const counts = await readFunnel(stores.ch, {
        ...rows,
        ...readableSpan(range, rows, clock.now()),
        filters: filtersOf(query),
        steps,
        isOfSession,
        withinMs: isOfSession ? funnelSessionHours * hourMs : Number(within) * dayMs,
        latest: latestEventAt(rows.timezone, clock.now()),
      })
      return { range: shownRange(range), within, steps: shownSteps(steps, counts) }
    })
  },
})

/** @param counts of the first steps, as far as anybody came */
function shownSteps(steps: readonly FunnelStep[], counts: readonly StepCount[]): Funnel['steps'] {
  const visitorsOf = (at: number) => counts[at]?.visitors ?? 0
  return steps.map(({ kind, value }, at) => {
    const visitors = visitorsOf(at)
    const before = visitorsOf(Math.max(0, at - 1))
    return {
      kind,
      value,
      visitors,
      share_of_first: perCent(visitors, visitorsOf(0)),
      share_of_previous: perCent(visitors, before),
      dropped: before - visitors,
      median_seconds_from_previous: at === 0 || visitors === 0 ? null : ratio(counts[at]!.median_ms, 1000),
    }
  })
}
