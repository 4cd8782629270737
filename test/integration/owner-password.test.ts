/** Sign-in by password: who gets in, who doesn't and what they learn, and which sessions it ends. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createInvitation } from '../../postgres/tables/members/invitations.ts'
import { setOwnerPassword } from '../../postgres/tables/members/owner-passwords.ts'
import { createSignInLink, signInByLink } from '../../postgres/tables/members/owner-sessions.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import {
  knownBrowserMs,
  passwordChecksMax,
  signInFormBytesMax,
  signInTriesOfAddressMax,
  signInTriesOfBrowserMax,
  signInTriesOfEmailMax,
} from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { setUpFolder } from '../support/test-folder.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

let now = Date.now()
const { stores, api, mine } = setUpApi({ clock: { now: () => now } })
const folder = setUpFolder()
const password = 'correct horse "1"'
let email = ''

/** Each from an address of its own, unless one is named: tries of an address are counted. */
let addresses = 0
beforeEach(() => {
  email = `owner${mine.workspaceId}@example.com`
})

const ofOwner = (...words: string[]) =>
  svcOn(stores, 'owner', 'password', '--workspace', String(mine.workspaceId), ...words)

async function trySetPassword(text: string, ...more: string[]) {
  const file = join(folder, 'password')
  writeFileSync(file, `${text}\n`)
  return ofOwner('--password-file', file, ...more)
}

async function setPassword(text = password, ...more: string[]): Promise<void> {
  expect(await trySetPassword(text, ...more)).toMatchObject({ code: 0 })
}

