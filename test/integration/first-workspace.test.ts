/** The workspace and the key that `npm start` makes where there are none, and what the audit log says of them. */
import { expect, test } from 'vitest'
import { revokeApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { createTrackingKey, retireTrackingKeys } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { sha256Of } from '../../schemas/keys.ts'
import { scopes } from '../../schemas/scopes.ts'
import { firstWorkspace } from '../../start/first-workspace.ts'
import { svcOn } from '../support/command-line.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

const rows = async (workspaceId: number) => (await listAuditEvents(stores.pg, workspaceId, { limit: 100 })).reverse()

async function storedKey(apiKey: string): Promise<{ id: number; prefix: string }> {
  const sql = 'SELECT id, prefix FROM api_keys WHERE hash = $1'
  return (await stores.pg.query<{ id: number; prefix: string }>(sql, [sha256Of(apiKey)]))[0]!
}

test('are audited as the system’s, without the key itself; a start that knows its key makes nothing, one that has lost it or whose key is revoked another', async () => {
  const made = await firstWorkspace(stores.pg, {})
  const [workspace, key, ...more] = await rows(made.workspaceId)
  expect(more).toEqual([])
  const bySystem = { actor_type: 'system', actor_id: null, actor_name: 'npm start', interface: 'cli' }
  expect(workspace).toMatchObject({
    action: 'workspace.create',
    resource_type: 'workspace',
    resource_id: made.workspaceId,
    ...bySystem,
    metadata: { name: 'My workspace', plan: 'growth' },
    previous_hash: '0'.repeat(64),
  })
  const { id, prefix } = await storedKey(made.apiKey)
  expect(key).toMatchObject({
    action: 'api_key.create',
    resource_type: 'api_key',
    resource_id: id,
    ...bySystem,
    metadata: { name: 'npm start', prefix, scopes },
    previous_hash: workspace!.hash,
  })
  expect(JSON.stringify([workspace, key])).not.toContain(made.apiKey)

  expect(await firstWorkspace(stores.pg, { api_key: made.apiKey })).toEqual({ ...made, isNew: false })
  expect(await rows(made.workspaceId)).toHaveLength(2)
  const other = await firstWorkspace(stores.pg, {})
  expect([other.workspaceId, other.isNew, other.apiKey === made.apiKey]).toEqual([made.workspaceId, true, false])
  await revokeApiKey(stores.pg, (await storedKey(other.apiKey)).id)
  await firstWorkspace(stores.pg, { api_key: other.apiKey })
  const actions = (await rows(made.workspaceId)).map(({ action }) => action)
  expect(actions).toEqual(['workspace.create', ...Array(3).fill('api_key.create')])

  expect((await svcOn(stores, 'audit', 'verify')).json).toMatchObject({ is_intact: true })
})

test('a start after a rotation shows the new tracking key, not the one that ends', async () => {
  const made = await firstWorkspace(stores.pg, {})
  await retireTrackingKeys(stores.pg, made.workspaceId, 7)
  const trackingKey = await createTrackingKey(stores.pg, made.workspaceId)
  expect(await firstWorkspace(stores.pg, { api_key: made.apiKey })).toEqual({ ...made, trackingKey, isNew: false })
})
