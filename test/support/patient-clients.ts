/** Clients of stores for tests: a statement waits as long as the machine needs. Services have their own deadlines. */
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import { connectPostgres, type Postgres, type PostgresOptions } from '../../postgres/client.ts'

/** Only against hanging: machines have stopped for seconds. */
export const patientMs = 60_000

export function patientPostgres(url: string, options: PostgresOptions = {}): Postgres {
  return connectPostgres(url, { deadlineMs: patientMs, ...options })
}

export function patientClickHouse(url: string): ClickHouse {
  const ch = connectClickHouse(url)
  const deadlineMs = patientMs
  return {
    ...ch,
    query: (sql, params, options) => ch.query(sql, params, { deadlineMs, ...options }),
    batches: (sql, params, options) => ch.batches(sql, params, { deadlineMs, ...options }),
    command: (sql, params, options) => ch.command(sql, params, { deadlineMs, ...options }),
  }
}
