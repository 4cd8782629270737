/** Filters under a name. Held by test/integration/segments.test.ts. */
import type { FilterName } from '../../schemas/session-filters.ts'
import type { Queryable } from '../client.ts'
import { rowsById } from './rows-by-id.ts'

export interface StoredSegment {
  readonly id: number
  readonly name: string
  /** As a query has them. */
  readonly filters: Partial<Record<FilterName, string[] | undefined>>
  readonly created_at: Date
}

const columns = 'id, name, filters, created_at'

export const { hold: holdSegment, remove: deleteSegment } = rowsById<StoredSegment>('segments', columns)

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

/** The workspace is held. @returns null where another segment has the name */
export async function updateSegment(
  tx: Queryable,
  workspaceId: number,
  { id, name, filters }: Omit<StoredSegment, 'created_at'>,
): Promise<StoredSegment | null> {
  const [segment] = await tx.query<StoredSegment>(
    `UPDATE segments SET name = $3, filters = $4
     WHERE workspace_id = $1 AND id = $2
       AND NOT EXISTS (SELECT 1 FROM segments WHERE workspace_id = $1 AND id <> $2 AND name = $3)
     RETURNING ${columns}`,
    [workspaceId, id, name, JSON.stringify(filters)],
  )
  return segment ?? null
}
