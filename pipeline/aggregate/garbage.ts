/**
 * Deletes rows of aggregates that don't count: of generations that were replaced, once no reader can hold the list that they
 * were on, and of attempts that died.
 */
import { generationOf } from '../../clickhouse/aggregates/live-rows.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import {
  commitToLedger,
  findUnlisted,
  forgetGenerations,
  listLeftGenerations,
  readProgress,
} from '../../postgres/tables/aggregates.ts'
import {
  aggregateClosedDeletionMs,
  aggregateLeftKeepMs,
  aggregateSweepMax,
  aggregateUnlistedKeepMs,
} from '../../schemas/limits.ts'
import { aggregateNames, dropGenerations } from './attempt.ts'
import { closedGenerations, deleteClosed } from './closed-rows.ts'
import type { Aggregating } from './run.ts'

/**
 * Returns the number of generations that were to be deleted: 0 when none is left. Of closed days the rows go while others
 * are worked on, and a later call forgets the generation.
 */
export async function deleteUncounted(
  { pg, ch, beforeEach }: Aggregating,
  {
    leftMs = aggregateLeftKeepMs,
    unlistedMs = aggregateUnlistedKeepMs,
    closedEveryMs = aggregateClosedDeletionMs,
  } = {},
): Promise<number> {
  await abandonDead({ pg, ch }, unlistedMs)
  const left = await listLeftGenerations(pg, leftMs, aggregateSweepMax)
  await beforeEach()
  await dropGenerations(ch, left)
  await beforeEach()
  const stored = await deleteClosed(ch, left, closedEveryMs)
  await forgetGenerations(
    pg,
    left.filter((generation) => !stored.has(generation)),
  )
  return left.length
}

/** Has those that were never listed count as left. */
async function abandonDead({ pg, ch }: Pick<Aggregating, 'pg' | 'ch'>, forMs: number): Promise<void> {
  const { revision } = await readProgress(pg)
  const stored = [...(await storedGenerations(ch, forMs)), ...(await closedGenerations(ch))]
  const abandoned = (await findUnlisted(pg, stored)).slice(0, aggregateSweepMax)
  if (abandoned.length > 0) await commitToLedger(pg, { revision, abandoned })
}

/** Generations of which nothing was written for `forMs`, but for those of closed days, which share partitions. */
async function storedGenerations(ch: ClickHouse, forMs: number): Promise<number[]> {
  const rows = await ch.query<{ generation: number }>(
    `SELECT toUInt64(partition) AS generation FROM system.parts
     WHERE database = currentDatabase() AND table IN {names:Array(String)} AND active
       AND generation >= {from:UInt64}
     GROUP BY generation HAVING max(modification_time) <= now() - {seconds:UInt32} ORDER BY generation`,
    { names: aggregateNames, from: generationOf(1, 0), seconds: Math.floor(forMs / 1000) },
  )
  return rows.map(({ generation }) => generation)
}
