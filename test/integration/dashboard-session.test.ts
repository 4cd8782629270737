/** Sign-in of owners, and the operations by the session of a browser: what holds, what ends, and what other sites can't do. */
import { expect, test, vi } from 'vitest'
import { listAuditEvents } from '../../postgres/tables/audit.ts'
import { createSignInLink } from '../../postgres/tables/owner-sessions.ts'
import { browserSessionMs, signInLinkMs } from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'

let now = Date.now()
const { stores, api, mine } = setUpApi({ clock: { now: () => now } })

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

const workspaceOf = async (cookie: string) => {
  const response = await api.ask('/api/v1/workspace', { headers: { cookie } })
  return response.status === 200 ? ((await response.json()) as { id: number }).id : response.status
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

test('a page of another workspace than the session is in by now changes nothing', async () => {
  const cookie = await signIn()
  const ask = (shown: string) => api.ask('/api/v1/workspace', { headers: { cookie, 'X-Workspace': shown } })
  expect((await ask(String(mine.workspaceId))).status).toBe(200)
  for (const shown of [String(mine.workspaceId + 1), '', 'x', `${mine.workspaceId}.0`]) {
    expect([shown, (await ask(shown)).status]).toEqual([shown, 409])
  }
})

test('neither stands in for the other: a key under /api/v1, a cookie under /v1; and no token is stored', async () => {
  const cookie = await signIn()
  expect((await api.ask('/api/v1/workspace', { key: mine.apiKey })).status).toBe(401)
  expect((await api.ask('/v1/workspace', { headers: { cookie } })).status).toBe(401)
  for (const bad of ['svc_session=', 'svc_session=x', `svc_session=${'a'.repeat(43)}`, 'a;b=;;=c']) {
    expect(await workspaceOf(bad)).toBe(401)
  }
  const stored = JSON.stringify(await stores.pg.query(`SELECT encode(hash, 'escape') AS hash FROM browser_sessions`))
  expect(stored).not.toContain(cookie.split('=')[1])
})

test('what changes something comes from our own pages alone, and is audited as the owner', async () => {
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
  expect((await api.ask('/dashboard/sign-out', { method: 'POST', headers: { cookie } })).status).toBe(403)
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
  expect(Object.keys(people)).toEqual(['/workspace'])
  expect(people['/workspace']).toMatchObject({ id: mine.workspaceId, name: '</script><b>' })
  const question = '/analytics/overview?compare=previous&days=7&source=news'
  // A page doesn't wait long for an answer: on a busy machine it may come without it.
  const overview = await vi.waitFor(async () => {
    const answers = await answersAt('/dashboard?source=news&days=7')
    expect(Object.keys(answers)).toEqual(['/workspace', question])
    return answers
  }, 20_000)
  const asked = await (await api.ask(`/api/v1${question}`, { headers: { cookie } })).json()
  expect(Object.keys(overview[question]!)).toEqual(Object.keys(asked as object))
  // What can't be asked is left to the page, which says why.
  expect(Object.keys(await answersAt('/dashboard?device=toaster'))).toEqual(['/workspace'])
})
