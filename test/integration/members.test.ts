/** Members: what a role's change and a removal end, who can't be removed, and that workspaces are apart. */
import { expect, test } from 'vitest'
import type { Queryable } from '../../postgres/client.ts'
import { changeRole, removeMember } from '../../postgres/tables/members/members.ts'
import { changePassword, findPasswordHash } from '../../postgres/tables/members/owner-passwords.ts'
import { beginBrowserSession, createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { appendSystemChange, listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { findDemo } from '../../postgres/tables/workspaces/demo-workspaces.ts'
import { requestDeletion } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import { createWorkspace, setPlan } from '../../postgres/tables/workspaces/workspaces.ts'
import { browserSessionMs, signInTriesOfAddressMax } from '../../schemas/limits/api-limits.ts'
import { scopes } from '../../schemas/scopes.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { png } from '../support/media-files.ts'
import { fromOwnPage, memberPassword, setUpMembers } from '../support/members.ts'
import { countWaiting, untilWaitingOrEnded } from '../support/waiting-for-locks.ts'

let now = Date.now()
const { stores, api, mine } = setUpApi({ clock: { now: () => now } })
const { askAs, cookieOf, signInOwner, invite, post, join, makeMember } = setUpMembers({ stores, api, now: () => now })

type Ask = ReturnType<typeof askAs>

const makeKey = async (ask: Ask) =>
  (await ask<{ api_key: string }>('POST', '/api-keys', { name: 'mine', scopes })).body.api_key

/** The status that a key gets once every node's copy of it is too old. */
async function statusOf(key: string, path = '/v1/workspace') {
  now += 5_000
  return (await api.ask(path, { key })).status
}

interface Listed {
  readonly members: { id: number; is_self: boolean; keys: number }[]
  readonly invitations: { id: number }[]
}
const membersOf = async (ask: Ask) => (await ask<Listed>('GET', '/members')).body

test('another role counts from the next request on, for keys too, and ends invitations of who may not invite', async () => {
  const owner = await signInOwner(mine)
  const admin = await makeMember(mine, 'admin')
  const key = await makeKey(admin.ask)
  const shared = (await admin.ask('POST', '/shared-links', { name: 'x' })).body.url.split('#')[1]!
  const { body } = await admin.ask('POST', '/invitations', { email: 'friend@example.com', role: 'admin' })
  const token = new URL(body.url).searchParams.get('token')!
  expect((await api.ask('/v1/webhooks', { key })).status).toBe(200)
  const changed = await owner('PATCH', `/members/${admin.id}`, { role: 'viewer' })
  const ended = { revoked_keys: [], withdrawn_invitations: [body.id] }
  expect([changed.status, changed.body]).toEqual([200, { id: admin.id, ...ended }])
  expect([(await admin.ask('GET', '/api-keys')).status, (await admin.ask('GET', '/posts')).status]).toEqual([403, 200])
  expect([await statusOf(key, '/v1/webhooks'), await statusOf(key, '/v1/posts')]).toEqual([403, 200])
  expect((await join(token)).status).toBe(410)
  expect(await statusOf(shared)).toBe(200)
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({
    action: 'member.update',
    resource_id: admin.id,
    metadata: { role: 'viewer', ...ended },
  })
  await owner('PATCH', `/members/${admin.id}`, { role: 'admin' })
  expect([(await admin.ask('GET', '/api-keys')).status, await statusOf(key, '/v1/webhooks')]).toEqual([200, 200])
})

test('a removed member is out at once with keys and invitations, also when invited anew, which mends a forgotten password', async () => {
  const owner = await signInOwner(mine)
  const admin = await makeMember(mine, 'admin')
  const key = await makeKey(admin.ask)
  const shared = await admin.ask('POST', '/shared-links', { name: 'x' })
  const revoked = await admin.ask('POST', '/api-keys', { name: 'revoked', scopes: ['posts:read'] })
  await admin.ask('DELETE', `/api-keys/${revoked.body.id}`)
  const invited = await admin.ask('POST', '/invitations', { email: 'friend@example.com', role: 'admin' })
  const before = await membersOf(owner)
  expect([before.members.find(({ id }) => id === admin.id)?.keys, before.invitations.length]).toEqual([2, 1])
  expect((await owner('DELETE', `/members/${admin.id}`)).status).toBe(200)
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  const cutOff = { revoked_keys: [expect.any(Number), shared.body.id], withdrawn_invitations: [invited.body.id] }
  expect(audited).toMatchObject({ action: 'member.delete', metadata: cutOff })
  expect([(await admin.ask('GET', '/workspace')).status, await statusOf(key)]).toEqual([401, 401])
  const { members, invitations } = await membersOf(owner)
  expect([members.map(({ id, is_self }) => [id, is_self]), invitations]).toEqual([[[mine.ownerId, true]], []])
  expect((await post('/dashboard/sign-in', { email: admin.email, password: memberPassword })).status).toBe(401)
  expect(await stores.pg.query('SELECT 1 FROM owners WHERE id = $1', [admin.id])).toEqual([])
  const { token } = await invite(mine, admin.email, 'admin')
  expect((await join(token, 'not the old one')).status).toBe(303)
  expect(await statusOf(key)).toBe(401)
})

test('whoever is removed while a request makes a key or shared link has neither afterwards', async () => {
  const others = await makeWorkspace(stores)
  const admin = await makeMember(mine, 'admin')
  const { token } = await invite(others, admin.email, 'viewer')
  await join(token)
  const asked = await stores.pg.transaction(async (tx) => {
    await removeMember(tx, mine.workspaceId, admin.id)
    const both = [
      admin.ask('POST', '/api-keys', { name: 'late', scopes }),
      admin.ask('POST', '/shared-links', { name: 'late' }),
    ]
    await expect.poll(() => countWaiting(stores.pg)).toBe(2)
    return both
  })
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403])
  expect(await stores.pg.query("SELECT 1 FROM api_keys WHERE name = 'late'")).toEqual([])
})

