/** A workspace's figures at a glance: those of its overview for the same days, without its lists. */
import type { z } from 'zod'
import { readOverview } from '../../../clickhouse/queries/overview/read-overview.ts'
import { glanceDays } from '../../../schemas/limits/overview-limits.ts'
import type { GlanceFigures } from '../../../schemas/resources/workspace-glance.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { bucketsOf } from '../../../schemas/time/time-range.ts'
import type { FigureContext } from '../define.ts'
import { answerConsistently, buildAndCellsOf } from './consistent-answer.ts'
import { rangeOf } from './range-query.ts'

type Glance = z.output<typeof GlanceFigures>

/** Two statements of ClickHouse. @returns undefined before the first event */
export function readGlance(context: Omit<FigureContext, 'scopes' | 'config'>): Promise<Glance | undefined> {
  const { workspace, stores, clock } = context
  return stores.share(JSON.stringify(['glance', workspace]), () =>
    answerConsistently(context, async (build): Promise<Glance | undefined> => {
      if (build === undefined) return undefined
      const now = clock.now()
      const { timezone } = build
      const range = rangeOf({ days: glanceDays }, timezone, now)
      const buckets = bucketsOf(range)
      const { current, previous, series, liveVisitors } = await readOverview(stores.ch, {
        workspaceId: workspace.id,
        range,
        buckets,
        now,
        ...buildAndCellsOf(build),
        readableFrom: readableFrom({ ...workspace, timezone }, now),
        limit: 1,
        pageLimit: 1,
        filters: undefined,
        parts: new Set(['totals'] as const),
      })
      return {
        live_visitors: liveVisitors,
        visitors: current.visitors,
        pageviews: current.pageviews,
        previous: previous === undefined ? null : { visitors: previous.visitors, pageviews: previous.pageviews },
        days: buckets.map(({ label }, at) => ({ day: label, visitors: series[at]!.visitors })),
      }
    }),
  )
}
