/** Goals of a workspace. Held by test/integration/goals.test.ts. */
import type { FunnelStepKind } from '../../schemas/funnel-steps.ts'
import type { Queryable } from '../client.ts'
import { rowsById } from './rows-by-id.ts'

export interface StoredGoal {
  readonly id: number
  readonly name: string
  readonly kind: FunnelStepKind
  readonly value: string
  readonly created_at: Date
}

const columns = 'id, name, kind, value, created_at'

export const { hold: holdGoal, remove: deleteGoal } = rowsById<StoredGoal>('goals', columns)

/** All of them, newest first: there are few. */
export function listGoals(q: Queryable, workspaceId: number): Promise<StoredGoal[]> {
  return q.query<StoredGoal>(`SELECT ${columns} FROM goals WHERE workspace_id = $1 ORDER BY id DESC`, [workspaceId])
}

/** @returns null where a goal has the name, or the kind and value */
export async function insertGoal(
  tx: Queryable,
  workspaceId: number,
  { name, kind, value }: Pick<StoredGoal, 'name' | 'kind' | 'value'>,
): Promise<StoredGoal | null> {
  const [goal] = await tx.query<StoredGoal>(
    `INSERT INTO goals (workspace_id, name, kind, value) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [workspaceId, name, kind, value],
  )
  return goal ?? null
}

/** The workspace is held. @returns null where another goal has the name, or the kind and value */
export async function updateGoal(
  tx: Queryable,
  workspaceId: number,
  { id, name, kind, value }: Omit<StoredGoal, 'created_at'>,
): Promise<StoredGoal | null> {
  const [goal] = await tx.query<StoredGoal>(
    `UPDATE goals SET name = $3, kind = $4, value = $5
     WHERE workspace_id = $1 AND id = $2 AND NOT EXISTS (
       SELECT 1 FROM goals WHERE workspace_id = $1 AND id <> $2 AND (name = $3 OR kind = $4 AND value = $5)
     ) RETURNING ${columns}`,
    [workspaceId, id, name, kind, value],
  )
  return goal ?? null
}
