/** Invitations and joining by their links: who gets in, who doesn't, and that no link takes an account over. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { requestDeletion } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { invitationMs, membersMax, signInTriesOfAddressMax } from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { fromOwnPage, memberPassword, setUpMembers } from '../support/members.ts'

let now = Date.now()
const { stores, api, mine } = setUpApi({ clock: { now: () => now } })
const { askAs, cookieOf, signInOwner, invite, post, join, makeMember } = setUpMembers({ stores, api, now: () => now })

let people = 0
const newEmail = () => `new${++people}@example.com`
const show = (token: string, init?: RequestInit) => api.ask(`/dashboard/join?token=${token}`, init)
const accountOf = (email: string) =>
  stores.pg.query<{ id: number; password_hash: string | null }>(
    'SELECT id, password_hash FROM owners WHERE email = $1',
    [email],
  )
/** Everything that a try which must change nothing could change. */
const state = () =>
  stores.pg.query(`SELECT 'session' AS what, encode(hash, 'hex') AS is FROM browser_sessions UNION ALL
    SELECT 'member', m::text FROM members m UNION ALL SELECT 'account', o::text FROM owners o ORDER BY 1, 2`)

/** The owner of another workspace, who has an e-mail and perhaps a password. */
async function makeOther(password: string | null) {
  const { workspaceId, ownerId } = await makeWorkspace(stores)
  const email = newEmail()
  const hash = password === null ? null : await hashPassword(password)
  await stores.pg.query('UPDATE owners SET email = $2, password_hash = $3 WHERE id = $1', [ownerId, email, hash])
  return { workspaceId, ownerId, email }
}

test('somebody new joins by the link from anywhere, once, and signs in with the password from then on', async () => {
  await stores.pg.query('UPDATE workspaces SET name = $2 WHERE id = $1', [mine.workspaceId, '<img src=x>'])
  await stores.pg.query('UPDATE owners SET email = $2 WHERE id = $1', [mine.ownerId, `o'<b>@example.com`])
  const ask = await signInOwner(mine)
  const email = newEmail()
  const made = await ask('POST', '/invitations', { email: email.toUpperCase(), role: 'editor' })
  expect(made.body).toEqual({ id: made.body.id, url: expect.stringMatching(/\/dashboard\/join\?token=[\w-]{43}$/) })
  expect(made.body.url.startsWith(testApiHost)).toBe(true)
  const token = new URL(made.body.url).searchParams.get('token')!
  const stored = JSON.stringify(await stores.pg.query(`SELECT *, encode(hash, 'escape') AS hash FROM invitations`))
  expect(stored + JSON.stringify((await ask('GET', '/members')).body)).not.toContain(token)

  await show(token, { method: 'HEAD' })
  const page = await show(token)
  const text = await page.text()
  expect([page.status, text.match(/<(script|img|b>)/)]).toEqual([200, null])
  for (const shown of ['o&#39;&lt;b&gt;@example.com', '&lt;img src=x&gt;', email, 'as an editor']) {
    expect(text).toContain(shown)
  }
  expect(page.headers.get('content-security-policy')).toContain("script-src 'none'")
  expect([page.headers.get('referrer-policy'), page.headers.get('cache-control')]).toEqual([
    'strict-origin',
    'no-store',
  ])

  const already = 'This browser is signed in already'
  const cookieOnly = { headers: { cookie: `svc_session=${'a'.repeat(43)}` } }
  expect([text.includes(already), (await (await show(token, cookieOnly)).text()).includes(already)]).toEqual([
    false,
    true,
  ])

  for (const again of ['', `${memberPassword}!`]) {
    const mistyped = await post('/dashboard/join', { token, password: memberPassword, again })
    expect([mistyped.status, (await mistyped.text()).includes('the same in both fields')]).toEqual([422, true])
  }
  const joined = await join(token)
  expect([joined.status, joined.headers.get('location')]).toEqual([303, '/dashboard'])
  expect(joined.headers.get('set-cookie')).toMatch(/^svc_session=[\w-]{43}; .*HttpOnly; SameSite=Lax; Secure$/)
  expect((await show(token)).status).toBe(410)
  const pressedTwice = await join(token)
  expect([pressedTwice.status, (await pressedTwice.text()).includes('href="/dashboard/sign-in"')]).toEqual([410, true])
  const signedIn = await post('/dashboard/sign-in', { email, password: memberPassword })
  const mineAgain = await askAs(cookieOf(signedIn))('GET', '/workspaces')
  expect(mineAgain.body).toMatchObject([{ id: mine.workspaceId, role: 'editor' }])

  const [{ id } = { id: 0 }] = await accountOf(email)
  const audited = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 2 })
  expect(audited).toMatchObject([
    {
      action: 'member.join',
      actor_type: 'user',
      actor_id: id,
      interface: 'console',
      resource_id: id,
      ip_hash: expect.stringMatching(/./),
      metadata: { invitation_id: made.body.id, role: 'editor' },
    },
    { action: 'invitation.create', resource_id: made.body.id, metadata: { fields: ['email', 'role'], role: 'editor' } },
  ])
  expect(JSON.stringify(audited[1])).not.toContain(email)
})

