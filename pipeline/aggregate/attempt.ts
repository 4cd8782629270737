/**
 * Writes rows of aggregates under the number of one attempt. Nothing of it counts before its generations are listed in the
 * ledger, which takes the definite success of every statement: an attempt that fails or dies is left where it is.
 */

import { randomUUID } from 'node:crypto'
import { type Counted, contributedColumns, contributionsSql } from '../../clickhouse/aggregates/contributions.ts'
import { findChangedConversions } from '../../clickhouse/aggregates/credits.ts'
import { dayOfGeneration, generationOf } from '../../clickhouse/aggregates/live-rows.ts'
import type { RowScope } from '../../clickhouse/aggregates/row-scope.ts'
import {
  sessionContributionsSql,
  sessionSidesSql,
  shortSessionSidesSql,
} from '../../clickhouse/aggregates/session-starts.ts'
import { type AggregateName, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import type { BoundSql } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'
import type { Queryable } from '../../postgres/client.ts'
import { raiseAttempts, takeAttempt } from '../../postgres/tables/aggregates.ts'
import {
  aggregateDeadlineMs,
  aggregateMemoryMax,
  aggregateThreadsMax,
  backgroundNiceness,
  foundConversionsMax,
} from '../../schemas/limits.ts'

export const aggregateNames = Object.keys(aggregateTables) as AggregateName[]

/** The one that every attempt and merge writes first: by its rows generations are found, and it has them until no other has. */
export const findingTable = aggregateNames[0]!

/** Of every statement of the aggregator: inserts and readers come first. What doesn't fit half of its memory goes to the disk. */
export const heavyStatement: QueryOptions = {
  deadlineMs: aggregateDeadlineMs,
  settings: {
    max_memory_usage: aggregateMemoryMax,
    max_bytes_before_external_group_by: aggregateMemoryMax / 2,
    max_bytes_before_external_sort: aggregateMemoryMax / 2,
    max_threads: aggregateThreadsMax,
    os_thread_priority: backgroundNiceness,
    // A fifteenth of the time that sessions take, which take longest. The embedded ClickHouse doesn't, unless it is asked to.
    compile_expressions: 1,
    compile_aggregate_expressions: 1,
  },
}

/** Few parts, whatever the rows; and equal rows of two statements are two rows: generations are told by their number. */
const insertSettings = {
  max_insert_threads: 1,
  min_insert_block_size_rows: 1_000_000,
  min_insert_block_size_bytes: 256 * 1024 * 1024,
  max_partitions_per_insert_block: 0,
  insert_deduplicate: 0,
}

export interface Inserting {
  readonly ch: ClickHouse
  /** Awaited before every statement that takes long; may throw. */
  readonly beforeEach: () => Promise<void>
}

/** Stores what the scope's rows add to a table. */
export async function insertContributions(
  work: Inserting,
  attempt: number,
  name: AggregateName,
  scope: RowScope,
  counted: Counted,
): Promise<void> {
  const { ch, beforeEach } = work
  if (name === 'agg_sessions') return insertSessions(work, attempt, scope)
  await beforeEach()
  let found: Counted['found']
  if (name === 'agg_conversions') {
    found = await findChangedConversions(ch, scope, foundConversionsMax, heavyStatement)
    const isNoneTakenBack = scope.uncounted !== 'everything' || counted.conversions === undefined
    if (found?.ids.length === 0 && isNoneTakenBack) return
    await beforeEach()
  }
  await insertHours(ch, attempt, name, contributionsSql(name, scope, { ...counted, found }))
}

/** Those within a day first, as nearly all are; then the ones that it marked as longer. */
async function insertSessions({ ch, beforeEach }: Inserting, attempt: number, scope: RowScope): Promise<void> {
  const markedAs = randomUUID()
  await beforeEach()
  await insertHours(ch, attempt, 'agg_sessions', sessionContributionsSql(shortSessionSidesSql(scope, markedAs)))
  const isMarked = {
    sql: `generation >= {attempt:UInt64} AND generation < {attempts_end:UInt64}
      AND dimension = 'long' AND detail = {marked_as:String}`,
    params: { attempt: generationOf(attempt, 0), attempts_end: generationOf(attempt + 1, 0), marked_as: markedAs },
  }
  const marked = await ch.query(
    `SELECT 1 FROM agg_sessions WHERE ${isMarked.sql} LIMIT 1`,
    isMarked.params,
    heavyStatement,
  )
  if (marked.length === 0) return
  await beforeEach()
  const isLong = {
    sql: `(workspace_id, session) IN (SELECT workspace_id, toUInt64(key) FROM agg_sessions WHERE ${isMarked.sql})`,
    params: isMarked.params,
  }
  await insertHours(ch, attempt, 'agg_sessions', sessionContributionsSql(sessionSidesSql(scope, isLong)))
}

async function insertHours(ch: ClickHouse, attempt: number, name: AggregateName, hours: BoundSql): Promise<void> {
  const columns = contributedColumns(name).join(', ')
  await insertSelected(ch, `INSERT INTO ${name} (generation, is_day, ${columns})`, {
    sql: `SELECT toUInt64({attempt:UInt64} + intDiv(hour, 24)), 0, ${columns} FROM (${hours.sql})`,
    params: { ...hours.params, attempt: generationOf(attempt, 0) },
  })
}

export async function insertSelected(ch: ClickHouse, into: string, { sql, params }: BoundSql): Promise<void> {
  await ch.command(`${into} ${sql}`, params, {
    ...heavyStatement,
    settings: { ...heavyStatement.settings, ...insertSettings },
  })
}

/** The generations that an attempt has written rows of, ascending; not those of closed days, which share partitions. */
export async function generationsOf(ch: ClickHouse, attempt: number): Promise<{ generation: number; day: number }[]> {
  const rows = await ch.query<{ generation: number }>(
    `SELECT DISTINCT toUInt64(partition) AS generation FROM system.parts
     WHERE database = currentDatabase() AND table IN {names:Array(String)} AND active
       AND generation >= {from:UInt64} AND generation < {until:UInt64} ORDER BY generation`,
    { names: aggregateNames, from: generationOf(attempt, 0), until: generationOf(attempt + 1, 0) },
  )
  return rows.map(({ generation }) => ({ generation, day: dayOfGeneration(generation) }))
}

/** A number that no rows are stored of: a Postgres restored from a backup would give some out again. */
export async function beginAttempt({ pg, ch }: { pg: Queryable; ch: ClickHouse }): Promise<number> {
  const attempt = await takeAttempt(pg)
  const [row] = await ch.query<{ generation: number }>(`SELECT max(generation) AS generation FROM ${findingTable}`)
  const largest = Math.floor((row?.generation ?? 0) / generationOf(1, 0))
  if (attempt > largest) return attempt
  await raiseAttempts(pg, largest)
  return takeAttempt(pg)
}

/** Deletes the rows of generations but those of closed days, which share partitions (closed-rows.ts). Again is no error. */
export async function dropGenerations(ch: ClickHouse, generations: readonly number[]): Promise<void> {
  if (generations.length === 0) return
  const parts = await ch.query<{ table: string; id: string }>(
    `SELECT DISTINCT table, partition_id AS id FROM system.parts
     WHERE database = currentDatabase() AND table IN {names:Array(String)} AND active
       AND toUInt64(partition) IN {generations:Array(UInt64)}`,
    { names: aggregateNames, generations },
  )
  for (const { table, id } of parts) {
    await ch.command('ALTER TABLE {table:Identifier} DROP PARTITION ID {id:String}', { table, id }, heavyStatement)
  }
}
