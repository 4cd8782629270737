/** Segment numbers that ClickHouse has rows of already: a restored disk or a restored Postgres would give them out again. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Log } from '../../runtime/log.ts'
import { streams } from '../../schemas/event/row.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { segmentOfId } from '../log/format.ts'

/** Time for the start to ask ClickHouse about ids: events are taken without its answer, too. */
const startQueryMs = 2_000

/** Ids are of one sequence, whichever table they are in. */
const tables = Object.keys(streams)

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

/** Where used numbers are known, apart from Postgres. */
interface KnownNumbers {
  readonly clickhouse: ClickHouse
  /** Leases of this node, whether it has used them or not. */
  readonly held: () => readonly { readonly end: number }[]
}

/**
 * A Postgres restored from a backup would lease numbers again that ClickHouse has rows of, or that this node holds. Ids
 * grow with the time of receipt, and an event is at most three days older than that: the newest days hold the largest.
 */
export async function raiseLeasesAboveUsed(
  { clickhouse, held }: KnownNumbers,
  raise: (above: number) => Promise<void>,
  log: Log,
): Promise<void> {
  const newest = (table: string) =>
    `(SELECT max(id) FROM ${table} WHERE occurred_at >= (SELECT max(toDate(occurred_at, 'UTC')) FROM ${table}) - 4)`
  let stored = 0
  try {
    const [row] = await clickhouse.query<{ id: number }>(
      `SELECT greatest(${tables.map(newest).join(', ')}) AS id`,
      {},
      { deadlineMs: startQueryMs },
    )
    stored = segmentOfId(row?.id ?? 0)
  } catch (error) {
    log.warn({ err: error }, 'the lease sequence was not compared with what is stored')
  }
  try {
    await raise(Math.max(stored, ...held().map(({ end }) => end - 1)))
  } catch (error) {
    log.warn({ err: error }, 'the lease sequence was not compared with the leases of this node')
  }
}
