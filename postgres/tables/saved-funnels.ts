/** Funnels under a name. Held by test/integration/saved-funnels.test.ts. */
import type { Queryable } from '../client.ts'
import { rowsById } from './rows-by-id.ts'

export interface StoredFunnel {
  readonly id: number
  readonly name: string
  /** As a query has them, and `within` too. */
  readonly steps: string[]
  readonly within: string
  readonly created_at: Date
}

const columns = 'id, name, steps, within, created_at'

export const { hold: holdFunnel, remove: deleteFunnel } = rowsById<StoredFunnel>('saved_funnels', columns)

/** All of them, by name: there are few. */
export function listFunnels(q: Queryable, workspaceId: number): Promise<StoredFunnel[]> {
  return q.query<StoredFunnel>(
    `SELECT ${columns} FROM saved_funnels WHERE workspace_id = $1 ORDER BY lower(name), id`,
    [workspaceId],
  )
}

/** @returns null where a funnel has the name */
export async function insertFunnel(
  tx: Queryable,
  workspaceId: number,
  { name, steps, within }: Pick<StoredFunnel, 'name' | 'steps' | 'within'>,
): Promise<StoredFunnel | null> {
  const [funnel] = await tx.query<StoredFunnel>(
    `INSERT INTO saved_funnels (workspace_id, name, steps, within) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [workspaceId, name, steps, within],
  )
  return funnel ?? null
}

/** The workspace is held. @returns null where another funnel has the name */
export async function updateFunnel(
  tx: Queryable,
  workspaceId: number,
  { id, name, steps, within }: Omit<StoredFunnel, 'created_at'>,
): Promise<StoredFunnel | null> {
  const [funnel] = await tx.query<StoredFunnel>(
    `UPDATE saved_funnels SET name = $3, steps = $4, within = $5
     WHERE workspace_id = $1 AND id = $2
       AND NOT EXISTS (SELECT 1 FROM saved_funnels WHERE workspace_id = $1 AND id <> $2 AND name = $3)
     RETURNING ${columns}`,
    [workspaceId, id, name, steps, within],
  )
  return funnel ?? null
}
