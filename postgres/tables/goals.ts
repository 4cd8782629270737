/** Goals of a workspace. Held by test/integration/goals.test.ts. */
import type { FunnelStepKind } from '../../schemas/funnel-steps.ts'
import type { Queryable } from '../client.ts'
import { rowsById } from './rows-by-id.ts'

export interface StoredGoal {
  readonly id: number
  readonly name: string
  readonly kind: FunnelStepKind
  readonly value: string
  /** Only events with it count; its value is a text as filters take it. Null: all events. */
  readonly property: { readonly name: string; readonly value: string } | null
  readonly created_at: Date
}

const columns = `id, name, kind, value, created_at,
  CASE WHEN property IS NOT NULL THEN json_build_object('name', property, 'value', property_value) END AS property`

export const { hold: holdGoal, remove: deleteGoal } = rowsById<StoredGoal>('goals', columns)

/** All of them, newest first: there are few. */
export function listGoals(q: Queryable, workspaceId: number): Promise<StoredGoal[]> {
  return q.query<StoredGoal>(`SELECT ${columns} FROM goals WHERE workspace_id = $1 ORDER BY id DESC`, [workspaceId])
}

/** @returns null where a goal has the name, or the kind, value and property */
export async function insertGoal(
  tx: Queryable,
  workspaceId: number,
  { name, kind, value, property }: Omit<StoredGoal, 'id' | 'created_at'>,
): Promise<StoredGoal | null> {
  const [goal] = await tx.query<StoredGoal>(
    `INSERT INTO goals (workspace_id, name, kind, value, property, property_value) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [workspaceId, name, kind, value, property?.name, property?.value],
  )
  return goal ?? null
}

/** The workspace is held. @returns null where another goal has the name, or the kind, value and property */
export async function updateGoal(
  tx: Queryable,
  workspaceId: number,
  { id, name, kind, value, property }: Omit<StoredGoal, 'created_at'>,
): Promise<StoredGoal | null> {
  const [goal] = await tx.query<StoredGoal>(
    `UPDATE goals SET name = $3, kind = $4, value = $5, property = $6, property_value = $7
     WHERE workspace_id = $1 AND id = $2 AND NOT EXISTS (
       SELECT 1 FROM goals WHERE workspace_id = $1 AND id <> $2
         AND (name = $3 OR (kind, value) = ($4, $5) AND (property, property_value) IS NOT DISTINCT FROM ($6, $7))
     ) RETURNING ${columns}`,
    [workspaceId, id, name, kind, value, property?.name, property?.value],
  )
  return goal ?? null
}