test('whoever is demoted or loses the session while a request waits changes nothing any more', async () => {
  const admin = await makeMember(mine, 'admin')
  const key = await makeKey(admin.ask)
  const promoted = await stores.pg.transaction(async (tx) => {
    await changeRole(tx, { workspaceId: mine.workspaceId, id: admin.id, role: 'viewer' })
    const itself = admin.ask('PATCH', `/members/${admin.id}`, { role: 'admin' })
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    return [itself]
  })
  expect((await Promise.all(promoted)).map(({ status }) => status)).toEqual([403])

  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(png({ width: 9 }))], { type: 'image/png' }), 'late.png')
  const whole = new Response(form)
  const bytes = new Uint8Array(await whole.arrayBuffer())
  let sendRest = () => {}
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 100))
      sendRest = () => {
        controller.enqueue(bytes.subarray(100))
        controller.close()
      }
    },
  })
  await changeRole(stores.pg, { workspaceId: mine.workspaceId, id: admin.id, role: 'admin' })
  now += 5_000
  const headers = { 'Content-Type': whole.headers.get('content-type')! }
  const upload = api.ask('/v1/media', { method: 'POST', key, body, headers, duplex: 'half' } as RequestInit)
  const isUsed = 'SELECT 1 FROM api_keys WHERE owner_id = $1 AND last_used_at IS NOT NULL'
  await expect.poll(() => stores.pg.query(isUsed, [admin.id])).toHaveLength(1)
  await removeMember(stores.pg, mine.workspaceId, admin.id)
  sendRest()
  expect((await upload).status).toBe(401)
  expect(await (await api.ask('/v1/media', { key: mine.apiKey })).json()).toEqual([])
})

test('a member of two workspaces leaves one alone, for good, and has in each the role of it alone', async () => {
  const others = await makeWorkspace(stores)
  const member = await makeMember(mine, 'editor')
  const joinAs = async (role: 'admin' | 'viewer') => {
    const { token } = await invite(others, member.email, role)
    return askAs(cookieOf(await join(token)))
  }
  const before = await joinAs('admin')
  const key = await makeKey(before)
  expect((await before('POST', '/members/leave')).body).toMatchObject({ id: member.id })
  const there = await joinAs('viewer')
  // Invited again, the member has none of the keys of before.
  expect(await statusOf(key)).toBe(401)
  expect([(await member.ask('GET', '/workspace')).body.id, (await there('GET', '/workspace')).body.id]).toEqual([
    mine.workspaceId,
    others.workspaceId,
  ])
  expect((await there('POST', '/links', {})).status).toBe(403)
  expect((await member.ask('POST', '/links', {})).status).toBe(422)
  expect((await there('POST', '/members/leave')).body).toMatchObject({ id: member.id })
  // Other tabs of the browser may show the other workspace.
  expect([(await there('GET', '/workspace')).body.id, (await member.ask('GET', '/workspace')).body.id]).toEqual([
    mine.workspaceId,
    mine.workspaceId,
  ])
  const moved = await api.ask(`/dashboard?workspace=${others.workspaceId}`, { headers: { cookie: member.cookie } })
  expect([moved.status, moved.headers.get('location')]).toEqual([303, '/dashboard'])
  expect((await member.ask('GET', '/workspace')).body.id).toBe(mine.workspaceId)
})

