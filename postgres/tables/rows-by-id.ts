/** Rows of small tables, such as goals and notes, by workspace and id. */
import type { Queryable } from '../client.ts'

export type SmallTable = 'goals' | 'notes' | 'segments' | 'saved_funnels' | 'snippets' | 'feeds'

/** @param columns of the answers, as in a SELECT */
export function rowsById<Row>(table: SmallTable, columns: string) {
  const one = async (tx: Queryable, sql: string, workspaceId: number, id: number): Promise<Row | null> =>
    (await tx.query<Row>(sql, [workspaceId, id]))[0] ?? null
  return {
    /** Nobody else changes it before the transaction ends. @returns null when there is no such row */
    lock: (tx: Queryable, workspaceId: number, id: number) =>
      one(tx, `SELECT ${columns} FROM ${table} WHERE workspace_id = $1 AND id = $2 FOR UPDATE`, workspaceId, id),
    /** @returns null when there is no such row */
    remove: (tx: Queryable, workspaceId: number, id: number) =>
      one(tx, `DELETE FROM ${table} WHERE workspace_id = $1 AND id = $2 RETURNING ${columns}`, workspaceId, id),
  }
}
