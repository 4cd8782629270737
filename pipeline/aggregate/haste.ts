/**
 * When the aggregator stops giving way to others. Where a machine has more to do than it can, what gives way isn't done; but the
 * more rows wait to be aggregated, the more does every answer take, and the less is left for aggregating them.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'
import { aggregateEveryMs, aggregateRowsPerRun } from '../../schemas/limits.ts'

/**
 * Whether a run comes later than the longest pause, where many rows come.
 * @param rowsOfLast that the run before took up
 * @param sinceLastMs since it began
 */
export function isLate({ rowsOfLast, sinceLastMs }: { rowsOfLast: number; sinceLastMs: number }): boolean {
  return rowsOfLast > aggregateRowsPerRun && sinceLastMs > aggregateEveryMs
}

/** Its statements are as nice as those of answers. */
export function inHaste(ch: ClickHouse): ClickHouse {
  const hurried = <Row>(options: QueryOptions<Row> = {}) => ({
    ...options,
    settings: { ...options.settings, os_thread_priority: 0 },
  })
  return {
    ...ch,
    query: (sql, params, options) => ch.query(sql, params, hurried(options)),
    command: (sql, params, options) => ch.command(sql, params, hurried(options)),
  }
}
