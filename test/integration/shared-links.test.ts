/** Shared links of the dashboard: made and revoked by the owner; whoever has one sees figures, nobody's name, and nothing else. */
import { expect, test } from 'vitest'
import { segmentRows } from '../../postgres/tables/figures/segments.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { sharedLinksMax } from '../../schemas/limits/api-limits.ts'
import { viewScope } from '../../schemas/scopes.ts'
import { makeKey, makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { addEvents } from '../support/fold.ts'
import { setUpMembers } from '../support/members.ts'

let now = Date.now()
const { stores, api, mine } = setUpApi({ clock: { now: () => now } })
const { signInOwner } = setUpMembers({ stores, api, now: () => now })

async function makeLink() {
  const ask = await signInOwner(mine)
  const { body } = await ask('POST', '/shared-links', { name: 'Press' }, { 'Idempotency-Key': 'one' })
  return { ask, ...body, token: new URL(body.url).hash.slice(1) }
}

const statusOf = async (key: string, path = '/v1/workspace') => (await api.ask(path, { key })).status

test('a link is made, shown once, used, listed and revoked, audited as the owner', async () => {
  const { ask, id, url, token } = await makeLink()
  expect(url).toMatch(new RegExp(`^${testApiHost}/shared#svc_view_\\w{38}$`))
  const again = await ask('POST', '/shared-links', { name: 'Press' }, { 'Idempotency-Key': 'one' })
  expect(again.body).toMatchObject({ id, url })
  for (const wrong of [{}, { name: '' }]) expect((await ask('POST', '/shared-links', wrong)).status).toBe(422)

  expect(await statusOf(token)).toBe(200)
  // It stands in for no session.
  expect(await statusOf(token, '/api/v1/workspace')).toBe(401)
  const listed = async () => (await ask('GET', '/shared-links')).body
  await expect.poll(listed).toMatchObject([{ id, name: 'Press', revoked_at: null, last_used_at: expect.any(String) }])
  expect(JSON.stringify(await listed())).not.toContain(token)
  expect(JSON.stringify((await ask('GET', '/api-keys')).body)).not.toContain('svc_view_')

  expect((await ask('DELETE', `/shared-links/${id}`)).body).toEqual({ id })
  now += 5_000
  expect(await statusOf(token)).toBe(401)
  const audited = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 5 })
  const byOwner = { actor_type: 'user', interface: 'console', resource_type: 'shared_link', resource_id: id }
  expect(audited).toMatchObject([
    { action: 'shared_link.revoke', ...byOwner },
    { action: 'shared_link.create', ...byOwner },
  ])
  expect(JSON.stringify(audited)).not.toContain(token)
})

test('a link with an expiry answers like a revoked one from then on, and is listed with it', async () => {
  const { ask, id } = await makeLink()
  await ask('DELETE', `/shared-links/${id}`)
  const expires_at = new Date(now + 60_000).toISOString()
  for (const bad of ['soon', '2026-02-31', new Date(now - 1).toISOString()]) {
    expect((await ask('POST', '/shared-links', { name: 'Press', expires_at: bad })).status).toBe(422)
  }
  const { body } = await ask('POST', '/shared-links', { name: 'Press', expires_at })
  const token = new URL(body.url).hash.slice(1)
  expect((await ask('GET', '/shared-links')).body).toMatchObject([{ id: body.id, expires_at }, { expires_at: null }])
  expect(await statusOf(token)).toBe(200)
  now += 60_000
  expect(await statusOf(token)).toBe(401)
})

test("neither another workspace's link nor a key is revoked as a link, nor a link as a key", async () => {
  const { ask, id } = await makeLink()
  const foreign = await makeKey(stores, (await makeWorkspace(stores)).workspaceId, { scopes: [viewScope] })
  const key = await makeKey(stores, mine.workspaceId)
  for (const other of [foreign.id, key.id]) expect((await ask('DELETE', `/shared-links/${other}`)).status).toBe(404)
  expect((await ask('DELETE', `/api-keys/${id}`)).status).toBe(404)
  expect([await statusOf(foreign.apiKey), await statusOf(key.apiKey)]).toEqual([200, 200])
  const asked = await ask('POST', '/api-keys', { name: 'x', scopes: [viewScope] })
  expect(asked.status).toBe(422)
})