test('the owner stays, and nobody of another workspace is reached', async () => {
  const others = await makeWorkspace(stores)
  const foreign = await makeMember(others, 'viewer')
  const invited = await invite(others, 'somebody@example.com', 'viewer')
  const admin = await makeMember(mine, 'admin')
  const role = { role: 'viewer' }
  for (const ask of [admin.ask, await signInOwner(mine)]) {
    expect((await ask('PATCH', `/members/${mine.ownerId}`, role)).status).toBe(409)
    expect((await ask('DELETE', `/members/${mine.ownerId}`)).status).toBe(409)
    for (const id of [foreign.id, others.ownerId, 4e12]) {
      expect((await ask('PATCH', `/members/${id}`, role)).status).toBe(404)
      expect((await ask('DELETE', `/members/${id}`)).status).toBe(404)
    }
    expect((await ask('DELETE', `/invitations/${invited.id}`)).status).toBe(404)
  }
  expect((await (await signInOwner(mine))('POST', '/members/leave')).status).toBe(409)
  expect((await admin.ask('PATCH', `/members/${admin.id}`, { role: 'owner' })).status).toBe(422)
  expect((await foreign.ask('GET', '/workspace')).status).toBe(200)
})

test("a member lives by the plan of the workspace's owner", async () => {
  const { ask } = await makeMember(mine, 'admin')
  const key = await makeKey(ask)
  expect([(await ask('GET', '/workspace')).status, await statusOf(key)]).toEqual([200, 200])
  await setPlan(stores.pg, mine.workspaceId, null)
  expect([(await ask('GET', '/workspace')).status, await statusOf(key)]).toEqual([402, 402])
})

test('a lapsed plan keeps nobody out of other workspaces, and signing in begins in the best one', async () => {
  const [lapsed, paid] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  const member = await makeMember(lapsed, 'editor')
  const signIn = async () => {
    const ask = askAs(cookieOf(await post('/dashboard/sign-in', { email: member.email, password: memberPassword })))
    return (await ask('GET', '/workspace')).body.id
  }
  expect((await join((await invite(paid, member.email, 'viewer')).token)).status).toBe(303)
  expect(await signIn()).toBe(lapsed.workspaceId)
  await setPlan(stores.pg, lapsed.workspaceId, null)
  expect(await signIn()).toBe(paid.workspaceId)
  expect([(await member.ask('GET', '/workspace')).status, (await member.ask('GET', '/workspaces')).body]).toMatchObject(
    [402, [{ id: lapsed.workspaceId }, { id: paid.workspaceId }]],
  )
  expect((await member.ask('POST', '/members/leave')).status).toBe(200)
  const own = { name: 'Own', timezone: 'UTC', plan: 'starter', ownerEmail: member.email } as const
  const { workspaceId } = await stores.pg.transaction((tx) => createWorkspace(tx, own))
  expect(await signIn()).toBe(workspaceId)
})

test('members change their own password by the current one, without a plan too: all other sessions and invitations end', async () => {
  const member = await makeMember(mine, 'admin')
  await setPlan(stores.pg, mine.workspaceId, null)
  const signIn = (password: string) => post('/dashboard/sign-in', { email: member.email, password })
  const other = askAs(cookieOf(await signIn(memberPassword)))
  const change = (fields: object, headers: object = {}) =>
    post(
      '/dashboard/password',
      { current: memberPassword, password: 'another password', again: 'another password', ...fields },
      { ...fromOwnPage, cookie: member.cookie, ...headers },
    )
  expect((await change({}, { cookie: '' })).headers.get('location')).toBe(
    '/dashboard/sign-in?next=%2Fdashboard%2Fpassword',
  )
  for (const [fields, status] of [
    [{ current: 'not the password' }, 401],
    [{ password: 'short', again: 'short' }, 422],
    [{ again: 'something else' }, 422],
  ] as const) {
    const refused = await change(fields)
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([status, null])
  }
  const at = { 'X-Forwarded-For': '203.0.113.77' }
  for (let n = 0; n < signInTriesOfAddressMax; n++) await change({ current: 'not the password' }, at)
  expect((await change({}, at)).status).toBe(429)
  expect((await other('GET', '/workspaces')).status).toBe(200)

  const changed = await change({})
  expect([changed.status, changed.headers.get('location')]).toEqual([303, '/dashboard/password?changed'])
  expect([(await other('GET', '/workspaces')).status, (await member.ask('GET', '/workspaces')).status]).toEqual([
    401, 401,
  ])
  const here = askAs(cookieOf(changed))
  expect((await here('GET', '/workspaces')).body).toMatchObject([{ id: mine.workspaceId, is_current: true }])
  expect([(await signIn(memberPassword)).status, (await signIn('another password')).status]).toEqual([401, 303])
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({ action: 'member.change_password', actor_id: member.id, interface: 'console' })
  expect(audited!.metadata).toEqual({})
})

