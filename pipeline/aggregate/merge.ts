/** Merges generations of a day into one, which takes their place in the ledger. */
import type { Condition } from '../../clickhouse/aggregates/id-ranges.ts'
import { generationOf, liveRowsIn } from '../../clickhouse/aggregates/live-rows.ts'
import { type AggregateName, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { type AggregationState, commitToLedger, readAggregationState } from '../../postgres/tables/aggregates.ts'
import { aggregateMergeMs } from '../../schemas/limits.ts'
import { aggregateNames, beginAttempt, dropGenerations, heavyStatement, insertSelected } from './attempt.ts'
import { liveRowsOf } from './live.ts'
import { type Merge, nextMerge } from './merge-plan.ts'
import type { Aggregating } from './run.ts'

/**
 * Merges what is due, for a bounded time.
 * @param isAllTaken whether no rows wait to be aggregated
 * @returns whether something is left to be merged
 */
export async function mergeDue(work: Aggregating, isAllTaken: boolean): Promise<boolean> {
  const endAt = performance.now() + aggregateMergeMs
  for (;;) {
    const state = await readAggregationState(work.pg, 0)
    const merge = nextMerge(state, isAllTaken)
    if (merge === undefined) return false
    await mergeGenerations(work, state, merge)
    if (performance.now() > endAt) return true
  }
}

/** By workspace, the hour before which nothing is kept. */
export type KeptHours = ReadonlyMap<number, number>

/** SQL condition over any aggregate table: the row is kept. */
export function keptHoursOf(kept: KeptHours): Condition {
  return {
    sql: 'hour >= transform(workspace_id, {kept_workspaces:Array(UInt32)}, {kept_hours:Array(UInt32)}, toUInt32(0))',
    params: { kept_workspaces: [...kept.keys()], kept_hours: [...kept.values()] },
  }
}

/**
 * Puts one generation in the place of several, without the hours that aren't kept.
 * @param kept undefined: all are
 * @returns false when another change was committed meanwhile; nothing is changed then
 */
export async function mergeGenerations(
  { pg, ch, beforeEach }: Aggregating,
  state: AggregationState,
  merge: Merge,
  kept: KeptHours = new Map(),
): Promise<boolean> {
  const attempt = await beginAttempt({ pg, ch })
  for (const name of aggregateNames) {
    await beforeEach()
    await mergeHours(ch, attempt, name, { state, merge, kept })
    if (merge.isWhole && aggregateTables[name].hasDays) {
      await beforeEach()
      await mergeDay(ch, generationOf(attempt, merge.day), name)
    }
  }
  const lastAt = Math.max(...merge.from.map((one) => one.lastAt))
  const generation = generationOf(attempt, merge.day)
  // None, where everything in it was taken back, or isn't kept.
  const written = (await hasRows(ch, generation)) ? [{ generation, day: merge.day }] : []
  const isCommitted = await commitToLedger(pg, {
    revision: state.revision,
    added: written.map((one) => ({ ...one, level: merge.level, isWhole: merge.isWhole, lastAt })),
    removed: merge.from.map(({ generation }) => generation),
  })
  if (!isCommitted) await dropGenerations(ch, [generation])
  return isCommitted
}

/** What counts no more because its hour was computed anew is left out, and so is what came to nothing. */
async function mergeHours(
  ch: ClickHouse,
  attempt: number,
  name: AggregateName,
  { state, merge, kept }: { state: AggregationState; merge: Merge; kept: KeptHours },
): Promise<void> {
  const { keys, columns } = aggregateTables[name]
  const { day, from } = merge
  const live = liveRowsIn(liveRowsOf({ generations: from, resets: state.resets }, day * 24, (day + 1) * 24))
  const isKept = kept.size === 0 ? { sql: '1', params: {} } : keptHoursOf(kept)
  const group = ['workspace_id', 'is_day', 'hour', ...keys].join(', ')
  const sums = Object.entries(columns).filter(([, { merge }]) => merge === 'sum(?)')
  const isRetraction = name === 'agg_sessions' ? "dimension = 'retracted'" : '0'
  await insertSelected(
    ch,
    `INSERT INTO ${name} (generation, is_closed, ${group}, ${Object.keys(columns).join(', ')})`,
    {
      sql: `SELECT {generation:UInt64}, {closed:UInt8}, ${group}, ${mergedColumns(name)} FROM ${name}
      WHERE is_day = 0 AND ${live.sql} AND NOT ${isRetraction} AND ${isKept.sql}
      GROUP BY ${group} ${sums.length === 0 ? '' : `HAVING ${sums.map(([column]) => `sum(${column}) != 0`).join(' OR ')}`}`,
      params: {
        ...live.params,
        ...isKept.params,
        generation: generationOf(attempt, day),
        closed: merge.isWhole ? 1 : 0,
      },
    },
  )
}

/** The rows of the whole day, made of the merged rows of its hours. */
async function mergeDay(ch: ClickHouse, generation: number, name: AggregateName): Promise<void> {
  const { keys, columns } = aggregateTables[name]
  const group = ['workspace_id', ...keys].join(', ')
  await insertSelected(
    ch,
    `INSERT INTO ${name} (generation, is_closed, is_day, hour, ${group}, ${Object.keys(columns).join(', ')})`,
    {
      sql: `SELECT {generation:UInt64}, 1, 1, intDiv(min(hour), 24) * 24, ${group}, ${mergedColumns(name)} FROM ${name}
      WHERE is_day = 0 AND generation = {generation:UInt64} GROUP BY ${group}`,
      params: { generation },
    },
  )
}

/** Whether any table has: of events after midnight the day before has but the sessions that they belong to. */
async function hasRows(ch: ClickHouse, generation: number): Promise<boolean> {
  for (const name of aggregateNames) {
    const rows = await ch.query(
      `SELECT 1 FROM ${name} WHERE generation = {generation:UInt64} LIMIT 1`,
      { generation },
      heavyStatement,
    )
    if (rows.length > 0) return true
  }
  return false
}

function mergedColumns(name: AggregateName): string {
  return Object.entries(aggregateTables[name].columns)
    .map(([column, { merge }]) => merge.replaceAll('?', column))
    .join(', ')
}
