/**
 * Workspaces that require a second factor of their members. The owner has one while a workspace begins to require it, and nobody
 * turns one off while a workspace of theirs does. Held by test/integration/required-factor.test.ts.
 */
import type { Queryable } from '../../client.ts'
import { isSecondFactorOn } from './second-factors.ts'

/**
 * Members without one are refused from the next request on. Run it in a transaction.
 * @returns whether it was done: false where the owner has no second factor, or there is no such workspace
 */
export async function requireSecondFactor(tx: Queryable, workspaceId: number, isRequired: boolean): Promise<boolean> {
  // Locked against `isFactorRequired`, so that the owner doesn't turn it off meanwhile. Rows that refer to the owner may be
  // made by whoever has locked the workspace.
  const [owner] = await tx.query<{ id: number }>(
    'SELECT id FROM owners WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1) FOR NO KEY UPDATE',
    [workspaceId],
  )
  if (owner === undefined || (isRequired && !(await isSecondFactorOn(tx, owner.id)))) return false
  await tx.query('UPDATE workspaces SET second_factor_required = $2, updated_at = now() WHERE id = $1', [
    workspaceId,
    isRequired,
  ])
  return true
}

/** Names of the workspaces that require a second factor of an account, oldest first. */
export async function listRequiring(q: Queryable, ownerId: number): Promise<string[]> {
  const rows = await q.query<{ name: string }>(
    `SELECT w.name FROM members m JOIN workspaces w ON w.id = m.workspace_id
     WHERE m.owner_id = $1 AND w.second_factor_required ORDER BY w.id`,
    [ownerId],
  )
  return rows.map(({ name }) => name)
}

/** Whether a workspace requires it, locked until the end of the transaction for those that the account owns. */
export async function isFactorRequired(tx: Queryable, ownerId: number): Promise<boolean> {
  await tx.query('SELECT 1 FROM owners WHERE id = $1 FOR UPDATE', [ownerId])
  return (await listRequiring(tx, ownerId)).length > 0
}
