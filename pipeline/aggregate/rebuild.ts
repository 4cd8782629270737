/** Computes whole days from the raw rows, whatever the aggregates say of them now. */
import { generationOf } from '../../clickhouse/aggregates/live-rows.ts'
import { commitToLedger, rangesOf, readAggregationState } from '../../postgres/tables/aggregates.ts'
import { beginAttempt, dropGenerations } from './attempt.ts'
import { usualSizes } from './pieces.ts'
import { recompute } from './recompute.ts'
import { wholeDayPlan } from './recompute-plan.ts'
import { type Aggregating, lastAtsOf, writtenBy } from './run.ts'

/**
 * Replaces all generations of a UTC day in one commit. Conversions of later days keep what they are credited to.
 * @throws when another process commits meanwhile; nothing is changed then
 */
export async function rebuildDay({ pg, ch, beforeEach, sizes = usualSizes }: Aggregating, day: number): Promise<void> {
  const state = await readAggregationState(pg, 0)
  const attempt = await beginAttempt({ pg, ch })
  const visible = rangesOf(state.aggregated)
  const { lastAts } = await recompute({ ch, attempt, listed: state, visible, beforeEach, sizes }, wholeDayPlan(day))
  const added = await writtenBy(ch, attempt, lastAtsOf(state, lastAts))
  const removed = state.generations.filter((one) => one.day === day).map(({ generation }) => generation)
  if (await commitToLedger(pg, { revision: state.revision, added, removed })) return
  await dropGenerations(ch, [generationOf(attempt, day)])
  throw new Error('another process has changed the aggregates meanwhile')
}
