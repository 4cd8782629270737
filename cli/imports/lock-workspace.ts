/** Imports whose workspace may be deleted meanwhile. Held by test/integration/workspace-delete.test.ts. */
import type { Queryable } from '../../postgres/client.ts'
import { lockWorkspace, readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { CommandFailed } from '../command.ts'

/** First in the transaction of a portion: the deletion waits for its end, and a portion behind it is refused. */
export async function lockForImport(tx: Queryable, workspaceId: number): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  await requireKept(tx, workspaceId)
}

export async function requireKept(q: Queryable, workspaceId: number): Promise<void> {
  if ((await readWorkspace(q, workspaceId)) !== null) return
  throw new CommandFailed(`workspace ${workspaceId} was deleted meanwhile: what the import stored is deleted, too`)
}
