/** Deletes rows of a table by a mutation, which rewrites the parts that have some of them. */
import type { BoundSql } from './bound-sql.ts'
import type { ClickHouse } from './client.ts'

const deadlineMs = 60 * 60_000

/**
 * @param which SQL condition over the table. Without such rows no mutation is begun
 * @param waits false: the mutation is begun only
 * @returns how many rows there were, versions that were replaced included
 */
export async function deleteWhere(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  table: string,
  { sql, params }: BoundSql,
  waits = true,
): Promise<number> {
  const [found] = await ch.query<{ rows: number }>(`SELECT count() AS rows FROM ${table} WHERE ${sql}`, params, {
    deadlineMs,
  })
  if (found!.rows === 0) return 0
  const settings = `mutations_sync = ${waits ? 1 : 0}`
  await ch.command(`ALTER TABLE ${table} DELETE WHERE ${sql} SETTINGS ${settings}`, params, { deadlineMs })
  return found!.rows
}