test('a password is changed while somebody else signs in to the workspace and sessions are over', async () => {
  const member = await makeMember(mine, 'viewer')
  const another = { ownerId: mine.ownerId, workspaceId: mine.workspaceId, browser: null, before: undefined }
  await beginBrowserSession(stores.pg, another, now - 2 * browserSessionMs)
  const fields = { current: memberPassword, password: 'another password', again: 'another password' }
  let changed: ReturnType<typeof post> | undefined
  await stores.pg.transaction(async (tx) => {
    await beginBrowserSession(tx, another, now)
    changed = post('/dashboard/password', fields, { ...fromOwnPage, cookie: member.cookie })
    await untilWaitingOrEnded(stores.pg, changed)
    const change = { actorName: 'svc', action: 'workspace.update', resourceId: null, metadata: {} } as const
    await appendSystemChange(tx, { workspaceId: mine.workspaceId, ...change })
  })
  expect((await changed!).status).toBe(303)
})

test('two members whose sessions of before are over change their passwords at once', async () => {
  const [one, other] = [await makeMember(mine, 'viewer'), await makeMember(mine, 'viewer')]
  const before = (await findPasswordHash(stores.pg, one.id))!
  const arriving = { workspaceId: mine.workspaceId, browser: null, before: undefined }
  for (const { id } of [one, other]) {
    await beginBrowserSession(stores.pg, { ownerId: id, ...arriving }, now - 2 * browserSessionMs)
  }
  const fields = { current: memberPassword, password: 'another password', again: 'another password' }
  const changed = await stores.pg.transaction(async (tx) => {
    expect(await changePassword(tx, one.id, { before, after: 'another hash' })).toBe(true)
    const posted = post('/dashboard/password', fields, { ...fromOwnPage, cookie: other.cookie })
    await untilWaitingOrEnded(stores.pg, posted)
    await beginBrowserSession(tx, { ownerId: one.id, ...arriving }, now)
    return [posted]
  })
  expect((await changed[0]!).status).toBe(303)
})

test('a member changes the own password and is removed at once, one after the other', async () => {
  const owner = await signInOwner(mine)
  const { id } = await makeMember(mine, 'admin')
  const before = (await findPasswordHash(stores.pg, id))!
  let removed: ReturnType<typeof owner> | undefined
  await stores.pg.transaction(async (tx) => {
    // Begins when the account is held and its sessions aren't yet.
    const between = async <Row>(rows: Promise<Row[]>) => {
      const answer = await rows
      if (removed === undefined) {
        removed = owner('DELETE', `/members/${id}`)
        await expect.poll(() => countWaiting(stores.pg)).toBe(1)
      }
      return answer
    }
    const slow: Queryable = { query: (sql, params) => between(tx.query(sql, params)) }
    expect(await changePassword(slow, id, { before, after: 'another hash' })).toBe(true)
  })
  expect((await removed!).status).toBe(200)
  expect(await findPasswordHash(stores.pg, id)).toBeNull()
})

test.each([
  ['the removal of its member', (tx: Queryable, id: number) => removeMember(tx, mine.workspaceId, id)],
  ['the deletion of its workspace', (tx: Queryable) => requestDeletion(tx, mine.workspaceId)],
])('a sign-in that waits for %s begins in another workspace', async (_, close) => {
  const [{ id, email }, other] = [await makeMember(mine, 'viewer'), await makeWorkspace(stores)]
  const join = `INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'viewer')`
  await stores.pg.query(join, [other.workspaceId, id])
  const signedIn = await stores.pg.transaction(async (tx) => {
    await close(tx, id)
    const asked = post('/dashboard/sign-in', { email, password: memberPassword })
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    return [asked]
  })
  const { status, body } = await askAs(cookieOf(await signedIn[0]!))('GET', '/workspace')
  expect([status, body.id]).toEqual([200, other.workspaceId])
})

