/** ClickHouse as one call may ask it: its statements together end by one deadline, however many follow one another. */
import type { ClickHouse } from '../../clickhouse/client.ts'

type Reader = Pick<ClickHouse, 'query'>

export function timedReader(ch: Reader, withinMs: number): Reader {
  const end = performance.now() + withinMs
  return {
    query: (sql, params, options) => {
      const deadlineMs = Math.max(1, end - performance.now())
      return ch.query(sql, params, { ...options, deadlineMs })
    },
  }
}