function signIn(as: string, by: string, headers: Record<string, string> = {}) {
  addresses += 1
  return api.ask('/dashboard/sign-in', {
    method: 'POST',
    headers: { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': `198.51.100.${addresses % 250}`, ...headers },
    body: new URLSearchParams({ email: as, password: by }),
  })
}

async function cookieOf(response: Response): Promise<string> {
  expect([response.status, response.headers.get('location')]).toEqual([303, '/dashboard'])
  return response.headers.get('set-cookie')!.split(';')[0]!
}

const statusOf = async (cookie: string) => (await api.ask('/api/v1/workspace', { headers: { cookie } })).status

test('an owner signs in from anywhere by e-mail and password, in whatever case the e-mail is', async () => {
  await setPassword(password, '--email', email)
  const cookie = await cookieOf(await signIn(` ${email.toUpperCase()}`, password))
  const workspace = (await (await api.ask('/api/v1/workspace', { headers: { cookie } })).json()) as { id: number }
  expect(workspace.id).toBe(mine.workspaceId)
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect([audited?.action, audited?.interface, audited?.metadata]).toEqual(['owner.set_password', 'cli', {}])
  const [owner] = await stores.pg.query<{ password_hash: string }>(
    'SELECT password_hash FROM owners WHERE email = $1',
    [email],
  )
  expect(owner!.password_hash).toMatch(/^\$argon2id\$/)
})

test('a wrong password, an unknown e-mail and an owner without a password get the same page', async () => {
  await setPassword(password, '--email', email)
  const answers = await Promise.all(
    [signIn(email, 'wrong password'), signIn('nobody@example.com', password), signIn(email, '')].map(async (asked) => {
      const answer = await asked
      return [answer.status, answer.headers.get('set-cookie'), await answer.text()]
    }),
  )
  expect(answers[0]).toEqual([401, null, expect.stringContaining('The e-mail or password is wrong')])
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect((await signIn(email, 'x'.repeat(signInFormBytesMax))).status).toBe(413)
  expect((await signIn('a\0b@example.com', password)).status).toBe(401)
  // No other site signs a browser in.
  expect((await signIn(email, password, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
})

test('a change of the password ends sessions, links and invitations, and the old password', async () => {
  await setPassword(password, '--email', email)
  const cookie = await cookieOf(await signIn(email, password))
  const link = await createSignInLink(stores.pg, mine.workspaceId, Date.now())
  expect(await statusOf(cookie)).toBe(200)
  const friend = { email: 'friend@example.com', role: 'admin', invitedBy: mine.ownerId } as const
  const invited = { workspaceId: mine.workspaceId, ...friend, now: Date.now() }
  const invitation = await stores.pg.transaction((tx) => createInvitation(tx, invited))
  await setPassword('another password')
  expect((await api.ask(`/dashboard/join?token=${(invitation as { token: string }).token}`)).status).toBe(410)
  expect(await statusOf(cookie)).toBe(401)
  expect((await api.ask(`/dashboard/sign-in?token=${link}`)).status).toBe(410)
  expect((await signIn(email, password)).status).toBe(401)
  await cookieOf(await signIn(email, 'another password'))
  expect(await ofOwner('--remove')).toMatchObject({ code: 0 })
  expect((await signIn(email, 'another password')).status).toBe(401)
})

test('a session that a link begins while the password is changed ends as well', async () => {
  const link = (await createSignInLink(stores.pg, mine.workspaceId, Date.now()))!
  const begun = await stores.pg.transaction(async (tx) => {
    const session = await signInByLink(tx, link, { browser: null, before: undefined }, Date.now())
    const setting = stores.pg.transaction((own) => setOwnerPassword(own, mine.workspaceId, 'a hash', undefined))
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    return { session, setting }
  })
  await begun.setting
  expect(await statusOf(`svc_session=${begun.session}`)).toBe(401)
})

test('a link that is used while the password is changed opens nothing', async () => {
  const link = await createSignInLink(stores.pg, mine.workspaceId, Date.now())
  const opened = await stores.pg.transaction(async (tx) => {
    await tx.query('SELECT FROM owners WHERE id = $1 FOR UPDATE', [mine.ownerId])
    const asked = api.ask(`/dashboard/sign-in?token=${link}`)
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    await setOwnerPassword(tx, mine.workspaceId, 'a hash', undefined)
    return [asked]
  })
  expect((await opened[0]!).status).toBe(410)
})

test('of two owners who take one e-mail at once, one gets it, and the other is told who has it', async () => {
  const other = await makeWorkspace(stores)
  const set = await stores.pg.transaction(async (tx) => {
    await setOwnerPassword(tx, other.workspaceId, 'a hash', email)
    const late = trySetPassword(password, '--email', email)
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    return [late]
  })
  expect(await set[0]!).toMatchObject({ code: 1, err: expect.stringContaining(`another account has ${email}`) })
})

test('tries are bounded for an address, and for an e-mail from wherever', async () => {
  await setPassword(password, '--email', email)
  const here = { 'X-Forwarded-For': '203.0.113.9' }
  for (let n = 0; n < signInTriesOfAddressMax; n++)
    expect((await signIn(`${n}@x.com`, password, here)).status).toBe(401)
  const refused = await signIn(email, password, here)
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  // A household has a network of IPv6, in which it may choose any address.
  for (let n = 0; n < signInTriesOfAddressMax; n++) {
    const at = { 'X-Forwarded-For': `2001:db8:1:2::${n + 1}` }
    expect((await signIn(`${n}@x.com`, password, at)).status).toBe(401)
  }
  expect((await signIn('z@x.com', password, { 'X-Forwarded-For': '2001:db8:1:2:ffff::1' })).status).toBe(429)
  // Those refused for their address take nothing from the e-mail.
  await cookieOf(await signIn(email, password))
  for (let n = 1; n < signInTriesOfEmailMax; n++) await signIn(email, 'wrong password')
  expect((await signIn(email, password)).status).toBe(429)
})

test('strangers who use up the tries of an e-mail lock no browser out that signed in with it before', async () => {
  await setPassword(password, '--email', email)
  const signedIn = await signIn(email, password)
  const known = /^(svc_browser=[\w.-]+); Path=\/dashboard; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure$/
  const cookies = [expect.stringMatching(/^svc_session=/), expect.stringMatching(known)]
  expect({
    status: signedIn.status,
    location: signedIn.headers.get('location'),
    cookies: signedIn.headers.getSetCookie(),
  }).toEqual({ status: 303, location: '/dashboard', cookies })
  const [, cookie] = known.exec(signedIn.headers.getSetCookie()[1]!)! as unknown as [string, string]
  for (let n = 0; n < signInTriesOfEmailMax; n++) await signIn(email, 'wrong password')
  const statusWith = async (sent: string, as = email, by = password) => (await signIn(as, by, { cookie: sent })).status
  expect([(await signIn(email, password)).status, await statusWith(cookie)]).toEqual([429, 303])
  now += knownBrowserMs
  expect(await statusWith(cookie)).toBe(429)
  now -= knownBrowserMs
  // A cookie of another e-mail, a changed one and one that has ended are no better than none.
  const [value] = cookie.slice('svc_browser='.length).split('.')
  const made = cookie.replace(value!, 'a'.repeat(value!.length))
  for (const other of [made, `${cookie.slice(0, -1)}x`, 'svc_browser=', 'svc_browser=a.1.b']) {
    expect([other, await statusWith(other)]).toEqual([other, 429])
  }
  for (let n = 0; n < signInTriesOfEmailMax; n++) await statusWith(cookie, 'nobody@example.com', 'wrong password')
  expect(await statusWith(cookie, 'nobody@example.com')).toBe(429)
  // Its own tries are bounded as well.
  for (let n = 1; n < signInTriesOfBrowserMax; n++) expect(await statusWith(cookie, email, 'wrong')).toBe(401)
  expect(await statusWith(cookie)).toBe(429)
})

test('tries that come while as many passwords are compared as may be count for nobody', async () => {
  await setPassword(password, '--email', email)
  const [, known] = (await signIn(email, password)).headers.getSetCookie()
  const cookie = known!.split(';')[0]!
  const compared = await stores.pg.transaction(async (tx) => {
    await tx.query('SELECT FROM owners WHERE id = $1 FOR UPDATE', [mine.ownerId])
    const asked = Array.from({ length: passwordChecksMax }, () => signIn(email, password, { cookie }))
    await expect.poll(() => countWaiting(stores.pg)).toBe(passwordChecksMax)
    for (let n = 0; n < signInTriesOfBrowserMax; n++) {
      const busy = await signIn(email, password, { cookie, 'X-Forwarded-For': '203.0.113.10' })
      expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '1'])
    }
    return asked
  })
  expect(new Set((await Promise.all(compared)).map(({ status }) => status))).toEqual(new Set([303]))
  expect((await signIn(email, password, { cookie, 'X-Forwarded-For': '203.0.113.10' })).status).toBe(303)
})

test('says what it doesn’t take: short passwords, e-mails of others, what excludes each other', async () => {
  const others = await makeWorkspace(stores)
  expect(await trySetPassword('short')).toMatchObject({ code: 1, err: expect.stringContaining('10 to 200 characters') })
  const [taken] = await stores.pg.query<{ email: string }>('SELECT email FROM owners WHERE id = $1', [others.ownerId])
  expect(await trySetPassword(password, '--email', taken!.email)).toMatchObject({ code: 1 })
  expect(await trySetPassword(password, '--remove')).toMatchObject({ code: 2 })
  expect(await trySetPassword(password, '--email', 'nobody')).toMatchObject({ code: 2 })
})
