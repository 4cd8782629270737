import { expect, test } from 'vitest'
import { setAccountHealth } from '../../postgres/tables/accounts/social-accounts.ts'
import { socialAccountsMax } from '../../schemas/limits/api-limits.ts'
import { platforms } from '../../schemas/reference/providers.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { asking } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)

const svc = (...words: string[]) => svcOn(stores, ...words)
const connect = async (...words: string[]) =>
  svc('accounts', 'connect', '--workspace', String(mine.workspaceId), ...words)
const audited = async () =>
  (await ask('GET', '/v1/audit-log')).body.map(({ action, resource_id, interface: by }: Record<string, unknown>) => [
    action,
    resource_id,
    by,
  ])

test('an account that was connected is shown by the API and the command line alike', async () => {
  const { code, json } = await connect('--platform', 'mastodon', '--handle', '@shop', '--display-name', 'My shop')
  expect(code).toBe(0)
  expect(json).toEqual({
    id: expect.any(Number),
    object_id: `social_account_${json.id}`,
    platform: 'mastodon',
    handle: '@shop',
    display_name: 'My shop',
    status: 'connected',
    external_id: null,
    connection_type: 'simulated',
    health_status: 'ok',
    health_message: '',
    provider_metadata: {},
  })
  expect((await ask('GET', '/v1/social-accounts')).body).toEqual([json])
  expect((await svc('accounts', 'list', '--workspace', String(mine.workspaceId))).json).toEqual([json])
  expect(await audited()).toEqual([['social_account.connect', json.id, 'cli']])
})

test('every platform can be connected, by the slug of the workspace where no handle is given', async () => {
  for (const platform of platforms) {
    expect((await connect('--platform', platform)).json).toMatchObject({ handle: mine.slug, display_name: mine.slug })
  }
  const { body } = await ask('GET', '/v1/social-accounts')
  expect(body.map(({ platform }: { platform: string }) => platform)).toEqual([...platforms].reverse())
})

test('a real account becomes a simulated one only where that is asked for', async () => {
  const { json } = await connect('--platform', 'mastodon', '--handle', '@shop')
  await stores.pg.query(`UPDATE social_accounts SET connection_type = 'oauth' WHERE id = $1`, [json.id])
  const again = ['--platform', 'mastodon', '--handle', '@shop']
  expect(await connect(...again)).toMatchObject({ code: 1, err: expect.stringContaining('--type simulated') })
  expect((await connect(...again, '--type', 'simulated')).json).toMatchObject({ connection_type: 'simulated' })
})

test("another workspace's accounts are not shown", async () => {
  await connect('--platform', 'x')
  Object.assign(mine, await makeWorkspace(stores))
  expect((await ask('GET', '/v1/social-accounts')).body).toEqual([])
})

test('disconnecting leaves the account in the list, again is no error and no other row in the log, and of none says so', async () => {
  const { json } = await connect('--platform', 'x')
  const left = { ...json, status: 'disconnected' }
  for (let n = 0; n < 2; n++) {
    expect(await svc('accounts', 'disconnect', String(json.id))).toMatchObject({ code: 0, json: { id: json.id } })
  }
  expect((await ask('GET', '/v1/social-accounts')).body).toEqual([left])
  const verbs = ['disconnect', 'connect']
  expect(await audited()).toEqual(verbs.map((verb) => [`social_account.${verb}`, json.id, 'cli']))
  for (const id of ['999999', String(2 ** 40)]) {
    expect(await svc('accounts', 'disconnect', id)).toMatchObject({ code: 1, err: expect.stringContaining(id) })
  }
})

test('connecting again renews the account, keeps its name, and tells webhooks when its health changed', async () => {
  const { json } = await connect('--platform', 'x', '--handle', 'shop', '--display-name', 'My shop')
  await svc('accounts', 'disconnect', String(json.id))
  expect((await connect('--platform', 'x', '--handle', 'shop')).json).toEqual(json)
  await stores.pg.query(`UPDATE social_accounts SET health_status = 'error', health_message = 'm' WHERE id = $1`, [
    json.id,
  ])
  expect((await connect('--platform', 'x', '--handle', 'shop', '--display-name', 'Other')).json).toEqual({
    ...json,
    display_name: 'Other',
  })
  const told = await stores.pg.query<{ type: string; object: { id: number } }>(
    'SELECT type, object FROM outbox WHERE workspace_id = $1',
    [mine.workspaceId],
  )
  expect(told.map(({ type, object }) => [type, object.id])).toEqual([['social_account.health_changed', json.id]])
})

test.each([
  // Nothing could be published by these two.
  [['--platform', 'tiktok', '--type', 'app_password'], 1, '--type simulated'],
  [['--platform', 'x', '--type', 'app_password'], 1, '--type simulated'],
  [['--platform', 'myspace'], 2, '--platform'],
  [[], 2, '--platform'],
  [['--platform', 'x', '--type', 'magic'], 2, '--type'],
  [['--platform', 'x', '--handle', 'a'.repeat(121)], 2, '--handle'],
  [['--platform', 'x', '--secret-file', '/dev/null'], 1, 'holds no secret'],
  [['--platform', 'x', '--secret-file', 'package-lock.json'], 1, 'holds more than'],
])('%j is refused with code %d', async (words, code, named) => {
  expect(await connect(...words)).toMatchObject({ code, err: expect.stringContaining(named) })
  expect((await ask('GET', '/v1/social-accounts')).body).toEqual([])
})

test('a workspace has so many accounts at most', async () => {
  await stores.pg.query(
    `INSERT INTO social_accounts (workspace_id, platform, handle, display_name)
     SELECT $1, 'x', 'h' || n, 'n' FROM generate_series(1, $2::int) AS n`,
    [mine.workspaceId, socialAccountsMax],
  )
  expect((await connect('--platform', 'x', '--handle', 'another')).code).toBe(1)
  expect((await connect('--platform', 'x', '--handle', 'h1')).code).toBe(0)
})

test('the message of an account is the newest, and only another status is told', async () => {
  const { json } = await connect('--platform', 'x', '--handle', 'shop')
  const set = (status: 'ok' | 'warning', message: string, isExpired = false) =>
    setAccountHealth(stores.pg, json.id, { status, message, isExpired })
  const shown = async () => (await ask('GET', '/v1/social-accounts')).body[0]
  expect(await set('warning', 'one')).toMatchObject({ id: json.id, health_status: 'warning', health_message: 'one' })
  expect(await set('warning', 'two')).toBe(null)
  expect(await shown()).toMatchObject({ health_status: 'warning', health_message: 'two' })
  expect(await set('warning', 'three', true)).toMatchObject({ status: 'expired', health_message: 'three' })
  expect(await set('ok', '')).toBe(null)
  expect(await shown()).toMatchObject({ status: 'expired', health_message: 'three' })
})
