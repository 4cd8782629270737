/** An owner helps a member who lost the phone: by the own password and code, and only where no other owner's workspace is touched. */
import { beforeAll, expect, test } from 'vitest'
import { createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { appWith } from '../support/authenticator-app.ts'
import { fromOwnPage, memberPassword, setUpMembers } from '../support/members.ts'

const clock = fixedClock(Date.now())
const { stores, api, mine } = setUpApi({ clock, sharesWorkspace: true })
const { post, makeMember, cookieOf } = setUpMembers({ stores, api, now: clock.now })

const path = '/dashboard/member-second-factor'
const email = 'owner-of-members@example.com'
const signIn = (account = email) => post('/dashboard/sign-in', { email: account, password: memberPassword })
const remove = (cookie: string, member: number | string, fields: Record<string, string> = {}) =>
  post(path, { member: String(member), current: memberPassword, ...fields }, { ...fromOwnPage, cookie })
const show = (cookie: string, member: number) => api.ask(`${path}?member=${member}`, { headers: { cookie } })

let owner: string
beforeAll(async () => {
  const values = [mine.ownerId, email, await hashPassword(memberPassword)]
  await stores.pg.query('UPDATE owners SET email = $2, password_hash = $3 WHERE id = $1', values)
  owner = cookieOf(await signIn())
})

async function turnOn(cookie: string) {
  const change = (fields: Record<string, string>) =>
    post('/dashboard/second-factor', { current: memberPassword, ...fields }, { ...fromOwnPage, cookie })
  await change({ wish: 'begin' })
  const page = await (await api.ask('/dashboard/second-factor', { headers: { cookie } })).text()
  const app = appWith(/<pre[^>]*>([A-Z2-7 ]{39})<\/pre>/.exec(page)![1]!)
  const nextCode = () => {
    clock.advance(30_000)
    return app.codeAt(clock.now())
  }
  expect((await change({ wish: 'confirm', code: nextCode() })).status).toBe(200)
  return nextCode
}

async function makeProtected() {
  const member = await makeMember(mine, 'admin')
  await turnOn(member.cookie)
  return member
}

test('the owner removes it by the own password and code, once, and it is audited; the member signs in by password', async () => {
  const member = await makeProtected()
  expect(await (await show(owner, member.id)).text()).not.toContain('name="code"')
  expect((await remove(owner, member.id, { current: 'not the password' })).status).toBe(401)
  const nextCode = await turnOn(owner)
  const page = await (await show(owner, member.id)).text()
  expect([page.includes(member.email), page.includes('name="code"')]).toEqual([true, true])
  for (const code of ['', '000000']) expect((await remove(owner, member.id, { code })).status).toBe(401)
  expect((await signIn(member.email)).headers.get('location')).toContain('/dashboard/sign-in/code')

  const removed = await remove(owner, member.id, { code: nextCode() })
  expect([removed.status, removed.headers.get('location')]).toEqual([
    303,
    `${path}?removed&workspace=${mine.workspaceId}`,
  ])
  expect((await signIn(member.email)).headers.get('location')).toBe('/dashboard')
  expect((await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 }))[0]).toMatchObject({
    action: 'member.remove_second_factor',
    actor_id: mine.ownerId,
    actor_name: email,
    resource_type: 'member',
    resource_id: member.id,
    interface: 'console',
  })
  expect((await remove(owner, member.id, { code: nextCode() })).status).toBe(404)
  await stores.pg.query('DELETE FROM second_factors WHERE owner_id = $1', [mine.ownerId])
})

test('an account that is in another owner’s workspace, too, keeps it; one that is in two of this owner’s does not', async () => {
  const member = await makeProtected()
  const other = await makeWorkspace(stores)
  await stores.pg.query(`INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'viewer')`, [
    other.workspaceId,
    member.id,
  ])
  for (const answer of [await show(owner, member.id), await remove(owner, member.id)]) {
    expect([answer.status, (await answer.text()).includes('another owner')]).toEqual([409, true])
  }
  await stores.pg.query('UPDATE workspaces SET owner_id = $2 WHERE id = $1', [other.workspaceId, mine.ownerId])
  expect((await remove(owner, member.id)).status).toBe(303)
})

test('nobody else does: no member, no other workspace’s owner; and the owner’s own one is not meant', async () => {
  const member = await makeProtected()
  const admin = await makeMember(mine, 'admin')
  expect((await remove(admin.cookie, member.id)).status).toBe(403)
  const foreign = await makeWorkspace(stores)
  const token = await createSignInLink(stores.pg, foreign.workspaceId, clock.now())
  const theirs = cookieOf(await api.ask(`/dashboard/sign-in?token=${token}`))
  expect((await remove(theirs, member.id)).status).toBe(404)
  for (const wrong of [mine.ownerId, 0, 'x', '9'.repeat(30)]) expect((await remove(owner, wrong)).status).toBe(404)
  const led = await api.ask(`${path}?member=${member.id}`, { redirect: 'manual' })
  expect([led.status, led.headers.get('location')]).toEqual([303, expect.stringContaining('/dashboard/sign-in?next=')])
  expect((await signIn(member.email)).headers.get('location')).toContain('/dashboard/sign-in/code')
})

test('a page that names a workspace is of that one, wherever another tab took the session', async () => {
  const member = await makeProtected()
  const second = await makeWorkspace(stores)
  const joining = 'INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, $3)'
  await stores.pg.query(joining, [second.workspaceId, mine.ownerId, 'admin'])
  await api.ask(`/dashboard?workspace=${second.workspaceId}`, { headers: { cookie: owner } })
  const named = (workspaceId: number) => `member=${member.id}&workspace=${workspaceId}`
  const open = (query: string) => api.ask(`${path}?${query}`, { headers: { cookie: owner } })
  for (const id of [second.workspaceId, mine.workspaceId + 1_000]) expect((await open(named(id))).status).toBe(403)
  const shown = await open(named(mine.workspaceId))
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining(`value="${mine.workspaceId}"`)])
  const removed = await remove(owner, member.id, { workspace: String(mine.workspaceId) })
  expect([removed.status, removed.headers.get('location')]).toEqual([
    303,
    `${path}?removed&workspace=${mine.workspaceId}`,
  ])
  expect(await (await api.ask(removed.headers.get('location')!, { headers: { cookie: owner } })).text()).toContain(
    `/dashboard/settings?workspace=${mine.workspaceId}`,
  )
  expect((await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 }))[0]).toMatchObject({
    action: 'member.remove_second_factor',
    resource_id: member.id,
  })
})
