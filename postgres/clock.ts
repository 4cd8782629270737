/** The clock of the machine that Postgres runs on. */
import type { Queryable, QueryOptions } from './client.ts'

/** SQL of a time in whole milliseconds since 1970. */
export function milliseconds(time: string): string {
  return `floor(extract(epoch FROM ${time}) * 1000)::bigint`
}

/** SQL of an interval of so many milliseconds. */
export function intervalOf(ms: string): string {
  return `${ms}::float8 * interval '1 millisecond'`
}

/** Whole milliseconds since 1970. */
export async function readPostgresClock(q: Queryable, options: QueryOptions = {}): Promise<number> {
  // Not now(): in a transaction that is the time of its beginning.
  const sql = `SELECT ${milliseconds('clock_timestamp()')} AS ms`
  const [row] = await q.query<{ ms: number }>(sql, [], options)
  return row!.ms
}
