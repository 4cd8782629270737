/** The second factor of accounts: how it is turned on and off, what it asks for, and what gets past it. */
import { expect, test } from 'vitest'
import { createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { appendSystemChange, listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { sha256Of } from '../../schemas/keys.ts'
import {
  codeTriesOfAccountMax,
  codeTriesOfStepMax,
  codeWindowMs,
  factorSetUpMs,
  recoveryCodesCount,
  signInStepMs,
} from '../../schemas/limits/second-factor-limits.ts'
import { makeWorkspace, setUpApi, startApi } from '../support/api.ts'
import { appWith } from '../support/authenticator-app.ts'
import { svcOn } from '../support/command-line.ts'
import { fromOwnPage, memberPassword, setUpMembers } from '../support/members.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const clock = fixedClock(Date.now())
const stepMs = 30_000
const { stores, api, mine } = setUpApi({ clock })
const { post, makeMember, invite, join, askAs } = setUpMembers({ stores, api, now: clock.now })

const cookiesOf = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)
const cookieOf = (response: Response, name: string) =>
  cookiesOf(response).find((cookie) => cookie.startsWith(`${name}=`) && !cookie.endsWith('='))
const show = (cookie: string) => api.ask('/dashboard/second-factor', { headers: { cookie } })
const change = (cookie: string, fields: Record<string, string>) =>
  post('/dashboard/second-factor', fields, { ...fromOwnPage, cookie })
const signIn = (email: string, password = memberPassword) => post('/dashboard/sign-in', { email, password })
const enter = (cookie: string, code: string, more: Record<string, string> = {}) =>
  post('/dashboard/sign-in/code', { code, ...more }, { ...fromOwnPage, cookie })
const statusOf = async (cookie: string) => (await askAs(cookie)('GET', '/workspaces')).status

/** The next code that wasn't used yet. */
function nextCode(app: ReturnType<typeof appWith>): string {
  clock.advance(stepMs)
  return app.codeAt(clock.now())
}

async function begin(cookie: string) {
  const begun = await change(cookie, { wish: 'begin', current: memberPassword })
  expect([begun.status, begun.headers.get('location')]).toEqual([303, '/dashboard/second-factor'])
  const page = await (await show(cookie)).text()
  const [, key] = /<pre[^>]*>([A-Z2-7 ]{39})<\/pre>/.exec(page)!
  return { app: appWith(key!), key: key!, page }
}

/** A member with the factor on. */
async function makeProtected() {
  const member = await makeMember(mine, 'admin')
  const { app } = await begin(member.cookie)
  const on = await change(member.cookie, { wish: 'confirm', code: nextCode(app) })
  expect(on.status).toBe(200)
  const recovery = (await on.text()).match(/(?:[0-9a-z]{4}-){3}[0-9a-z]{4}/g)!
  return { ...member, app, recovery }
}

/** @returns the cookie of the step that awaits a code */
async function passPassword(email: string, password?: string) {
  const answer = await signIn(email, password)
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard/sign-in/code?next=%2Fdashboard'])
  expect(cookieOf(answer, 'svc_session')).toBeUndefined()
  return cookieOf(answer, 'svc_sign_in')!
}

const audited = async () => (await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 }))[0]!

test('it is on after one right code, ends other sessions, and is stored neither in plain text nor in the audit log', async () => {
  const member = await makeMember(mine, 'viewer')
  const other = cookieOf(await signIn(member.email), 'svc_session')!
  expect((await change(member.cookie, { wish: 'begin', current: 'not the password' })).status).toBe(401)
  expect((await change(member.cookie, { wish: 'off', current: memberPassword, code: '123456' })).status).toBe(422)
  const first = await begin(member.cookie)
  const { app, key, page } = await begin(member.cookie)
  expect(key).not.toBe(first.key)
  expect(page).toContain('data:image/svg+xml')
  // Nothing asks for a code yet.
  expect(cookieOf(await signIn(member.email), 'svc_session')).toBeDefined()
  for (const code of [first.app.codeAt(clock.now()), '', '000'])
    expect((await change(member.cookie, { wish: 'confirm', code })).status).toBe(401)
  const on = await change(member.cookie, { wish: 'confirm', code: app.codeAt(clock.now()) })
  const codes = (await on.text()).match(/(?:[0-9a-z]{4}-){3}[0-9a-z]{4}/g)!
  expect([on.status, on.headers.get('cache-control'), new Set(codes).size]).toEqual([
    200,
    'no-store',
    recoveryCodesCount,
  ])
  expect([await statusOf(member.cookie), await statusOf(other)]).toEqual([200, 401])
  // A second press took the codes from the screen: its answer says how to get others.
  const again = await change(member.cookie, { wish: 'confirm', code: app.codeAt(clock.now()) })
  expect([again.status, await again.text()]).toEqual([200, expect.stringContaining('recovery codes, make others')])
  const shown = await (await show(member.cookie)).text()
  expect(shown).toContain(`${recoveryCodesCount} of ${recoveryCodesCount} recovery codes`)
  const rows = await stores.pg.query(
    `SELECT encode(sealed, 'escape') AS has FROM second_factors UNION ALL SELECT encode(hash, 'escape') FROM recovery_codes
     UNION ALL SELECT a::text FROM audit_events a`,
  )
  for (const secret of [key, key.replaceAll(' ', ''), codes[0]!, codes[0]!.replaceAll('-', '')]) {
    expect([shown.includes(secret), JSON.stringify(rows).includes(secret)]).toEqual([false, false])
  }
  const row = await audited()
  expect(row).toMatchObject({ action: 'member.turn_on_second_factor', actor_id: member.id, resource_id: member.id })
  expect(row.metadata).toEqual({})
})

