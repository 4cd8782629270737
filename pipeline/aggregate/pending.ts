/** Events that no aggregate has yet: readers take each of them from the raw rows. */
import { complementOf, idsIn } from '../../clickhouse/aggregates/id-ranges.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { AggregateSnapshot } from '../../schemas/aggregate-snapshot.ts'
import { heavyStatement } from './attempt.ts'

export interface Pending {
  readonly rows: number
  /** When the oldest of them was received; undefined where there are none. Milliseconds since 1970. */
  readonly oldestAt: number | undefined
}

export async function countPending(ch: ClickHouse, { aggregated }: AggregateSnapshot): Promise<Pending> {
  const { sql, params } = idsIn(complementOf(aggregated), 'pending')
  const [found] = await ch.query<{ rows: number; oldest: number }>(
    `SELECT count() AS rows, toUnixTimestamp64Milli(min(arrived_at)) AS oldest FROM events WHERE ${sql}`,
    params,
    heavyStatement,
  )
  return { rows: found!.rows, oldestAt: found!.rows === 0 ? undefined : found!.oldest }
}
