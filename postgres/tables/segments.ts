/** Filters under a name. Held by test/integration/segments.test.ts. */
import type { FilterName } from '../../schemas/session-filters.ts'
import type { Queryable } from '../client.ts'

export interface StoredSegment {
  readonly id: number
  readonly name: string
  /** As a query has them. */
  readonly filters: Partial<Record<FilterName, string[] | undefined>>
  readonly created_at: Date
}

const columns = 'id, name, filters, created_at'

/** All of them, by name: there are few. */
export function listSegments(q: Queryable, workspaceId: number): Promise<StoredSegment[]> {
  return q.query<StoredSegment>(`SELECT ${columns} FROM segments WHERE workspace_id = $1 ORDER BY lower(name), id`, [
    workspaceId,
  ])
}

/** @returns null where a segment has the name */
export async function insertSegment(
  tx: Queryable,
  workspaceId: number,
  { name, filters }: Pick<StoredSegment, 'name' | 'filters'>,
): Promise<StoredSegment | null> {
  const [segment] = await tx.query<StoredSegment>(
    `INSERT INTO segments (workspace_id, name, filters) VALUES ($1, $2, $3)
     ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [workspaceId, name, JSON.stringify(filters)],
  )
  return segment ?? null
}

/** @returns null when there is no such segment */
export async function deleteSegment(tx: Queryable, workspaceId: number, id: number): Promise<StoredSegment | null> {
  const [segment] = await tx.query<StoredSegment>(
    `DELETE FROM segments WHERE workspace_id = $1 AND id = $2 RETURNING ${columns}`,
    [workspaceId, id],
  )
  return segment ?? null
}