test('signing in by password asks for a code, begins no session before it, and leads to the page that was asked for', async () => {
  const { email, app } = await makeProtected()
  const next = '/dashboard/posts?tag=a'
  const answer = await post('/dashboard/sign-in', { email, password: memberPassword, next })
  expect(answer.headers.get('location')).toBe(`/dashboard/sign-in/code?${new URLSearchParams({ next })}`)
  const [set] = answer.headers.getSetCookie()
  expect(set).toMatch(
    /^svc_sign_in=[\w-]{43}; Path=\/dashboard\/sign-in\/code; Max-Age=300; HttpOnly; SameSite=Strict; Secure$/,
  )
  const step = cookieOf(answer, 'svc_sign_in')!
  expect(await statusOf(step.replace('svc_sign_in', 'svc_session'))).toBe(401)
  const page = await api.ask(answer.headers.get('location')!, { headers: { cookie: step } })
  expect([page.status, (await page.text()).includes(`value="${next}"`)]).toEqual([200, true])
  expect((await post('/dashboard/sign-in/code', { code: nextCode(app) }, { cookie: step })).status).toBe(403)
  const wrong = await enter(step, '000000')
  expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []])
  const code = nextCode(app)
  const both = await Promise.all([enter(step, code, { next }), enter(step, code, { next })])
  expect(both.map(({ status }) => status).sort()).toEqual([303, 410])
  const right = both.find(({ status }) => status === 303)!
  expect(right.headers.get('location')).toBe(next)
  expect(await statusOf(cookieOf(right, 'svc_session')!)).toBe(200)
  expect((await enter(step, nextCode(app))).status).toBe(410)
})

test('each way to sign in ends the session that the browser had before, once it is through', async () => {
  const had = await makeMember(mine, 'viewer')
  const { email, app } = await makeProtected()
  const headers = { ...fromOwnPage, cookie: had.cookie }
  const step = await post('/dashboard/sign-in', { email, password: memberPassword }, headers)
  const steps = `${had.cookie}; ${cookieOf(step, 'svc_sign_in')}`
  expect([(await enter(steps, '000000')).status, await statusOf(had.cookie)]).toEqual([401, 200])
  let cookie = cookieOf(await enter(steps, nextCode(app)), 'svc_session')!
  const [other, invited] = [await makeMember(mine, 'viewer'), await invite(mine, 'joining@example.com', 'viewer')]
  const link = await createSignInLink(stores.pg, mine.workspaceId, clock.now())
  const ended = [had.cookie]
  for (const arrive of [
    () => post('/dashboard/sign-in', { email: other.email, password: memberPassword }, { ...fromOwnPage, cookie }),
    () => api.ask(`/dashboard/sign-in?token=${link}`, { headers: { cookie } }),
    () => join(invited.token, memberPassword, { ...fromOwnPage, cookie }),
  ]) {
    expect(await statusOf(cookie)).toBe(200)
    ended.push(cookie)
    cookie = cookieOf(await arrive(), 'svc_session')!
  }
  expect([await Promise.all(ended.map(statusOf)), await statusOf(cookie)]).toEqual([[401, 401, 401, 401], 200])
})

test('a code holds one step either way, works once, and takes those before it along', async () => {
  const { email, app } = await makeProtected()
  clock.advance(10 * stepMs)
  const [before, code, after, far] = [-1, 0, 1, 2].map((steps) => app.codeAt(clock.now() + steps * stepMs))
  const step = await passPassword(email)
  expect((await enter(step, far!)).status).toBe(401)
  expect((await enter(step, code!)).status).toBe(303)
  const again = await passPassword(email)
  expect([(await enter(again, code!)).status, (await enter(again, before!)).status]).toEqual([401, 401])
  expect((await enter(again, after!)).status).toBe(303)
})

