import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { createTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { createWorkspace, type PlanKey } from '../../postgres/tables/workspaces/workspaces.ts'
import { scopes } from '../../schemas/scopes.ts'
import type { TestStores } from './stores.ts'

export interface TestWorkspace {
  readonly workspaceId: number
  readonly ownerId: number
  readonly slug: string
  readonly trackingKey: string
  /** A key with all scopes. */
  readonly apiKey: string
}

export interface WorkspaceOptions {
  readonly name?: string
  readonly plan?: PlanKey | null
  readonly timezone?: string
  readonly retentionDays?: number | null
}

let workspaces = 0

export async function makeWorkspace(
  { pg }: Pick<TestStores, 'pg'>,
  { name, plan = 'growth', timezone = 'UTC', retentionDays = null }: WorkspaceOptions = {},
): Promise<TestWorkspace> {
  workspaces += 1
  const named = name ?? `Workspace ${workspaces}`
  return pg.transaction(async (tx) => {
    const { workspaceId, ownerId, slug } = await createWorkspace(tx, { name: named, timezone, plan })
    await tx.query('UPDATE workspaces SET retention_days = $2 WHERE id = $1', [workspaceId, retentionDays])
    const trackingKey = await createTrackingKey(tx, workspaceId)
    const { apiKey } = (await createApiKey(tx, { workspaceId, name: 'all', scopes }))!
    return { workspaceId, ownerId, slug, trackingKey, apiKey }
  })
}
