/**
 * Deletes rows of aggregates that don't count: of generations that were replaced, once no reader can hold the list that they
 * were on, and of attempts that died. Only whoever has the work to itself calls it, between two attempts: what is on no
 * list then will never be.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { findUnlisted, forgetGenerations, listLeftGenerations } from '../../postgres/tables/aggregates.ts'
import { aggregateLeftKeepMs, aggregateSweepMax, aggregateUnlistedKeepMs } from '../../schemas/limits.ts'
import { aggregateNames, dropGenerations } from './attempt.ts'
import type { Aggregating } from './run.ts'

/** Returns the number of generations whose rows were deleted. */
export async function deleteUncounted(
  { pg, ch, beforeEach }: Aggregating,
  { leftMs = aggregateLeftKeepMs, unlistedMs = aggregateUnlistedKeepMs } = {},
): Promise<number> {
  const left = await listLeftGenerations(pg, leftMs, aggregateSweepMax)
  await beforeEach()
  await dropGenerations(ch, left)
  await forgetGenerations(pg, left)
  const unlisted = await findUnlisted(pg, await storedGenerations(ch, unlistedMs))
  const portion = unlisted.slice(0, aggregateSweepMax)
  await beforeEach()
  await dropGenerations(ch, portion)
  return left.length + portion.length
}

/** Generations of which nothing was written for `forMs`. */
async function storedGenerations(ch: ClickHouse, forMs: number): Promise<number[]> {
  const rows = await ch.query<{ generation: number }>(
    `SELECT toUInt64(partition) AS generation FROM system.parts
     WHERE database = currentDatabase() AND table IN {names:Array(String)} AND active
     GROUP BY generation HAVING max(modification_time) <= now() - {seconds:UInt32} ORDER BY generation`,
    { names: aggregateNames, seconds: Math.floor(forMs / 1000) },
  )
  return rows.map(({ generation }) => generation)
}
