/** What the dashboard alone can do: erase a person, fill a demo workspace, go to another workspace. */
import { expect, test } from 'vitest'
import { listAuditEvents } from '../../postgres/tables/audit.ts'
import { createSignInLink } from '../../postgres/tables/browser-sessions.ts'
import { demoEvents } from '../../schemas/limits/seed-limits.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { foldAll } from '../support/fold.ts'

const { stores, api, mine } = setUpApi()
const own = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }

async function signIn(): Promise<string> {
  const token = await createSignInLink(stores.pg, mine.workspaceId, Date.now())
  const response = await api.ask(`/dashboard/sign-in?token=${token}`)
  return response.headers.get('set-cookie')!.split(';')[0]!
}

function post(cookie: string, path: string, body: object, headers: Record<string, string> = own) {
  return api.ask(path, { method: 'POST', headers: { cookie, ...headers }, body: JSON.stringify(body) })
}

const askedName = async (cookie: string) =>
  ((await (await api.ask('/api/v1/workspace', { headers: { cookie } })).json()) as { name: string }).name

test('a person is erased from the dashboard, audited as the owner, and their events go', async () => {
  const [contact] = await stores.pg.query<{ id: number }>(
    `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     VALUES ($1, 'ada@example.com', $2, 1, 1, 1, 1) RETURNING id`,
    [mine.workspaceId, 5_000_000 + mine.workspaceId],
  )
  const cookie = await signIn()
  const erase = (body: object, headers = own) => post(cookie, '/api/v1/people/erase', body, headers)
  expect((await erase({ contact_id: contact!.id })).status).toBe(200)
  expect(await stores.pg.query('SELECT 1 FROM contacts WHERE id = $1', [contact!.id])).toEqual([])
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({
    ...{ action: 'contact.erase', actor_type: 'user', interface: 'console', resource_id: contact!.id },
    metadata: { fields: ['contact_id'] },
  })
  expect((await erase({ anonymous_id: 'b-1' })).status).toBe(200)
  // The pipeline does the rest (test/integration/people-erase.test.ts).
  const ordered = await stores.pg.query<{ browsers: object }>(
    'SELECT browsers FROM erasures WHERE workspace_id = $1 ORDER BY id',
    [mine.workspaceId],
  )
  const visitor = stores.hashes.visitorOf(mine.workspaceId, 'b-1')
  expect(ordered.map(({ browsers }) => browsers)).toEqual([[], [expect.objectContaining({ visitor, fromAt: 0 })]])

  expect((await erase({ contact_id: contact!.id })).status).toBe(404)
  expect((await erase({})).status).toBe(422)
  expect((await erase({ contact_id: 1, anonymous_id: 'a' })).status).toBe(422)
  expect((await erase({ anonymous_id: 'a' }, { ...own, 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  const byKey = { method: 'POST', key: mine.apiKey, headers: own, body: '{"anonymous_id":"a"}' }
  expect((await api.ask('/v1/people/erase', byKey)).status).toBe(404)
})

test('what was sent of a person and is not merged yet is erased with the person', async () => {
  const [contact] = await stores.pg.query<{ id: number }>(
    `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     VALUES ($1, 'eve@example.com', $2, 1, 1, 1, 1) RETURNING id`,
    [mine.workspaceId, stores.hashes.emailHashOf(mine.workspaceId, 'eve@example.com')],
  )
  await stores.pg.query(
    `INSERT INTO inbox (event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties,
       source, medium, campaign, content, occurred_at, received_at)
     VALUES (77, $1, 'identify', 'identify', 'eve@example.com', 'b-77', '', '{}', '', '', '', '', now(), now())`,
    [mine.workspaceId],
  )
  const cookie = await signIn()
  // It is Eve's, though nobody knows yet.
  expect((await post(cookie, '/api/v1/people/erase', { anonymous_id: 'b-77' })).status).toBe(404)
  const erased = await post(cookie, '/api/v1/people/erase', { contact_id: contact!.id })
  const { erasure_id } = (await erased.json()) as { erasure_id: number }
  const visitor = stores.hashes.visitorOf(mine.workspaceId, 'b-77')
  expect(await stores.pg.query('SELECT browsers FROM erasures WHERE id = $1', [erasure_id])).toEqual([
    { browsers: [expect.objectContaining({ visitor })] },
  ])
  expect(await stores.pg.query('SELECT 1 FROM inbox WHERE event_id = 77')).toEqual([])
})

test('a demo is filled once, and the session goes there and back, and to no workspace of others', async () => {
  const others = await makeWorkspace(stores)
  const cookie = await signIn()
  const name = await askedName(cookie)
  const press = () => post(cookie, '/api/v1/workspaces/demo', {})
  const both = await Promise.all([press(), press()])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  const demo = (await both.find(({ status }) => status === 200)!.json()) as { id: number }
  expect(await (await press()).json()).toEqual(demo)
  const [stored] = await stores.ch.query<{ n: number }>(
    'SELECT count() AS n FROM events WHERE workspace_id = {workspace:UInt32}',
    { workspace: demo.id },
  )
  expect(stored!.n).toBe(demoEvents)
  const move = (id: number | string, headers: Record<string, string> = { 'Sec-Fetch-Site': 'same-origin' }) =>
    api.ask('/dashboard/workspace', {
      ...{ method: 'POST', headers: { cookie, ...headers }, body: new URLSearchParams({ workspace: String(id) }) },
    })
  expect((await move(demo.id, {})).status).toBe(403)
  expect((await move(demo.id)).headers.get('location')).toBe('/dashboard')
  expect(await askedName(cookie)).toBe('Demo')
  await foldAll(stores)
  const overview = await api.ask('/api/v1/analytics/overview?days=30', { headers: { cookie } })
  const { metrics } = (await overview.json()) as { metrics: { visitors: number } }
  expect(metrics.visitors).toBeGreaterThan(100)
  for (const id of [others.workspaceId, 0, 'x', 2 ** 40]) expect((await move(id)).status).toBe(403)
  expect(await askedName(cookie)).toBe('Demo')
  await move(mine.workspaceId)
  expect(await askedName(cookie)).toBe(name)
  const listed = await (await api.ask('/api/v1/workspaces', { headers: { cookie } })).json()
  expect(listed).toEqual([
    { id: mine.workspaceId, name },
    { id: demo.id, name: 'Demo' },
  ])
})
