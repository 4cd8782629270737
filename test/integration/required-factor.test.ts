/** Workspaces that require a second factor of their members: who may say so, and what those without one still get. */
import { beforeAll, expect, test, vi } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { requireSecondFactor } from '../../postgres/tables/members/required-factors.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { lockWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { idempotencyKeyLengthMax } from '../../schemas/limits/api-limits.ts'
import { makeKey, makeWorkspace, operationsOfSessions, setUpApi } from '../support/api.ts'
import { appWith } from '../support/authenticator-app.ts'
import { svcOn } from '../support/command-line.ts'
import { fromOwnPage, memberPassword, setUpMembers } from '../support/members.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
const { makeMember, invite, post, signInOwner, cookieOf, join } = setUpMembers({ stores, api })
const ofSessions = operationsOfSessions(stores)
const refusal = {
  status: 403,
  body: { detail: 'The workspace requires a second factor: set yours up at /dashboard/second-factor' },
}
const show = (cookie: string, path = '/dashboard/second-factor') =>
  api.ask(path, { headers: { cookie }, redirect: 'manual' })
const change = (cookie: string, fields: Record<string, string>) =>
  post('/dashboard/second-factor', { current: memberPassword, ...fields }, { ...fromOwnPage, cookie })
/** As if it was set up long ago. */
const turnOn = (ownerId: number) =>
  stores.pg.query(
    `INSERT INTO second_factors (owner_id, sealed, created_at, enabled_at) VALUES ($1, '\\x00', now(), now())`,
    [ownerId],
  )
const audited = async () => (await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 }))[0]!

let admin: Awaited<ReturnType<typeof makeMember>>
let owner: Awaited<ReturnType<typeof signInOwner>>
beforeAll(async () => {
  admin = await makeMember(mine, 'admin')
  owner = await signInOwner(mine)
})

const require = (ask: typeof owner, isRequired: boolean) =>
  ask('PATCH', '/workspace/second-factor', { is_required: isRequired })

test('the owner alone requires it, once the own account has one, and it is audited', async () => {
  expect(await require(owner, true)).toMatchObject({
    status: 409,
    body: { detail: 'The owner of the workspace has no second factor yet' },
  })
  expect((await require(admin.ask, true)).body.detail).toBe('Your role in the workspace does not allow this')
  expect((await owner('PATCH', '/workspace/second-factor', { is_required: 'no' })).status).toBe(422)
  await turnOn(mine.ownerId)
  expect(await require(owner, true)).toEqual({ status: 200, body: { id: mine.workspaceId, is_required: true } })
  expect(await audited()).toMatchObject({
    action: 'workspace.require_second_factor',
    actor_id: mine.ownerId,
    resource_id: mine.workspaceId,
    metadata: { fields: ['is_required'], is_required: true },
  })
  const { body } = await owner('GET', '/members')
  expect(body).toMatchObject({
    is_second_factor_required: true,
    members: [
      { id: mine.ownerId, has_second_factor: true },
      { id: admin.id, has_second_factor: false },
    ],
  })
})

test.each([...operations, ...ofSessions].map((operation) => [operation.name, operation] as const))(
  '%s is closed to a member without one, but for the lists of workspaces and leaving',
  async (name, { http, effect }) => {
    const path = http.path.slice('/v1'.length).replace(/\{\w+\}/g, '4000000000000')
    const headers = effect === 'read' ? {} : { 'Idempotency-Key': 'a'.repeat(idempotencyKeyLengthMax + 1) }
    const answer = await admin.ask(http.method, path, undefined, headers)
    if (['workspace.list', 'workspace.glance'].includes(name)) expect(answer.status).toBe(200)
    else if (name === 'member.leave') expect(answer.status).toBe(422)
    else expect(answer).toEqual(refusal)
  },
)

