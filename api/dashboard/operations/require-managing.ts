import type { Queryable } from '../../../postgres/client.ts'
import { holdAsManager } from '../../../postgres/tables/members.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import type { Actor } from '../../operations/define.ts'

/**
 * Holds the workspace until the end of the transaction.
 * @throws Problem where the account may no longer manage it
 */
export async function requireManaging(tx: Queryable, workspaceId: number, { id }: Actor): Promise<void> {
  if (!(await holdAsManager(tx, workspaceId, id))) throw problem('workspace_access_denied')
}
