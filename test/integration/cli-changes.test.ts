/** What the command line changes about a workspace, and that each change has its audit row. */
import { beforeEach, expect, test } from 'vitest'
import { listAuditEvents } from '../../postgres/tables/audit.ts'
import { findTrackingKey } from '../../postgres/tables/tracking-keys.ts'
import { createWorkspace, holdOwner, listWorkspacesOf, readWorkspace } from '../../postgres/tables/workspaces.ts'
import { trackingKeyGraceDays } from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { runSvc } from '../support/command-line.ts'
import { setUpStores } from '../support/stores.ts'

const dayMs = 86_400_000

const stores = setUpStores()
let mine: TestWorkspace
beforeEach(async () => {
  mine = await makeWorkspace(stores)
})

async function svc(...words: string[]) {
  const { databaseUrl, clickhouseUrl, redisUrl, secretKey } = stores
  const { code, out, err } = await runSvc([...words, '--json'], {
    ...{ DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, REDIS_URL: redisUrl, SECRET_KEY: secretKey },
  })
  return { code, err, result: out === '' ? undefined : (JSON.parse(out) as Record<string, unknown>) }
}
const ofMine = (...words: string[]) => svc(...words, '--workspace', String(mine.workspaceId))
const actions = async () =>
  (await listAuditEvents(stores.pg, mine.workspaceId, { limit: 100 })).map(({ action }) => action).reverse()

test('workspace set changes what is named, and nothing else', async () => {
  const words = ['--retention-days', '7', '--timezone', 'Europe/Berlin', '--currency', 'eur']
  const set = await ofMine('workspace', 'set', ...words)
  expect(set).toMatchObject({
    code: 0,
    result: { workspace_id: mine.workspaceId, retention_days: 7, timezone: 'Europe/Berlin', currency: 'EUR' },
  })
  await ofMine('workspace', 'set', '--retention-days', 'plan')
  expect(await readWorkspace(stores.pg, mine.workspaceId)).toMatchObject({
    ...{ retention_days: null, timezone: 'Europe/Berlin', currency: 'EUR' },
  })
  expect(await actions()).toEqual(['workspace.update', 'workspace.update'])
})

test.each([
  [['--retention-days', '0'], '--retention-days must be a whole number from 1 to 730, or plan'],
  [['--retention-days', '731'], '--retention-days'],
  [['--timezone', 'Mars/Olympus'], '--timezone must be an IANA name'],
  [['--currency', 'XYZZY'], '--currency must be an ISO 4217 code'],
  [[], 'nothing to set'],
])('workspace set refuses %j, and changes nothing', async (words, why) => {
  const { code, err } = await ofMine('workspace', 'set', ...words)
  expect([code, err]).toEqual([2, expect.stringContaining(why)])
  expect(await actions()).toEqual([])
})

test('a plan is its owner’s: each workspace that lives by it has a row', async () => {
  const [owner] = await stores.pg.query<{ email: string }>('SELECT email FROM owners WHERE id = $1', [mine.ownerId])
  const other = await stores.pg.transaction((tx) =>
    createWorkspace(tx, { name: 'Another', timezone: 'UTC', plan: 'growth', ownerEmail: owner!.email }),
  )
  const set = await ofMine('plan', 'set', '--plan', 'starter')
  expect([set.code, set.result!['workspace_ids']]).toEqual([0, [mine.workspaceId, other.workspaceId]])
  for (const id of [mine.workspaceId, other.workspaceId]) {
    expect(await readWorkspace(stores.pg, id)).toMatchObject({ plan_key: 'starter' })
    const rows = await listAuditEvents(stores.pg, id, { limit: 10 })
    expect(rows).toEqual([expect.objectContaining({ action: 'plan.set', metadata: { plan_key: 'starter' } })])
  }
})

test('a workspace that is made for another one’s owner shares the plan and the sign-in', async () => {
  const words = ['workspace', 'create', '--name', 'Second', '--owner-of', String(mine.workspaceId)]
  expect(await svc(...words, '--plan', 'scale')).toMatchObject({ code: 2, err: expect.stringContaining('excludes') })
  const made = await svc(...words)
  const owners = [mine.workspaceId, Number(made.result!['workspace_id'])].map((id) => holdOwner(stores.pg, id))
  const [first, second] = await Promise.all(owners)
  expect(second).toEqual(first)
  const shared = await listWorkspacesOf(stores.pg, mine.ownerId)
  expect(shared.map(({ name }) => name)).toContain('Second')
})

test('a rotated tracking key goes on for its days, and keeps them when it is rotated again', async () => {
  const first = await ofMine('tracking-key', 'rotate')
  const before = await findTrackingKey(stores.pg, mine.trackingKey)
  const graceMs = before!.retires_at!.getTime() - Date.now()
  expect(Math.abs(graceMs - trackingKeyGraceDays * dayMs)).toBeLessThan(60_000)
  expect(await findTrackingKey(stores.pg, String(first.result!['tracking_key']))).toMatchObject({ retires_at: null })
  await ofMine('tracking-key', 'rotate')
  expect((await findTrackingKey(stores.pg, mine.trackingKey))!.retires_at).toEqual(before!.retires_at)
  expect(await actions()).toEqual(['tracking_key.rotate', 'tracking_key.rotate'])
})

test('keys that are made and revoked have rows, a second revocation has none', async () => {
  const made = await ofMine('keys', 'create', '--name', 'reports', '--scopes', 'analytics:read')
  const id = String(made.result!['id'])
  for (let at = 0; at < 2; at++) expect((await svc('keys', 'revoke', id)).code).toBe(0)
  expect(await actions()).toEqual(['api_key.create', 'api_key.revoke'])
  const rows = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 2 })
  expect(rows[1]).toMatchObject({
    ...{ resource_type: 'api_key', resource_id: Number(id), interface: 'cli', actor_type: 'system', actor_name: 'svc' },
    metadata: { name: 'reports', scopes: ['analytics:read'] },
  })
  expect(JSON.stringify(rows)).not.toContain(String(made.result!['api_key']))
})
