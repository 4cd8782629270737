/**
 * Merges generations of a day into one, which takes their place in the ledger, and whole days into blocks, which stand beside
 * theirs: a reader of a month takes a few rows of each key instead of one for each day.
 */
import { generationOf, liveRowsIn } from '../../clickhouse/aggregates/live-rows.ts'
import { type AggregateName, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import type { BoundSql } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { type AggregationState, commitToLedger, readAggregationState } from '../../postgres/tables/aggregates.ts'
import { aggregateMergeMs } from '../../schemas/limits.ts'
import { aggregateNames, beginAttempt, dropGenerations, heavyStatement, insertSelected } from './attempt.ts'
import { type Block, nextBlock } from './block-plan.ts'
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
    const block = merge === undefined && isAllTaken ? nextBlock(state) : undefined
    if (merge !== undefined) await mergeGenerations(work, state, merge)
    else if (block !== undefined) await writeBlock(work, state, block)
    else return false
    if (performance.now() > endAt) return true
  }
}

/** By workspace, the hour before which nothing is kept. */
export type KeptHours = ReadonlyMap<number, number>

/** SQL condition over any aggregate table: the row is kept. */
export function keptHoursOf(kept: KeptHours): BoundSql {
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
      const generation = generationOf(attempt, merge.day)
      await mergeDays(ch, name, { generation, firstDay: merge.day, from: [generation], isBlock: false })
    }
  }
  // It holds what they held, and nothing new comes with it; but where something is left out, it is as if all of it were new.
  const isComplete = kept.size === 0 && state.resets.every(({ hour }) => Math.floor(hour / 24) !== merge.day)
  const merged = {
    ...{ level: merge.level, isWhole: merge.isWhole },
    lastAt: Math.max(...merge.from.map((one) => one.lastAt)),
    newest: isComplete ? Math.max(...merge.from.map((one) => one.newest)) : attempt,
    parts: merge.from.reduce((sum, { parts }) => sum + parts, 0),
  }
  const generation = generationOf(attempt, merge.day)
  // None, where everything in it was taken back, or isn't kept.
  const written = (await hasRows(ch, generation)) ? [{ generation, day: merge.day }] : []
  const isCommitted = await commitToLedger(pg, {
    revision: state.revision,
    added: written.map((one) => ({ ...one, ...merged })),
    removed: merge.from.map(({ generation }) => generation),
  })
  if (!isCommitted) await dropGenerations(ch, [generation])
  return isCommitted
}

/**
 * Merges the rows of whole days, beside which the new generation stands.
 * @returns false when another change was committed meanwhile; nothing is changed then
 */
async function writeBlock(
  { pg, ch, beforeEach }: Aggregating,
  state: AggregationState,
  block: Block,
): Promise<boolean> {
  const { firstDay, days, from, replaced } = block
  const generation = generationOf(await beginAttempt({ pg, ch }), firstDay)
  for (const name of aggregateNames.filter((one) => aggregateTables[one].hasDays)) {
    await beforeEach()
    await mergeDays(ch, name, { generation, firstDay, from, isBlock: true })
  }
  const isCommitted = await commitToLedger(pg, {
    revision: state.revision,
    block: { generation, firstDay, days },
    removed: replaced,
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
  const isMark = name === 'agg_sessions' ? "dimension IN ('retracted', 'long')" : '0'
  await insertSelected(
    ch,
    `INSERT INTO ${name} (generation, is_closed, ${group}, ${Object.keys(columns).join(', ')})`,
    {
      sql: `SELECT {generation:UInt64}, {closed:UInt8}, ${group}, ${mergedColumns(name)} FROM ${name}
      WHERE is_day = 0 AND ${live.sql} AND NOT ${isMark} AND ${isKept.sql}
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

/**
 * Writes rows of whole days, one of each key: of the hours of a generation, or, for a block, of the days of several. Blocks
 * have partitions of their own: a reader that wants the one state of a month must not go through those of its days.
 */
async function mergeDays(
  ch: ClickHouse,
  name: AggregateName,
  {
    generation,
    firstDay,
    from,
    isBlock,
  }: { generation: number; firstDay: number; from: readonly number[]; isBlock: boolean },
): Promise<void> {
  const { keys, columns } = aggregateTables[name]
  const group = ['workspace_id', ...keys].join(', ')
  await insertSelected(
    ch,
    `INSERT INTO ${name} (generation, is_closed, is_day, hour, ${group}, ${Object.keys(columns).join(', ')})`,
    {
      sql: `SELECT {generation:UInt64}, {closed:UInt8}, 1, {first_hour:UInt32}, ${group}, ${mergedColumns(name)} FROM ${name}
      WHERE is_day = {from_days:UInt8} AND generation IN {from:Array(UInt64)} GROUP BY ${group}`,
      params: { generation, closed: isBlock ? 0 : 1, from_days: isBlock ? 1 : 0, first_hour: firstDay * 24, from },
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
