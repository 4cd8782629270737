/** Sign-in of owners, and what the session of a browser can do: what holds, what ends, and what other sites can't do. */
import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { shortenInbox } from '../../pipeline/people/order-erasure.ts'
import { createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { countLiveKeys } from '../../postgres/tables/workspaces/api-keys.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { makeLog } from '../../runtime/log.ts'
import { apiKeysMax, browserSessionMs, ownWorkspacesMax, signInLinkMs } from '../../schemas/limits/api-limits.ts'
import { inboxRowsPerErasure } from '../../schemas/limits/people-limits.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { scopesOfRoles } from '../../schemas/roles.ts'
import { timeZoneNames } from '../../schemas/time/time-zone-name.ts'
import { makeKey, makeWorkspace, operationsOfSessions, setUpApi, testApiHost } from '../support/api.ts'
import { setUpMembers } from '../support/members.ts'
import { exchange } from '../support/raw-http.ts'

let now = Date.now()
const { stores, api, mine } = setUpApi({ clock: { now: () => now } })
const { askAs } = setUpMembers({ stores, api })

const own = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
const tokens = () => stores.pg.query<{ n: number }>('SELECT count(*)::int AS n FROM browser_sessions')

async function signIn(workspaceId = mine.workspaceId): Promise<string> {
  const token = await createSignInLink(stores.pg, workspaceId, now)
  const response = await api.ask(`/dashboard/sign-in?token=${token}`)
  expect([response.status, response.headers.get('location')]).toEqual([303, '/dashboard'])
  const set = response.headers.get('set-cookie')!
  expect(set).toMatch(/^svc_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/)
  return set.split(';')[0]!
}

const open = async (address: string, cookie: string) => {
  const { status, headers } = await api.ask(address, { headers: { cookie } })
  return [status, headers.get('location')]
}

const workspaceOf = async (cookie: string) => {
  const { status, body } = await askAs(cookie)('GET', '/workspace')
  return status === 200 ? body.id : status
}

test('a link signs in once, within its time, from this machine', async () => {
  const token = (await createSignInLink(stores.pg, mine.workspaceId, now))!
  const statusOf = async (query: string, init?: RequestInit) =>
    (await api.ask(`/dashboard/sign-in${query}`, init)).status
  expect(await statusOf(`?token=${token}`, { headers: { 'X-Forwarded-For': '203.0.113.7' } })).toBe(403)
  expect(await statusOf(`?token=${token}`, { method: 'HEAD' })).toBe(200)
  expect(await statusOf(`?token=${token}`)).toBe(303)
  const late = await createSignInLink(stores.pg, mine.workspaceId, now)
  now += signInLinkMs + 1
  for (const over of [token, late, 'nothing']) expect(await statusOf(`?token=${over}`)).toBe(410)
  expect(await statusOf('')).toBe(200)
})

test('a link at an address of this machine alone gets a cookie that browsers keep without TLS', async () => {
  const isSecureAt = async (host: string) => {
    const token = (await createSignInLink(stores.pg, mine.workspaceId, now))!
    const head = `GET /dashboard/sign-in?token=${token} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    return /^set-cookie: svc_session=.*; Secure\r$/im.test(
      (await exchange(api.port, [head], { until: '\r\n\r\n' })).text,
    )
  }
  const { host } = new URL(testApiHost)
  expect(await Promise.all([host, 'localhost:8080', '192.168.1.5:8080'].map(isSecureAt))).toEqual([true, true, false])
})

test('sign-in leads back to the page that was asked for, and to no other site', async () => {
  const next = '/dashboard/people?contact=7&q="<b>'.replaceAll('"', '%22').replaceAll('<', '%3C').replaceAll('>', '%3E')
  const asked = await api.ask(next)
  const location = asked.headers.get('location')!
  expect(location).toBe(`/dashboard/sign-in?${new URLSearchParams({ next })}`)
  expect(await (await api.ask(location)).text()).toContain(`name="next" value="${next.replace('&', '&amp;')}"`)
  const landed = async (wanted: string) => {
    const token = (await createSignInLink(stores.pg, mine.workspaceId, now))!
    const response = await api.ask(`/dashboard/sign-in?${new URLSearchParams({ token, next: wanted })}`)
    return response.headers.get('location')
  }
  expect(await landed(next)).toBe(next)
  for (const other of [
    'https://evil.example/',
    '//evil.example',
    '/dashboard//evil.example',
    '/dashboard/../x',
    '/dashboardx',
    '/dashboard\\evil',
    '/dashboard?a\r\nSet-Cookie:b',
    '/dashboard?a b',
    `/dashboard?${'a'.repeat(2_000)}`,
    '/x',
  ]) {
    expect([other, await landed(other)]).toEqual([other, '/dashboard'])
  }
})

test('a session reads its own workspace, and ends by sign-out and after 30 days', async () => {
  const others = await makeWorkspace(stores)
  const [cookie, theirs] = [await signIn(), await signIn(others.workspaceId)]
  expect([await workspaceOf(cookie), await workspaceOf(theirs)]).toEqual([mine.workspaceId, others.workspaceId])
  expect((await api.ask('/dashboard', { headers: { cookie } })).status).toBe(200)
  const out = await api.ask('/dashboard/sign-out', { method: 'POST', headers: { cookie, ...own } })
  expect([out.status, out.headers.get('location')]).toEqual([303, '/dashboard/sign-in'])
  expect(await workspaceOf(cookie)).toBe(401)
  expect((await api.ask('/dashboard', { headers: { cookie } })).status).toBe(303)
  now += browserSessionMs + 1
  expect(await workspaceOf(theirs)).toBe(401)
  // Sessions that are over don't gather.
  await signIn()
  expect(await tokens()).toEqual([{ n: 1 }])
})

test('each tab has a workspace of its own, which a page’s address may name; those of others are closed', async () => {
  const theirs = await makeWorkspace(stores)
  const [second, cookie] = [await makeWorkspace(stores), await signIn()]
  const membership = [second.workspaceId, mine.ownerId]
  await stores.pg.query("INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'editor')", membership)
  const ask = async (shown: string, query = '') => {
    const answer = await api.ask(`/api/v1/workspace${query}`, { headers: { cookie, 'X-Workspace': shown } })
    return answer.status === 200 ? ((await answer.json()) as { id: number }).id : answer.status
  }
  for (const id of [mine.workspaceId, second.workspaceId, mine.workspaceId]) expect(await ask(String(id))).toBe(id)
  for (const shown of [String(theirs.workspaceId), '', 'x', `${mine.workspaceId}.0`, String(2 ** 40)]) {
    expect([shown, await ask(shown)]).toEqual([shown, 409])
  }
  const links = async (shown: number) => {
    const headers = { cookie, ...own, 'X-Workspace': String(shown) }
    const body = JSON.stringify({ label: 'A', destination_url: 'https://example.com/' })
    return (await api.ask('/api/v1/links', { method: 'POST', headers, body })).status
  }
  const countLinks = async () =>
    (
      await stores.pg.query<{ n: number }>('SELECT count(*)::int AS n FROM links WHERE workspace_id = $1', [
        second.workspaceId,
      ])
    )[0]!.n
  expect([await links(second.workspaceId), await countLinks(), await links(theirs.workspaceId)]).toEqual([200, 1, 409])
  expect(await workspaceOf(cookie)).toBe(mine.workspaceId)

  expect(await open(`/dashboard?days=7&workspace=${second.workspaceId}`, cookie)).toEqual([200, null])
  expect(await workspaceOf(cookie)).toBe(second.workspaceId)
  for (const name of ['workspace', 'work%73pace']) {
    const address = `/dashboard/posts?days=7&${name}=${theirs.workspaceId}`
    expect(await open(address, cookie)).toEqual([303, '/dashboard/posts?days=7'])
  }
  for (const none of [0, 'x', 2 ** 40]) expect(await open(`/dashboard?workspace=${none}`, cookie)).toEqual([200, null])
  expect(await workspaceOf(cookie)).toBe(second.workspaceId)
  const asked = `/dashboard/people?workspace=${mine.workspaceId}`
  expect(await open(asked, 'svc_session=x')).toEqual([
    303,
    `/dashboard/sign-in?${new URLSearchParams({ next: asked })}`,
  ])
})

test('a slash behind a path is redirected away, under the same prefix', async () => {
  const { status, headers } = await api.ask('/api/v1/workspace/?a=1', { redirect: 'manual' })
  expect([status, headers.get('location')]).toEqual([307, '/api/v1/workspace?a=1'])
})

test('neither stands in for the other: a key under /api/v1, a cookie under /v1; and no token is stored', async () => {
  const cookie = await signIn()
  expect((await api.ask('/api/v1/workspace', { key: mine.apiKey })).status).toBe(401)
  for (const { http } of operationsOfSessions(stores)) {
    const path = http.path.replace(/\{\w+\}/g, '1')
    const statusAt = async (root: string) =>
      (await api.ask(root + path, { method: http.method, key: mine.apiKey, headers: own })).status
    expect([path, await statusAt('/api')]).toEqual([path, 401])
    const isOfKeys = operations.some((one) => one.http.method === http.method && one.http.path === http.path)
    if (!isOfKeys) expect([404, 405], path).toContain(await statusAt(''))
  }
  expect((await api.ask('/v1/workspace', { headers: { cookie } })).status).toBe(401)
  for (const bad of ['svc_session=', 'svc_session=x', `svc_session=${'a'.repeat(43)}`, 'a;b=;;=c']) {
    expect(await workspaceOf(bad)).toBe(401)
  }
  const stored = JSON.stringify(await stores.pg.query(`SELECT encode(hash, 'escape') AS hash FROM browser_sessions`))
  expect(stored).not.toContain(cookie.split('=')[1])
})

test('what changes something, and each form, comes from our own pages alone, and is audited as the owner', async () => {
  const cookie = await signIn()
  const make = (headers: Record<string, string>) =>
    api.ask('/api/v1/links', {
      method: 'POST',
      headers: { cookie, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ label: 'A', destination_url: 'https://example.com/' }),
    })
  const { host } = new URL(api.url)
  const sites = ['cross-site', 'same-site'].map((site) => ({ 'Sec-Fetch-Site': site }))
  for (const headers of [{}, ...sites, { Origin: 'https://evil.example' }, { Origin: 'null' }]) {
    expect((await make(headers as Record<string, string>)).status, JSON.stringify(headers)).toBe(403)
  }
  expect((await make({ Origin: `http://${host}` })).status).toBe(200)
  expect((await make(own)).status).toBe(200)
  const pages = ['sign-in', 'sign-in/code', 'join', 'password', 'second-factor', 'member-second-factor']
  for (const form of [...pages, 'forgot', 'reset', 'browsers', 'workspace', 'sign-out']) {
    const { status } = await api.ask(`/dashboard/${form}`, { method: 'POST', headers: { cookie, ...sites[0] } })
    expect([form, status]).toEqual([form, 403])
  }
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({ action: 'link.create', actor_type: 'user', interface: 'console' })
})

test('pages have a policy that lets no script of others run', async () => {
  const response = await api.ask('/dashboard', { headers: { cookie: await signIn() } })
  const policy = response.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toContain('unsafe')
  const [script] = /\/dashboard\/files\/dashboard-\w+\.js/.exec(await response.text())!
  const file = await api.ask(script)
  expect(file.headers.get('content-type')).toContain('javascript')
  expect(file.headers.get('cache-control')).toContain('immutable')
  expect((await api.ask('/dashboard', { method: 'POST', headers: own })).status).toBe(405)
})

test('a page has the answers that it begins with, those of its session and address, and no text ends its element', async () => {
  await stores.pg.query('UPDATE workspaces SET name = $2 WHERE id = $1', [mine.workspaceId, '</script><b>'])
  const cookie = await signIn()
  const answersAt = async (path: string) => {
    const text = await (await api.ask(path, { headers: { cookie } })).text()
    const [, json] = /<script type="application\/json" id="answers">([^<]*)<\/script>/.exec(text)!
    return JSON.parse(json!) as Record<string, { name?: string; metrics?: { range: object } }>
  }
  const people = await answersAt('/dashboard/people')
  expect(Object.keys(people)).toEqual(['/workspace', '/workspaces'])
  expect(people['/workspace']).toMatchObject({ id: mine.workspaceId, name: '</script><b>' })
  const question = '/analytics/overview?compare=previous&days=7&source=news'
  const overview = await answersAt('/dashboard?source=news&days=7')
  expect(Object.keys(overview)).toEqual(['/workspace', '/workspaces', question])
  const asked = await (await api.ask(`/api/v1${question}`, { headers: { cookie } })).json()
  expect(Object.keys(overview[question]!)).toEqual(Object.keys(asked as object))
  // Refused questions are left to the page, which says why.
  expect(Object.keys(await answersAt('/dashboard?device=toaster'))).toEqual(['/workspace', '/workspaces'])
})

async function makeContact(email: string): Promise<{ id: number }> {
  const [contact] = await stores.pg.query<{ id: number }>(
    `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     VALUES ($1, $2, $3, 1, 1, 1, 1) RETURNING id`,
    [mine.workspaceId, email, stores.hashes.emailHashOf(mine.workspaceId, email)],
  )
  return contact!
}

test('a person is erased from the dashboard, audited as the owner, and their events go', async () => {
  const contact = await makeContact('ada@example.com')
  const ask = askAs(await signIn())
  const erase = (body: object) => ask('POST', '/people/erase', body)
  expect((await erase({ contact_id: contact.id })).status).toBe(200)
  expect(await stores.pg.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id])).toEqual([])
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({
    action: 'contact.erase',
    actor_type: 'user',
    interface: 'console',
    resource_id: contact.id,
    metadata: { fields: ['contact_id'] },
  })
  expect((await erase({ anonymous_id: 'b-1' })).status).toBe(200)
  // Events that wait to be merged go too, and the pipeline does the rest: test/integration/people-erase.test.ts.
  const ordered = await stores.pg.query<{ browsers: object }>(
    'SELECT browsers FROM erasures WHERE workspace_id = $1 ORDER BY id',
    [mine.workspaceId],
  )
  const visitor = stores.hashes.visitorOf(mine.workspaceId, 'b-1')
  expect(ordered.map(({ browsers }) => browsers)).toEqual([[], [expect.objectContaining({ visitor, fromAt: 0 })]])

  expect((await erase({ contact_id: contact.id })).status).toBe(404)
  expect((await erase({})).status).toBe(422)
  expect((await erase({ contact_id: 1, anonymous_id: 'a' })).status).toBe(422)
})

