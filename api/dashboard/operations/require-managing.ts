import type { Queryable } from '../../../postgres/client.ts'
import { lockAsManager } from '../../../postgres/tables/members/members.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import type { Actor } from '../../operations/define.ts'

/**
 * Locks the workspace until the end of the transaction.
 * @throws Problem where the account may no longer manage it
 */
export async function requireManaging(tx: Queryable, workspaceId: number, { id }: Actor): Promise<void> {
  if (!(await lockAsManager(tx, workspaceId, id))) throw problem('workspace_access_denied')
}
