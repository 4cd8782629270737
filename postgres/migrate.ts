/** Brings a Postgres database to the present schema. */
import { type AppliedMigration, pendingMigrations, readMigrations } from '../runtime/migrations.ts'
import { projectFile } from '../runtime/paths.ts'
import type { Postgres, Queryable } from './client.ts'

/** A migration may rewrite a large table. */
const deadlineMs = 60 * 60_000
/** Any number, ours alone in this database: who holds it migrates. */
const lockId = 8_127_304

/**
 * Runs what hasn't run, each file in a transaction of its own. Several processes may call it at once.
 * @returns the names of the migrations that were run
 */
export async function migratePostgres(pg: Postgres): Promise<string[]> {
  await underLock(pg, (tx) =>
    tx.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`),
  )
  const all = readMigrations(projectFile('postgres/migrations'))
  const done: string[] = []
  for (;;) {
    // Read under the lock, once for each: another process may have run it meanwhile.
    const name = await underLock(pg, async (tx) => {
      const applied = await tx.query<AppliedMigration>('SELECT name, checksum FROM schema_migrations ORDER BY name')
      const [next] = pendingMigrations(all, applied)
      if (!next) return undefined
      if (applied.length === 0) await requireUtf8(tx)
      await tx.query(next.sql, [], { deadlineMs })
      await tx.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [next.name, next.checksum])
      return next.name
    })
    if (name === undefined) return done
    done.push(name)
  }
}

/** A server without a locale creates databases that count an accented letter as two characters, or can't store it. */
async function requireUtf8(tx: Queryable): Promise<void> {
  const [row] = await tx.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding")
  if (row!.encoding === 'UTF8') return
  const mend = "make it anew: CREATE DATABASE svc ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0"
  throw new Error(`the database of DATABASE_URL has the encoding ${row!.encoding}, and UTF8 is needed; ${mend}`)
}

/**
 * The migrations that `migratePostgres` would run; changes nothing.
 * @throws when the database has run something that this version doesn't know
 */
export async function pendingInPostgres(q: Queryable): Promise<string[]> {
  const [table] = await q.query<{ found: boolean }>("SELECT to_regclass('schema_migrations') IS NOT NULL AS found")
  const applied = table!.found
    ? await q.query<AppliedMigration>('SELECT name, checksum FROM schema_migrations ORDER BY name')
    : []
  return pendingMigrations(readMigrations(projectFile('postgres/migrations')), applied).map(({ name }) => name)
}

function underLock<T>(pg: Postgres, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return pg.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [lockId], { deadlineMs })
    return work(tx)
  })
}