test('an account joins by its own password alone, and is in both workspaces then', async () => {
  const other = await makeOther('another password')
  const { token } = await invite(mine, other.email, 'viewer')
  const before = await state()
  const wrong = await join(token)
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
  expect(await wrong.text()).toContain('The e-mail or password is wrong')
  expect(await state()).toEqual(before)
  // A password that there is isn't entered twice.
  const joined = await post('/dashboard/join', { token, password: 'another password', again: '' })
  expect(joined.status).toBe(303)
  const ask = askAs(cookieOf(joined))
  expect((await ask('GET', '/workspaces')).body).toMatchObject([
    { id: mine.workspaceId, role: 'viewer' },
    { id: other.workspaceId, role: 'owner' },
  ])
  const moved = await api.ask(`/dashboard?workspace=${other.workspaceId}`, { headers: { cookie: cookieOf(joined) } })
  expect([moved.status, (await ask('GET', '/members')).status]).toEqual([200, 200])
})

test('no link gets into an account without a password, and a password that is none tells nothing of accounts', async () => {
  const other = await makeOther(null)
  const { token } = await invite(mine, other.email, 'admin')
  const unknown = await invite(mine, newEmail(), 'admin')
  const before = await state()
  const refused = await join(token)
  expect([refused.status, refused.headers.get('set-cookie')]).toEqual([409, null])
  expect(await refused.text()).toContain('svc owner password')
  for (const [link, by] of [
    [token, 'short'],
    [unknown.token, 'short'],
    [unknown.token, 'a'.repeat(201)],
  ] as const) {
    const answer = await join(link, by)
    expect([answer.status, (await answer.text()).includes('10 to 200 characters')]).toEqual([422, true])
  }
  expect(await state()).toEqual(before)
})

test('a link that was withdrawn, is too old, is none, or is of a deleted workspace shows and makes nothing', async () => {
  const gone = await makeWorkspace(stores)
  const [withdrawn, ofGone] = [await invite(mine, newEmail(), 'viewer'), await invite(gone, newEmail(), 'viewer')]
  expect((await (await signInOwner(mine))('DELETE', `/invitations/${withdrawn.id}`)).body).toEqual({ id: withdrawn.id })
  await stores.pg.transaction((tx) => requestDeletion(tx, gone.workspaceId))
  const late = await invite(mine, newEmail(), 'viewer')
  now += invitationMs
  const texts = new Set<string>()
  for (const token of [withdrawn.token, ofGone.token, late.token, 'a'.repeat(43), '', '"><script>']) {
    const answers = [await show(encodeURIComponent(token)), await join(token)]
    expect([token, ...answers.map(({ status }) => status)]).toEqual([token, 410, 410])
    for (const answer of answers) texts.add(await answer.text())
  }
  expect(texts.size).toBe(1)
  // Addresses that were invited don't stay.
  now += 1
  await signInOwner(mine)
  expect(await stores.pg.query('SELECT 1 FROM invitations')).toEqual([])
})