test('a link sees the figures that a key sees, and of nobody a name, an e-mail or an id', async () => {
  const { token } = await makeLink()
  const event = { anonymous_id: 'browser-of-ada', occurred_at: now - 600_000 }
  const properties = '{"email":"ada@example.com"}'
  await addEvents(stores, mine.workspaceId, [event, { ...event, kind: 'custom', event_name: 'signup', properties }])
  const read = async (path: string, key = token) => {
    const answer = await api.ask(`/v1/analytics/${path}`, { key })
    return { status: answer.status, text: await answer.text() }
  }
  const whole = JSON.parse((await read('overview', mine.apiKey)).text)
  expect([whole.metrics.visitors, whole.recent_events.length, whole.recommendations.length > 0]).toEqual([1, 2, true])
  const emptied = { recent_events: [], recommendations: [] }
  const snippet = { ...whole.snippet, workspace_slug: '', tracking_key: '', script_url: '', snippet: '' }
  const shown = JSON.parse((await read('overview')).text)
  expect(shown).toEqual({ ...whole, ...emptied, snippet, metrics: { ...whole.metrics, as_of: shown.metrics.as_of } })
  const { metrics, recent_events, recommendations } = JSON.parse((await read('overview?include=recent_events')).text)
  expect({ metrics, recent_events, recommendations }).toEqual({ metrics: {}, ...emptied })

  const questions = [
    'overview',
    'breakdown',
    'pages',
    'flow?path=/',
    'events?event=signup',
    'bots',
    'funnel?step=path:/&step=event:signup',
    'retention',
  ]
  for (const question of questions) {
    const { status, text } = await read(question)
    expect([question, status]).toEqual([question, 200])
    expect(text).not.toMatch(/\bada|contact_id|anonymous_id|e-?mail/i)
  }
  // Values of a property may be anything.
  const byValue = 'events?event=signup&property=email'
  expect((await read(byValue, mine.apiKey)).text).toContain('ada@example.com')
  const refused = { status: 403, text: '{"detail":"API key lacks the required scope: analytics:read"}' }
  expect(await read(byValue)).toEqual(refused)
  for (const question of questions.filter((one) => !/^(bots|retention)/.test(one))) {
    const guess = `${question}${question.includes('?') ? '&' : '?'}event_property=email:ada*`
    expect([question, (await read(guess, mine.apiKey)).status]).toEqual([question, 200])
    expect([question, await read(guess)]).toEqual([question, refused])
  }
  await segmentRows.insert(stores.pg, mine.workspaceId, { name: 'Phones', filters: { device: ['mobile'] } })
  await segmentRows.insert(stores.pg, mine.workspaceId, { name: 'A', filters: { event_property: ['email:ada*'] } })
  const named = async (key: string) => {
    const segments = (await (await api.ask('/v1/segments', { key })).json()) as { name: string }[]
    return segments.map(({ name }) => name)
  }
  expect([await named(mine.apiKey), await named(token)]).toEqual([['A', 'Phones'], ['Phones']])
})

test(`a workspace has ${sharedLinksMax} live links, also where two come at once for the last place; a revoked one makes room, and so does one that is over`, async () => {
  const { ask, id } = await makeLink()
  for (let made = 1; made < sharedLinksMax - 1; made++) {
    await makeKey(stores, mine.workspaceId, { scopes: [viewScope] })
  }
  const make = (name: string, more = {}) => ask('POST', '/shared-links', { name, ...more })
  const [one, two] = await Promise.all([make('a'), make('b')])
  expect([one.status, two.status].sort()).toEqual([200, 409])
  expect([one, two].find(({ status }) => status === 409)!.body.detail).toContain('as many shared links')
  await ask('DELETE', `/shared-links/${id}`)
  expect((await make('c', { expires_at: new Date(now + 1_000).toISOString() })).status).toBe(200)
  expect((await make('d')).status).toBe(409)
  now += 1_000
  expect((await make('d')).status).toBe(200)
})

test.each(['/shared', '/shared/events', '/shared/funnels', '/shared/retention'])(
  '%s is alike for every link, sends no Referer, and may be framed, as no page of owners may',
  async (path) => {
    const page = await api.ask(path)
    expect(page.status).toBe(200)
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('set-cookie')).toBeNull()
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'self'")
    expect(policy).toContain('frame-ancestors *;')
    expect(await page.text()).toContain('<script type="application/json" id="answers">{}</script>')
    const others = await api.ask('/dashboard/sign-in')
    expect(others.headers.get('content-security-policy')).toBe(
      policy.replace('frame-ancestors *', "frame-ancestors 'none'"),
    )
    expect((await api.ask(path, { method: 'POST' })).status).toBe(405)
    expect((await api.ask('/shared/people')).status).toBe(404)
  },
)
