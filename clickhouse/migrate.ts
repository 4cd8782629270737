/**
 * Brings a ClickHouse database to the present schema. ClickHouse has neither transactions nor locks for it, so every
 * statement of a migration must be repeatable (IF NOT EXISTS). After a kill in the middle, or when two processes
 * migrate at once, it is run again. Held by test/integration/migrations.test.ts.
 */
import { type AppliedMigration, pendingMigrations, readMigrations, splitStatements } from '../runtime/migrations.ts'
import { projectFile } from '../runtime/paths.ts'
import type { ClickHouse } from './client.ts'

/** A migration may rewrite a large table. */
const deadlineMs = 60 * 60_000

/**
 * Makes the database when there is none and runs what hasn't run.
 * @returns the names of the migrations that were run
 */
export async function migrateClickHouse(ch: ClickHouse): Promise<string[]> {
  await ch.createDatabase()
  await ch.command(`CREATE TABLE IF NOT EXISTS schema_migrations (name String, checksum String, applied_at DateTime DEFAULT now())
    ENGINE = MergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`)
  const applied = await readApplied(ch)
  const pending = pendingMigrations(readMigrations(projectFile('clickhouse/migrations')), applied)
  for (const { name, sql, checksum } of pending) {
    for (const statement of splitStatements(sql)) await ch.command(statement, {}, { deadlineMs })
    await ch.command('INSERT INTO schema_migrations (name, checksum) SELECT {name:String}, {checksum:String}', {
      name,
      checksum,
    })
  }
  return pending.map(({ name }) => name)
}

/**
 * The migrations that `migrateClickHouse` would run; changes nothing.
 * @throws when the database has run something that this version doesn't know
 */
export async function pendingInClickHouse(ch: ClickHouse): Promise<string[]> {
  const found = await ch.query(
    `SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'`,
  )
  const applied = found.length > 0 ? await readApplied(ch) : []
  return pendingMigrations(readMigrations(projectFile('clickhouse/migrations')), applied).map(({ name }) => name)
}

function readApplied(ch: ClickHouse): Promise<AppliedMigration[]> {
  return ch.query('SELECT name, any(checksum) AS checksum FROM schema_migrations GROUP BY name ORDER BY name')
}
