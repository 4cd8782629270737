/** Writes the command line's changes to the workspace's audit log. */
import type { Queryable } from '../postgres/client.ts'
import { appendSystemChange } from '../postgres/tables/workspaces/audit.ts'

/** To be the last statement of the transaction. @param action `api_key.create`: the resource's type and what was done */
export function auditCommand(
  tx: Queryable,
  workspaceId: number,
  action: `${string}.${string}`,
  resourceId: number | null,
  metadata: Readonly<Record<string, unknown>>,
): Promise<void> {
  return appendSystemChange(tx, { actorName: 'svc', workspaceId, action, resourceId, metadata })
}