test('a recovery code signs in once, however it is typed, and is audited', async () => {
  const { id, email, recovery } = await makeProtected()
  const typed = ` ${recovery[0]!.toUpperCase().replaceAll('-', ' ')} `
  expect((await enter(await passPassword(email), typed)).status).toBe(303)
  expect(await audited()).toMatchObject({
    action: 'member.use_recovery_code',
    actor_id: id,
    metadata: { left: recoveryCodesCount - 1 },
  })
  const step = await passPassword(email)
  expect((await enter(step, recovery[0]!)).status).toBe(401)
  expect((await enter(step, recovery[1]!)).status).toBe(303)
})

test('a sign-in awaits its code for 5 minutes and 5 tries, an account has 10 wrong ones an hour, and right ones do not count', async () => {
  const { email, app, recovery } = await makeProtected()
  const late = await passPassword(email)
  clock.advance(signInStepMs)
  expect((await enter(late, nextCode(app))).status).toBe(410)
  const tried = await passPassword(email)
  for (let n = 0; n < codeTriesOfStepMax; n++) expect((await enter(tried, '000000')).status).toBe(401)
  expect((await enter(tried, nextCode(app))).status).toBe(410)
  // Right ones are given back.
  for (let n = 0; n < 3; n++) expect((await enter(await passPassword(email), nextCode(app))).status).toBe(303)
  const more = await passPassword(email)
  for (let n = codeTriesOfStepMax; n < codeTriesOfAccountMax; n++)
    expect((await enter(more, '000000')).status).toBe(401)
  const refused = await enter(await passPassword(email), recovery[0]!)
  const waits = Number(refused.headers.get('retry-after'))
  expect([refused.status, waits > 0 && waits <= codeWindowMs / 1000]).toEqual([429, true])
})

test('a reset of the password by mail leaves it on, and ends sign-ins that await a code', async () => {
  const { id, email, cookie, app } = await makeProtected()
  const waiting = await passPassword(email)
  const token = 'r'.repeat(43)
  await stores.pg.query(
    'INSERT INTO password_resets (hash, owner_id, created_at, expires_at) VALUES ($1, $2, $3, $4)',
    [sha256Of(token), id, new Date(clock.now()), new Date(clock.now() + 60_000)],
  )
  const password = 'another password'
  const reset = await post('/dashboard/reset', { token, password, again: password })
  expect([reset.status, reset.headers.get('location')]).toEqual([303, '/dashboard/sign-in?changed'])
  expect([cookieOf(reset, 'svc_session'), await statusOf(cookie)]).toEqual([undefined, 401])
  expect((await enter(waiting, nextCode(app))).status).toBe(410)
  expect((await enter(await passPassword(email, password), nextCode(app))).status).toBe(303)
})

test('it is turned off, and its recovery codes are replaced, by password and code together', async () => {
  const { email, cookie, app, recovery } = await makeProtected()
  const right = { current: memberPassword }
  expect((await change(cookie, { ...right, wish: 'off', code: '000000' })).status).toBe(401)
  expect((await change(cookie, { wish: 'off', current: 'not the password', code: nextCode(app) })).status).toBe(401)
  expect((await change(cookie, { ...right, wish: 'begin' })).status).toBe(422)
  const others = await change(cookie, { ...right, wish: 'codes', code: recovery[0]! })
  const made = (await others.text()).match(/(?:[0-9a-z]{4}-){3}[0-9a-z]{4}/g)!
  expect([others.status, made.length]).toEqual([200, recoveryCodesCount])
  expect((await audited()).action).toBe('member.replace_recovery_codes')
  expect((await change(cookie, { ...right, wish: 'off', code: recovery[1]! })).status).toBe(401)
  const off = await change(cookie, { ...right, wish: 'off', code: made[0]! })
  expect([off.status, off.headers.get('location')]).toEqual([303, '/dashboard/second-factor?off'])
  expect(await audited()).toMatchObject({
    action: 'member.turn_off_second_factor',
    metadata: { recovery_code: true },
  })
  expect(cookieOf(await signIn(email), 'svc_session')).toBeDefined()
  // A secret that is never confirmed is forgotten.
  await begin(cookie)
  clock.advance(factorSetUpMs)
  expect(await (await show(cookie)).text()).toContain('Set it up')
})

