/**
 * Migrations of a store: plain SQL files `0001_name.sql`, run once each, in order, and from the first release on never changed. Which
 * have run is recorded in the store with a checksum of what was run.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Migration {
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

export interface AppliedMigration {
  readonly name: string
  readonly checksum: string
}

export function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  names.sort()
  return names.map((name, index) => {
    const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
    if (Number(number) !== index + 1) throw new Error(`${join(folder, name)}: expected number ${index + 1} in its name`)
    const sql = readFileSync(join(folder, name), 'utf8')
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

/**
 * The migrations that the store hasn't run yet.
 * @throws when the store has run a migration that differs from the files: older or other code is at work there
 */
export function pendingMigrations(all: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const known = new Map(all.map((migration) => [migration.name, migration]))
  for (const { name, checksum } of applied) {
    const migration = known.get(name)
    if (!migration) throw ofOtherVersion(`the store has run migration ${name}, which this version doesn't know`)
    if (migration.checksum !== checksum) throw ofOtherVersion(`migration ${name} was changed after it had run`)
  }
  const done = new Set(applied.map(({ name }) => name))
  const pending = all.filter(({ name }) => !done.has(name))
  const late = pending.find((migration) => all.indexOf(migration) < done.size)
  if (late) throw new Error(`migration ${late.name} comes before ones that have run: give it the next number`)
  return pending
}

function ofOtherVersion(why: string): Error {
  return new Error(`${why}: use the version that ran it, or new stores (another DATA_DIR, or empty databases)`)
}

/** The statements of a file, for a store that takes one at a time. Comments stay; a `;` ends a statement at a line's end. */
export function splitStatements(sql: string): string[] {
  return sql
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement.split('\n').some((line) => line.trim() !== '' && !line.trim().startsWith('--')))
}