test('no person is erased while so much waits that merging it would hold up everybody', async () => {
  const contact = await makeContact('ida@example.com')
  const cookie = await signIn()
  const body = JSON.stringify({ contact_id: contact.id })
  const erase = () => api.ask('/api/v1/people/erase', { method: 'POST', headers: { cookie, ...own }, body })
  await stores.pg.query(
    `INSERT INTO inbox (event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties,
       source, medium, campaign, content, occurred_at, received_at)
     SELECT 1000 + n, $1, 'identify', 'identify', 'flo@example.com', '', '', '{}', '', '', '', '', now(), now()
     FROM generate_series(0, $2) AS n`,
    [mine.workspaceId, inboxRowsPerErasure],
  )
  const refused = await erase()
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, String(retryAfterSeconds)])
  const options = { ch: stores.ch, hashes: stores.hashes, log: makeLog('test', 'silent'), now: Date.now() }
  await shortenInbox(stores.pg, options, new AbortController().signal)
  expect((await erase()).status).toBe(200)
})

test('a key is made, shown once, used and revoked, audited as the owner, and none of others is reached', async () => {
  const others = await makeWorkspace(stores)
  const cookie = await signIn()
  const ask = askAs(cookie)
  const make = (body: object) => ask<{ id: number; api_key: string }>('POST', '/api-keys', body)
  const revoke = (id: number) => ask('DELETE', `/api-keys/${id}`)
  type Listed = { keys: { id: number; revoked_at: string | null }[]; scopes: string[] }
  const list = async () => (await ask<Listed>('GET', '/api-keys')).body
  const plain = await api.ask('/api/v1/api-keys', { headers: { cookie } })
  expect(plain.headers.get('cache-control')).toBe('no-store')
  const good = { name: 'a', scopes: ['posts:read'] }
  for (const wrong of [{ name: '' }, { scopes: [] }, { scopes: ['everything'] }, { expires_at: '2020-01-01' }]) {
    expect((await make({ ...good, ...wrong })).status, JSON.stringify(wrong)).toBe(422)
  }
  const made = await make({ name: 'reports', scopes: ['workspace:read'], expires_at: '2100-01-01' })
  const { id, api_key: key } = made.body
  expect((await api.ask('/v1/workspace', { key })).status).toBe(200)
  expect((await api.ask('/v1/posts', { key })).status).toBe(403)
  const { keys, scopes } = await list()
  expect(keys[0]).toMatchObject({ id, name: 'reports', revoked_at: null, expires_at: '2100-01-01T00:00:00.000Z' })
  expect(JSON.stringify(keys)).not.toContain(key)
  expect(scopes).toContain('audit:read')

  const foreign = await makeKey(stores, others.workspaceId)
  expect((await revoke(foreign.id)).status).toBe(404)
  expect((await revoke(id)).status).toBe(200)
  expect((await list()).keys.find((one) => one.id === id)!.revoked_at).not.toBeNull()
  now += 5_000
  expect((await api.ask('/v1/workspace', { key })).status).toBe(401)
  const audited = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 2 })
  expect(audited).toMatchObject([
    { action: 'api_key.revoke', actor_type: 'user', interface: 'console', resource_id: id },
    { action: 'api_key.create', actor_type: 'user', interface: 'console', resource_id: id },
  ])
  expect(JSON.stringify(audited)).not.toContain(key)
})

