import { migrateClickHouse } from '../../clickhouse/migrate.ts'
import { migratePostgres } from '../../postgres/migrate.ts'
import { defineCommand } from '../command.ts'

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'Bring Postgres and ClickHouse to the present schema; what has run is left alone.',
  options: {},
  async run({ installation }) {
    // Both are looked up before either is changed, so that a missing setting leaves nothing half done.
    const pg = installation.postgres()
    const ch = installation.clickhouse()
    return { postgres: await migratePostgres(pg), clickhouse: await migrateClickHouse(ch) }
  },
  show: ({ postgres, clickhouse }) =>
    [`postgres: ${postgres.join(', ') || 'up to date'}`, `clickhouse: ${clickhouse.join(', ') || 'up to date'}`].join(
      '\n',
    ),
})