test('a member without one gets the page that sets it up, other workspaces, and all of this one after it', async () => {
  const other = await makeWorkspace(stores)
  const { token } = await invite(other, admin.email, 'viewer')
  const cookie = cookieOf(await join(token))
  expect((await show(cookie, '/dashboard')).status).toBe(200)
  expect((await show(cookie, `/dashboard?workspace=${mine.workspaceId}`)).status).toBe(303)
  const next = '/dashboard/people?q=a'
  const led = [await show(cookie, '/dashboard'), await show(cookie, next)]
  const forNext = `/dashboard/second-factor?${new URLSearchParams({ next })}`
  expect(led.map(({ status, headers }) => [status, headers.get('location')])).toEqual([
    [303, '/dashboard/second-factor'],
    [303, forNext],
  ])
  const page = await (await show(cookie, forNext)).text()
  expect(page).toContain(`name="next" value="${next}"`)
  expect(page).toContain('requires a second factor of its members')
  expect(page).toContain(`href="/dashboard?workspace=${other.workspaceId}"`)
  expect(page).not.toContain('Back to the settings')
  // A key acts without anybody who could enter a code.
  const { apiKey } = await makeKey(stores, mine.workspaceId, { ownerId: admin.id, scopes: ['workspace:read'] })
  expect((await api.ask('/v1/workspace', { key: apiKey })).status).toBe(200)

  const begun = await change(cookie, { wish: 'begin', next })
  expect([begun.status, begun.headers.get('location')]).toEqual([303, forNext])
  const [, key] = /<pre[^>]*>([A-Z2-7 ]{39})<\/pre>/.exec(await (await show(cookie)).text())!
  const on = await change(cookie, { wish: 'confirm', next, code: appWith(key!).codeAt(Date.now()) })
  expect([on.status, (await show(cookie, '/dashboard')).status]).toEqual([200, 200])
  expect(await on.text()).toContain(`<a href="${next}">Go on to the page before</a>`)
})

test('nobody turns the own one off while a workspace requires it, and the page says which', async () => {
  const member = await makeMember(mine, 'viewer')
  await turnOn(member.id)
  const refused = await change(member.cookie, { wish: 'off', code: '000000' })
  const text = await refused.text()
  expect([refused.status, text.includes('It stays on, because a workspace requires it')]).toEqual([409, true])
  expect(text).toMatch(/It can’t be turned off while a workspace requires it: <strong>[^<]+<\/strong>/)
  expect(text).not.toContain('value="off"')
  expect((await require(owner, false)).status).toBe(200)
  expect((await change(member.cookie, { wish: 'off', code: '000000' })).status).toBe(401)
  expect(await (await show(member.cookie)).text()).toContain('value="off"')
})

test('whoever runs the service requires it and doesn’t, as for an owner who lost the own one', async () => {
  const set = (how: string) =>
    svcOn(stores, 'workspace', 'set', '--workspace', String(mine.workspaceId), '--second-factor', how)
  expect(await set('yes')).toMatchObject({ code: 2 })
  expect(await set('required')).toMatchObject({ code: 0, json: { second_factor_required: true } })
  expect(await audited()).toMatchObject({ action: 'workspace.require_second_factor', metadata: { is_required: true } })
  await stores.pg.query('DELETE FROM second_factors WHERE owner_id = $1', [mine.ownerId])
  expect(await owner('GET', '/members')).toEqual(refusal)
  expect((await set('optional')).json).toMatchObject({ second_factor_required: false })
  expect((await owner('GET', '/members')).status).toBe(200)
  expect(await set('required')).toMatchObject({ code: 1 })
  expect(await stores.pg.transaction((tx) => requireSecondFactor(tx, 2 ** 31 - 1, true))).toBe(false)
})

test('a key is made while its workspace begins to require it', async () => {
  const { workspaceId, ownerId } = await makeWorkspace(stores)
  await turnOn(ownerId)
  let required: Promise<boolean> | undefined
  await stores.pg.transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId)
    required = stores.pg.transaction((other) => requireSecondFactor(other, workspaceId, true))
    required.catch(() => {})
    await vi.waitFor(async () => expect(await countWaiting(stores.pg)).toBe(1), 60_000)
    await createApiKey(tx, { workspaceId, name: 'a', scopes: ['posts:read'] })
  })
  expect(await required).toBe(true)
})
