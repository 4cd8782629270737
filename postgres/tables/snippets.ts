/** Snippets of a workspace: saved texts. Held by test/integration/snippets.test.ts. */
import type { Queryable } from '../client.ts'
import { rowsById } from './rows-by-id.ts'

export interface StoredSnippet {
  readonly id: number
  readonly name: string
  readonly text: string
  readonly created_at: Date
}

const columns = 'id, name, text, created_at'

export const { hold: holdSnippet, remove: deleteSnippet } = rowsById<StoredSnippet>('snippets', columns)

/** All of them, by name: there are few. */
export function listSnippets(q: Queryable, workspaceId: number): Promise<StoredSnippet[]> {
  return q.query<StoredSnippet>(`SELECT ${columns} FROM snippets WHERE workspace_id = $1 ORDER BY lower(name), id`, [
    workspaceId,
  ])
}

/** @returns null where a snippet has the name */
export async function insertSnippet(
  tx: Queryable,
  workspaceId: number,
  { name, text }: Pick<StoredSnippet, 'name' | 'text'>,
): Promise<StoredSnippet | null> {
  const [snippet] = await tx.query<StoredSnippet>(
    `INSERT INTO snippets (workspace_id, name, text) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [workspaceId, name, text],
  )
  return snippet ?? null
}

/** The workspace is held. @returns null where another snippet has the name */
export async function updateSnippet(
  tx: Queryable,
  workspaceId: number,
  { id, name, text }: Omit<StoredSnippet, 'created_at'>,
): Promise<StoredSnippet | null> {
  const [snippet] = await tx.query<StoredSnippet>(
    `UPDATE snippets SET name = $3, text = $4
     WHERE workspace_id = $1 AND id = $2
       AND NOT EXISTS (SELECT 1 FROM snippets WHERE workspace_id = $1 AND id <> $2 AND name = $3)
     RETURNING ${columns}`,
    [workspaceId, id, name, text],
  )
  return snippet ?? null
}