test('an invitation asks the account that it is for for a code, too', async () => {
  const { email, app, recovery } = await makeProtected()
  const other = await makeWorkspace(stores)
  const { token } = await invite(other, email, 'viewer')
  const join = (fields: object = {}) => post('/dashboard/join', { token, password: memberPassword, ...fields })
  for (const fields of [{}, { code: '000000' }]) {
    const asked = await join(fields)
    expect([asked.status, asked.headers.getSetCookie(), (await asked.text()).includes('name="code"')]).toEqual([
      401,
      [],
      true,
    ])
  }
  const joined = await join({ code: nextCode(app) })
  expect([joined.status, await statusOf(cookieOf(joined, 'svc_session')!)]).toEqual([303, 200])
  const again = await invite(await makeWorkspace(stores), email, 'viewer')
  expect((await join({ token: again.token, code: recovery[0]! })).status).toBe(303)
})

test('links of this machine go without a code, and an account that signs in by links alone has no factor', async () => {
  const email = `owner${mine.workspaceId}@example.com`
  await stores.pg.query('UPDATE owners SET email = $2 WHERE id = $1', [mine.ownerId, email])
  const byLink = async () => {
    const token = await createSignInLink(stores.pg, mine.workspaceId, clock.now())
    return cookieOf(await api.ask(`/dashboard/sign-in?token=${token}`), 'svc_session')!
  }
  const cookie = await byLink()
  expect([(await show(cookie)).status, (await change(cookie, { wish: 'begin' })).status]).toEqual([409, 409])
  await stores.pg.query('UPDATE owners SET password_hash = $2 WHERE id = $1', [
    mine.ownerId,
    await hashPassword(memberPassword),
  ])
  const { app } = await begin(cookie)
  expect((await change(cookie, { wish: 'confirm', code: nextCode(app) })).status).toBe(200)
  await passPassword(email)
  expect(await statusOf(await byLink())).toBe(200)
})

test('whoever runs the service turns it off for a member who is locked out', async () => {
  const { id, email } = await makeProtected()
  const remove = (as: string) => svcOn(stores, 'second-factor', 'remove', '--email', as)
  expect(await remove('nobody')).toMatchObject({ code: 2 })
  expect(await remove('nobody@example.com')).toMatchObject({ code: 1 })
  expect(await remove(email.toUpperCase())).toMatchObject({ code: 0 })
  expect(await audited()).toMatchObject({
    action: 'member.turn_off_second_factor',
    resource_id: id,
    interface: 'cli',
  })
  expect(cookieOf(await signIn(email), 'svc_session')).toBeDefined()
})

test('with a lost SECRET_KEY no code of the app is right, recovery codes go on, and what was begun is begun anew', async () => {
  const { email, app, recovery } = await makeProtected()
  const { cookie } = await makeMember(mine, 'viewer')
  await begin(cookie)
  const anew = await startApi({ ...stores, secretKey: 'another secret of tests, of 40 letters...' }, { clock })
  const ask = (path: string, fields: object, cookie = '') =>
    anew.ask(path, {
      method: 'POST',
      headers: { ...fromOwnPage, cookie },
      body: new URLSearchParams({ ...fields }),
    })
  const step = cookieOf(await ask('/dashboard/sign-in', { email, password: memberPassword }), 'svc_sign_in')!
  expect((await ask('/dashboard/sign-in/code', { code: nextCode(app) }, step)).status).toBe(401)
  expect((await ask('/dashboard/sign-in/code', { code: recovery[0]! }, step)).status).toBe(303)
  const page = await anew.ask('/dashboard/second-factor', { headers: { cookie } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Set it up')])
  expect((await ask('/dashboard/second-factor', { wish: 'begin', current: memberPassword }, cookie)).status).toBe(303)
  await anew.close()
})

test('recovery codes that are used at once are audited as one after the other', async () => {
  const { email, recovery } = await makeProtected()
  const steps = [await passPassword(email), await passPassword(email)]
  const entered = await stores.pg.transaction(async (tx) => {
    // Whoever is audited waits for the end of this.
    await appendSystemChange(tx, { ...heldChain, workspaceId: mine.workspaceId })
    const both = steps.map((step, at) => enter(step, recovery[at]!))
    await expect.poll(() => countWaiting(stores.pg)).toBe(2)
    return both
  })
  expect((await Promise.all(entered)).map(({ status }) => status)).toEqual([303, 303])
  const used = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 2 })
  expect(used.map(({ metadata }) => metadata['left'])).toEqual([recoveryCodesCount - 2, recoveryCodesCount - 1])
})

const heldChain = { actorName: 'svc', action: 'workspace.update', resourceId: null, metadata: {} } as const
