/**
 * Deletes rows of closed days out of the partitions that these share, which takes a mutation: one that goes through all parts
 * of its table, also those of other partitions. That is many seconds of work, and minutes where ClickHouse was killed in it.
 * So nobody waits for it, a table has one at a time, and the next an hour later: rows that don't count cost but their room.
 */
import { dayOfGeneration } from '../../clickhouse/aggregates/live-rows.ts'
import type { AggregateName } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { aggregateNames, findingTable, heavyStatement } from './attempt.ts'

/** The generations of closed days that have rows. */
export async function closedGenerations(ch: ClickHouse): Promise<number[]> {
  const rows = await ch.query<{ generation: number }>(
    `SELECT DISTINCT generation FROM ${findingTable} WHERE is_closed = 1 ORDER BY generation`,
    {},
    heavyStatement,
  )
  return rows.map(({ generation }) => generation)
}

/**
 * Has rows of generations deleted, as far as there are any, in each table whose last deletion is over and was begun
 * `everyMs` ago.
 * @returns the generations of which there are rows still
 */
export async function deleteClosed(
  ch: ClickHouse,
  generations: readonly number[],
  everyMs: number,
): Promise<ReadonlySet<number>> {
  const left = new Set<number>()
  if (generations.length === 0) return left
  for (const table of [...aggregateNames.filter((name) => name !== findingTable), findingTable]) {
    const stored = await closedRowsOf(ch, table, generations)
    const deletable = table === findingTable ? stored.filter((one) => !left.has(one.generation)) : stored
    if (deletable.length > 0 && (await isItsTurn(ch, table, everyMs))) await beginDeletion(ch, table, deletable)
    for (const { generation } of stored) left.add(generation)
  }
  return left
}

interface ClosedRows {
  readonly partition: string
  readonly generation: number
}

async function closedRowsOf(
  ch: ClickHouse,
  table: AggregateName,
  generations: readonly number[],
): Promise<ClosedRows[]> {
  return ch.query<ClosedRows>(
    `SELECT DISTINCT _partition_id AS partition, generation FROM ${table}
     WHERE _partition_id IN {shared:Array(String)} AND generation IN {generations:Array(UInt64)}`,
    { shared: [...new Set(generations.map(closedPartitionOf))].map(String), generations },
    heavyStatement,
  )
}

/** As the tables are divided: 32 days a partition. */
function closedPartitionOf(generation: number): number {
  return Math.floor(dayOfGeneration(generation) / 32)
}

/** ABORTED: ClickHouse stopped it for something else, such as a partition that is dropped meanwhile, and goes on by itself. */
const goesOn = 'Code: 236.'

/** @throws StoreUnavailable when the last deletion fails */
async function isItsTurn(ch: ClickHouse, table: AggregateName, everyMs: number): Promise<boolean> {
  const [row] = await ch.query<{ unfinished: number; ageMs: number; failure: string }>(
    `SELECT countIf(NOT is_done) AS unfinished, maxIf(latest_fail_reason, NOT is_done AND NOT startsWith(latest_fail_reason, '${goesOn}')) AS failure,
       1000 * (toUnixTimestamp(now()) - toUnixTimestamp(max(create_time))) AS ageMs
     FROM system.mutations WHERE database = currentDatabase() AND table = {table:String}`,
    { table },
  )
  const { unfinished, ageMs, failure } = row!
  if (failure !== '') throw new StoreUnavailable('clickhouse', `rows of ${table} can't be deleted: ${failure}`)
  return unfinished === 0 && ageMs >= everyMs
}

async function beginDeletion(ch: ClickHouse, table: AggregateName, rows: readonly ClosedRows[]): Promise<void> {
  for (const id of new Set(rows.map(({ partition }) => partition))) {
    await ch.command(
      `ALTER TABLE ${table} DELETE IN PARTITION ID {id:String} WHERE generation IN {generations:Array(UInt64)}`,
      { id, generations: rows.filter(({ partition }) => partition === id).map(({ generation }) => generation) },
      { ...heavyStatement, settings: { ...heavyStatement.settings, mutations_sync: 0 } },
    )
  }
}