test('the page names the owner as such only where the owner invites', async () => {
  const admin = await makeMember(mine, 'admin')
  await stores.pg.query('UPDATE owners SET email = $2 WHERE id = $1', [admin.id, 'admin@mail.invalid'])
  const { body } = await admin.ask('POST', '/invitations', { email: newEmail(), role: 'viewer' })
  const texts = [new URL(body.url).searchParams.get('token')!, (await invite(mine, newEmail(), 'viewer')).token].map(
    async (token) => (await show(token)).text(),
  )
  expect(await Promise.all(texts)).toEqual([
    expect.stringContaining('<bdi>admin@mail.invalid</bdi> invites'),
    expect.stringContaining('The owner invites'),
  ])
})

test('tries by a link and by signing in are counted together', async () => {
  const other = await makeOther('another password')
  const { token } = await invite(mine, other.email, 'viewer')
  const here = { ...fromOwnPage, 'X-Forwarded-For': '203.0.113.10' }
  // Right passwords take none away from an office.
  for (let n = 0; n < 2; n++) {
    const signedIn = await post('/dashboard/sign-in', { email: other.email, password: 'another password' }, here)
    expect(signedIn.status).toBe(303)
  }
  const someone = await invite(mine, newEmail(), 'viewer')
  expect((await join(someone.token, memberPassword, here)).status).toBe(303)
  for (let n = 0; n < signInTriesOfAddressMax; n++) expect((await join(token, memberPassword, here)).status).toBe(401)
  const refused = await join(token, 'another password', here)
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  const signIn = await post('/dashboard/sign-in', { email: other.email, password: 'another password' }, here)
  expect(signIn.status).toBe(429)
  expect((await join(token, 'another password')).status).toBe(303)
})

test('of two who use a link at once one gets in, with one account', async () => {
  const email = newEmail()
  const { token } = await invite(mine, email, 'viewer')
  const answers = await Promise.all([join(token, 'password of one'), join(token, 'password of two')])
  const statuses = answers.map(({ status }) => status).sort()
  expect([statuses[0], [401, 410].includes(statuses[1]!)]).toEqual([303, true])
  expect((await accountOf(email)).length).toBe(1)
})

test('an address is invited once, with a role to give, and not where it is a member; places are bounded', async () => {
  const ask = await signInOwner(mine)
  const member = await makeMember(mine, 'viewer')
  const invited = newEmail()
  await invite(mine, invited, 'editor')
  const refusals: [object, number][] = [
    ...[{ role: 'owner' }, { role: 'root' }, { email: 'nobody' }, { email: `${'a'.repeat(250)}@x.com` }].map(
      (wrong): [object, number] => [wrong, 422],
    ),
    // It would be shown as the owner.
    [{ email: `owner@${randomUUID()}.INVALID` }, 422],
    ...[{ email: member.email.toUpperCase() }, { email: invited }].map((known): [object, number] => [known, 409]),
  ]
  for (const [wrong, status] of refusals) {
    const answer = await ask('POST', '/invitations', { email: newEmail(), role: 'viewer', ...wrong })
    expect([wrong, answer.status]).toEqual([wrong, status])
  }
  // The owner, the member, the invitation; one place is left for all who come at once.
  await stores.pg.query(
    `INSERT INTO invitations (workspace_id, hash, email, role, invited_by, created_at, expires_at)
     SELECT $1, decode(lpad(to_hex(n), 8, '0'), 'hex'), n || '@example.com', 'viewer', $2, now(), to_timestamp($4)
     FROM generate_series(5, $3::int) n`,
    [mine.workspaceId, mine.ownerId, membersMax, (now + invitationMs) / 1000],
  )
  const last = await Promise.all(
    Array.from({ length: 8 }, () => ask('POST', '/invitations', { email: newEmail(), role: 'viewer' })),
  )
  expect(last.filter(({ status }) => status === 200).length).toBe(1)
  expect(last.find(({ status }) => status === 409)!.body.detail).toContain('as many members')
})
