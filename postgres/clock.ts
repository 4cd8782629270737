/** The clock of the machine that Postgres runs on. */
import type { Queryable, QueryOptions } from './client.ts'

/** Whole milliseconds since 1970. */
export async function readPostgresClock(q: Queryable, options: QueryOptions = {}): Promise<number> {
  // Not now(): in a transaction that is the time of its beginning.
  const sql = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms'
  const [row] = await q.query<{ ms: number }>(sql, [], options)
  return row!.ms
}