test(`a workspace has ${apiKeysMax} keys that work, so that all of them are listed; a revoked one makes room`, async () => {
  const ask = askAs(await signIn())
  const make = () => ask<{ detail: string; id: number }>('POST', '/api-keys', { name: 'a', scopes: ['posts:read'] })
  const first = await make()
  const made: number[] = []
  while ((await countLiveKeys(stores.pg, mine.workspaceId, 'api_key', new Date(now))) < apiKeysMax)
    made.push((await makeKey(stores, mine.workspaceId)).id)
  const refused = await make()
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('as many secret keys')])
  await ask('DELETE', `/api-keys/${first.body.id}`)
  expect((await make()).status).toBe(200)
  await stores.pg.query('UPDATE api_keys SET revoked_at = now() WHERE id = ANY ($1::bigint[])', [made])
})

test('the owner changes the workspace; what is not named stays, and what no calendar or bank has is refused', async () => {
  const ask = askAs(await signIn())
  const change = (body: object) => ask('PATCH', '/workspace/settings', body)
  const { body: before } = await ask<{ name: string }>('GET', '/workspace/settings')
  expect(before).toMatchObject({ id: mine.workspaceId, timezone: 'UTC', currency: 'USD', retention_days: null })
  const changed = { name: 'Harbour', timezone: 'Asia/Kolkata', currency: 'EUR', retention_days: 20 }
  expect((await change(changed)).body).toEqual({ ...before, ...changed })
  expect((await change({ retention_days: null })).body).toEqual({ ...before, ...changed, retention_days: null })
  expect((await ask('GET', '/workspace')).body).toMatchObject({ name: 'Harbour' })
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({ action: 'workspace.update', actor_type: 'user', resource_id: mine.workspaceId })
  expect((await change({ timezone: 'europe/BERLIN' })).body).toMatchObject({ timezone: 'Europe/Berlin' })
  // ClickHouse takes no other spelling, and no name that Intl alone knows.
  const known = await stores.ch.query<{ name: string }>('SELECT time_zone AS name FROM system.time_zones')
  const names = new Set(known.map(({ name }) => name))
  expect(timeZoneNames.filter((name) => !names.has(name))).toEqual([])
  const wrong = [
    { timezone: 'Mars/Base' },
    { timezone: 'PST' },
    { timezone: 'IST' },
    { currency: 'XQQ' },
    { name: '' },
    { retention_days: 0 },
    { plan: 'scale' },
  ]
  for (const body of wrong) expect((await change(body)).status, JSON.stringify(body)).toBe(422)
})

