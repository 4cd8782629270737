/** Segment numbers that ClickHouse has rows of already: a restored disk or a restored Postgres would give them out again. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Log } from '../../runtime/log.ts'
import { streams } from '../../schemas/event/row.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { segmentOfId } from '../log/format.ts'

/** Time for the start to ask ClickHouse about ids: events are taken without its answer, too. */
const startQueryMs = 2_000

/** Ids are of one sequence, whichever table they are in. */
const tables = Object.values(streams).map(({ table }) => table)

/** Null while ClickHouse can't say: the lease is believed then. */
export async function areNumbersUsed(clickhouse: ClickHouse, first: number, end: number): Promise<boolean | null> {
  const ask = (table: string) =>
    clickhouse.query(
      `SELECT 1 FROM ${table} WHERE id >= {first:UInt64} AND id < {end:UInt64} LIMIT 1`,
      { first: first * segmentRowsMax, end: end * segmentRowsMax },
      { deadlineMs: startQueryMs },
    )
  return Promise.all(tables.map(ask)).then(
    (answers) => answers.some((rows) => rows.length > 0),
    () => null,
  )
}

/**
 * A Postgres restored from a backup would lease numbers again that ClickHouse has rows of. Ids grow with the time of
 * receipt, and an event is at most three days older than that: the newest days hold the largest.
 */
export async function raiseLeasesAboveStored(
  clickhouse: ClickHouse,
  raise: (above: number) => Promise<void>,
  log: Log,
): Promise<void> {
  const newest = (table: string) =>
    `(SELECT max(id) FROM ${table} WHERE occurred_at >= (SELECT max(toDate(occurred_at, 'UTC')) FROM ${table}) - 4)`
  try {
    const [row] = await clickhouse.query<{ id: number }>(
      `SELECT greatest(${tables.map(newest).join(', ')}) AS id`,
      {},
      { deadlineMs: startQueryMs },
    )
    if (row && row.id > 0) await raise(segmentOfId(row.id))
  } catch (error) {
    log.warn({ err: error }, 'the lease sequence was not compared with what is stored')
  }
}