test('pages of the account lead back to the workspace that the tab shows, not to the one that was opened last', async () => {
  const { email, cookie } = await makeMember(mine, 'viewer')
  const fields = { current: memberPassword, password: 'another password', again: 'another password' }
  for (const page of ['second-factor', 'browsers', 'password']) {
    await post('/dashboard/sign-in', { email, password: memberPassword }, fromOwnPage)
    const address = `/dashboard/${page}?workspace=7`
    const shown = await (await api.ask(address, { headers: { cookie } })).text()
    for (const part of [`action="${address}"`, 'href="/dashboard/settings?workspace=7"']) expect(shown).toContain(part)
    const led = (await api.ask(address)).headers.get('location')
    expect(led).toBe(`/dashboard/sign-in?${new URLSearchParams({ next: address })}`)
  }
  const changed = await post('/dashboard/password?workspace=7', fields, { ...fromOwnPage, cookie })
  const next = changed.headers.get('location')!
  expect(next).toBe('/dashboard/password?changed&workspace=7')
  const said = await (await api.ask(next, { headers: { cookie: cookieOf(changed) } })).text()
  for (const part of ['The password was changed', '/dashboard/settings?workspace=7']) expect(said).toContain(part)
})

test('a change of the account is audited in the workspace that the tab shows', async () => {
  const others = await makeWorkspace(stores)
  const member = await makeMember(mine, 'viewer')
  await join((await invite(others, member.email, 'viewer')).token)
  const fields = { current: memberPassword, password: 'another password', again: 'another password' }
  const address = `/dashboard/password?workspace=${others.workspaceId}`
  expect((await post(address, fields, { ...fromOwnPage, cookie: member.cookie })).status).toBe(303)
  const [audited] = await listAuditEvents(stores.pg, others.workspaceId, { limit: 1 })
  expect([audited!.action, audited!.actor_id]).toEqual(['member.change_password', member.id])
})

test('an account that signs in by links alone gets no password in the dashboard', async () => {
  const cookie = cookieOf(
    await api.ask(`/dashboard/sign-in?token=${await createSignInLink(stores.pg, mine.workspaceId, now)}`),
  )
  const fields = { current: '', password: 'another password', again: 'another password' }
  expect((await post('/dashboard/password', fields, { ...fromOwnPage, cookie })).status).toBe(409)
})

test("an owner's demo is not that of a workspace where the owner is a member", async () => {
  const { id } = await makeMember(mine, 'viewer')
  await stores.pg.query(`UPDATE workspaces SET demo = 'filling' WHERE id = $1`, [mine.workspaceId])
  expect([await findDemo(stores.pg, id), (await findDemo(stores.pg, mine.ownerId))?.id]).toEqual([
    undefined,
    mine.workspaceId,
  ])
})

test('a deleted workspace takes along members, invitations, and accounts that have no other', async () => {
  const [gone, kept] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  const [alone, both] = [await makeMember(gone, 'admin'), await makeMember(gone, 'editor')]
  const { token } = await invite(kept, both.email, 'viewer')
  expect((await join(token)).status).toBe(303)
  await invite(gone, 'somebody@example.com', 'viewer')
  await makeKey(alone.ask)
  await stores.pg.transaction((tx) => requestDeletion(tx, gone.workspaceId))
  expect((await alone.ask('GET', '/workspace')).status).toBe(401)
  const shown = { 'X-Workspace': String(gone.workspaceId) }
  expect((await both.ask('GET', '/workspace', undefined, shown)).status).toBe(409)
  expect((await both.ask('GET', '/workspace')).body.id).toBe(kept.workspaceId)
  for (const table of ['members', 'invitations']) {
    expect(await stores.pg.query(`SELECT 1 FROM ${table} WHERE workspace_id = $1`, [gone.workspaceId])).toEqual([])
  }
  const left = await stores.pg.query('SELECT id FROM owners WHERE id = ANY ($1::bigint[])', [[alone.id, both.id]])
  expect(left).toEqual([{ id: both.id }])
})