test('the owner adds a workspace of the same plan, with a tracking key; the session goes there and back', async () => {
  const cookie = await signIn()
  const ask = askAs(cookie)
  const nameShown = async () => (await ask<{ name: string }>('GET', '/workspace')).body.name
  const first = await nameShown()
  const made = await ask<{ id: number }>('POST', '/workspaces', { name: 'Second site', timezone: 'Europe/Berlin' })
  expect(made).toMatchObject({ status: 200, body: { name: 'Second site' } })
  const { id } = made.body
  const there = `/dashboard?workspace=${id}`
  expect(await open(there, cookie)).toEqual([200, null])
  const second = { id, name: 'Second site', timezone: 'Europe/Berlin', plan_key: 'growth' }
  expect((await ask('GET', '/workspace')).body).toMatchObject(second)
  const { snippet } = (await ask<{ snippet: object }>('GET', '/analytics/overview?include=snippet')).body
  expect(snippet).toMatchObject({ tracking_key: expect.stringMatching(/^svc_pk_/) })
  expect((await ask('POST', '/workspaces', { name: 'X', timezone: 'Nowhere' })).status).toBe(422)
  expect(await nameShown()).toBe('Second site')
  await open(`/dashboard?workspace=${mine.workspaceId}`, cookie)
  expect(await nameShown()).toBe(first)
  const role = { role: 'owner', scopes: scopesOfRoles.owner }
  expect((await ask('GET', '/workspaces')).body).toEqual([
    { id: mine.workspaceId, name: first, ...role, is_current: true },
    { id, name: 'Second site', ...role, is_current: false },
  ])
})

test('an account has so many workspaces and no more, however many ask at once; a demo counts', async () => {
  const { workspaceId, ownerId } = await makeWorkspace(stores)
  const ask = askAs(await signIn(workspaceId))
  await stores.pg.query(
    `WITH made AS (INSERT INTO workspaces (owner_id, name, slug, timezone)
       SELECT $1, 'w', 'own-' || n, 'UTC' FROM generate_series(1, $2::int) AS n RETURNING id)
     INSERT INTO members (workspace_id, owner_id, role) SELECT id, $1, 'owner' FROM made`,
    [ownerId, ownWorkspacesMax - 2],
  )
  const make = (path = '') => ask('POST', `/workspaces${path}`, path ? {} : { name: 'More', timezone: 'UTC' })
  const answers = await Promise.all([make(), make(), make()])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  const full = { detail: 'The account has as many workspaces as it may have' }
  for (const { body } of [await make(), await make('/demo')]) expect(body).toEqual(full)
})
