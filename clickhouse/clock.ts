/** The clock of the machine that ClickHouse runs on. */
import type { ClickHouse } from './client.ts'
import type { QueryOptions } from './query-options.ts'

/** Whole milliseconds since 1970. */
export async function readClickHouseClock(ch: Pick<ClickHouse, 'query'>, options: QueryOptions = {}): Promise<number> {
  const sql = 'SELECT toUnixTimestamp64Milli(now64(3)) AS ms'
  const [row] = await ch.query<{ ms: number }>(sql, {}, options)
  return row!.ms
}
