/** The workspace, owner and keys that a first start makes, so that there is something to send events to. */
import type { Postgres } from '../postgres/client.ts'
import { createApiKey, findApiKey } from '../postgres/tables/api-keys.ts'
import { createTrackingKey, listTrackingKeys } from '../postgres/tables/tracking-keys.ts'
import { createWorkspace, listWorkspaces } from '../postgres/tables/workspaces.ts'
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

/** `earlier` holds the secret key of an earlier start: the database can't tell it. Without it another one is made. */
export function firstWorkspace(pg: Postgres, earlier: Partial<DevFile>): Promise<FirstWorkspace> {
  return pg.transaction(async (tx) => {
    const [existing] = await listWorkspaces(tx)
    const workspaceId =
      existing?.id ?? (await createWorkspace(tx, { name: 'My workspace', timezone: 'UTC', plan: 'growth' })).workspaceId
    const keys = await listTrackingKeys(tx)
    const trackingKey =
      keys.find((key) => key.workspace_id === workspaceId)?.key ?? (await createTrackingKey(tx, workspaceId))

    const { api_key: known } = earlier
    const found = known ? await findApiKey(tx, sha256Of(known)) : null
    if (known && found && found.workspaceId === workspaceId && !found.revokedAt) {
      return { workspaceId, trackingKey, apiKey: known, isNew: false }
    }
    const made = await createApiKey(tx, { workspaceId, name: 'npm start', scopes })
    return { workspaceId, trackingKey, apiKey: made!.apiKey, isNew: true }
  })
}
