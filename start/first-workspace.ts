/**
 * The workspace, owner and keys that a first start makes, so that there is something to send events to. Each has its
 * audit row. Held by test/integration/first-workspace.test.ts.
 */
import type { Postgres, Queryable } from '../postgres/client.ts'
import { createApiKey, findApiKey } from '../postgres/tables/workspaces/api-keys.ts'
import { appendSystemChange } from '../postgres/tables/workspaces/audit.ts'
import { createTrackingKey, currentTrackingKey } from '../postgres/tables/workspaces/tracking-keys.ts'
import { createWorkspace, listWorkspaces } from '../postgres/tables/workspaces/workspaces.ts'
import { systemClock } from '../runtime/clock.ts'
import { sha256Of } from '../schemas/keys.ts'
import { scopes } from '../schemas/scopes.ts'
import type { DevFile } from './dev-file.ts'

export interface FirstWorkspace {
  workspaceId: number
  trackingKey: string
  apiKey: string
  /** True when a secret key was made just now: it can be shown this once. */
  isNew: boolean
}

const name = 'My workspace'
const keyName = 'npm start'
const plan = 'growth'

/** `earlier` holds the secret key of an earlier start: the database can't tell it. Without it another one is made. */
export function firstWorkspace(pg: Postgres, earlier: Partial<DevFile>): Promise<FirstWorkspace> {
  return pg.transaction(async (tx) => {
    const [existing] = await listWorkspaces(tx)
    const made = existing === undefined ? await createWorkspace(tx, { name, timezone: 'UTC', plan }) : undefined
    const workspaceId = existing?.id ?? made!.workspaceId
    const trackingKey = (await currentTrackingKey(tx, workspaceId)) ?? (await createTrackingKey(tx, workspaceId))

    const { api_key: known } = earlier
    const found = known ? await findApiKey(tx, sha256Of(known), new Date(systemClock.now())) : null
    if (known && found && found.workspace.id === workspaceId) {
      return { workspaceId, trackingKey, apiKey: known, isNew: false }
    }
    const { id, apiKey, prefix } = (await createApiKey(tx, { workspaceId, name: keyName, scopes }))!
    if (made) await audit(tx, workspaceId, 'workspace.create', workspaceId, { name, slug: made.slug, plan })
    await audit(tx, workspaceId, 'api_key.create', id, { name: keyName, scopes, prefix })
    return { workspaceId, trackingKey, apiKey, isNew: true }
  })
}

/** Audits as `svc` does, at the end of the transaction, since others of the workspace wait for it from here on. */
function audit(
  tx: Queryable,
  workspaceId: number,
  action: `${string}.${string}`,
  resourceId: number,
  metadata: Readonly<Record<string, unknown>>,
): Promise<void> {
  return appendSystemChange(tx, { actorName: 'npm start', workspaceId, action, resourceId, metadata })
}
