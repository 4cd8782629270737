/** Mails about accounts: who gets one, what its link does, and that it is sent once. */
import { beforeEach, expect, test } from 'vitest'
import { sendAccountMails } from '../../pipeline/account-mails/send-account-mails.ts'
import type { Queryable } from '../../postgres/client.ts'
import { changePassword, findPasswordHash } from '../../postgres/tables/members/owner-passwords.ts'
import { openPasswordReset } from '../../postgres/tables/members/password-resets.ts'
import { claimAccountMail } from '../../postgres/tables/messages/account-mails.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { accountMailPurpose, makeSecretBox } from '../../runtime/crypto/secret-box.ts'
import { makeLinkToken } from '../../schemas/keys.ts'
import {
  accountMailClaimMs,
  accountMailMs,
  accountMailRetryDelaysMs,
  accountMailUncertainAttemptsMax,
  invitationMailsHourlyMax,
  invitationMailsOfAddressHourlyMax,
  passwordResetMs,
  passwordResetsHourlyMax,
} from '../../schemas/limits/account-mail-limits.ts'
import { invitationMs, signInTriesOfAddressMax, signInTriesOfEmailMax } from '../../schemas/limits/api-limits.ts'
import { day } from '../../schemas/limits/units.ts'
import { mailerAt, makeLook, unstopped } from '../support/alerts.ts'
import { makeWorkspace, setUpApi, startApi, testApiHost } from '../support/api.ts'
import { setUpMailServer } from '../support/mail-server.ts'
import { fromOwnPage, memberPassword, setUpMembers } from '../support/members.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const clock = fixedClock(Date.now())
const { stores, api, mine } = setUpApi({ isMailSetUp: true, clock })
const { post, makeMember, invite } = setUpMembers({ stores, api, now: clock.now })
const server = setUpMailServer()
beforeEach(() => stores.pg.query('DELETE FROM account_mails'))

/** One look of a pipeline process. @returns the outcomes of its attempts */
async function look(withinMs?: number, secretKey = stores.secretKey): Promise<string> {
  const { context, outcomes } = makeLook(stores, clock, { box: makeSecretBox(secretKey, accountMailPurpose) })
  await sendAccountMails({ ...context, mailer: mailerAt(server.url, withinMs) }, unstopped)
  return outcomes('account_mails')
}

const forget = (email: string, headers?: Record<string, string>) => post('/dashboard/forgot', { email }, headers)
const waiting = () => stores.pg.query<{ email: string }>('SELECT email FROM account_mails ORDER BY id')
const sentTo = () => server.mails.map(({ to }) => to)
const mailsOf = async (ask: Awaited<ReturnType<typeof makeMember>>['ask']) =>
  (await ask<{ invitations: { mail: string }[] }>('GET', '/members')).body.invitations.map(({ mail }) => mail)
/** The token of the last mail's link. */
const tokenSent = () => {
  const { text, html } = server.mails.at(-1)!
  const link = /: (https:\S+)/.exec(text)![1]!
  expect(html).toContain(`href="${link}"`)
  return new URL(link).searchParams.get('token')!
}
const show = (token: string) => api.ask(`/dashboard/reset?token=${token}`)
const reset = (token: string, password: string, again = password) =>
  post('/dashboard/reset', { token, password, again })
const signIn = (email: string, password: string) => post('/dashboard/sign-in', { email, password })

/** As if so many invitations had just been mailed, to as many addresses. */
const noteMails = ({ workspace, by, mails }: { workspace: number; by?: number; mails: number }) =>
  stores.pg.query(
    `INSERT INTO invitation_mails (workspace_id, invited_by, address_hash, asked_at)
     SELECT $1, $2, int4send(n), $4 FROM generate_series(1, $3::int) AS n`,
    [workspace, by ?? null, mails, new Date(clock.now())],
  )

test('the link of a forgotten password works once, and ends sessions, other links and invitations', async () => {
  const admin = await makeMember(mine, 'admin')
  const invited = await admin.ask('POST', '/invitations', { email: 'friend@example.com', role: 'admin' })
  await look()
  server.mails.length = 0
  expect((await forget(` ${admin.email.toUpperCase()}`)).status).toBe(200)
  await look()
  const other = tokenSent()
  await forget(admin.email)
  expect(await look()).toBe('sent')
  expect([sentTo(), server.mails[0]!.headers['list-unsubscribe']]).toEqual([[admin.email, admin.email], undefined])
  const token = tokenSent()
  const stored = await stores.pg.query(
    `SELECT r::text AS r FROM password_resets r UNION ALL SELECT m::text FROM account_mails m`,
  )
  expect([stored.length, JSON.stringify(stored).includes(token)]).toEqual([2, false])

  const page = await show(token)
  expect([page.status, (await page.text()).includes(`value="${admin.email}"`)]).toEqual([200, true])
  expect(page.headers.get('content-security-policy')).toContain("script-src 'none'")
  expect([page.headers.get('referrer-policy'), page.headers.get('cache-control')]).toEqual([
    'strict-origin',
    'no-store',
  ])
  expect((await reset(token, 'short')).status).toBe(422)
  expect((await reset(token, 'another password', 'another passwort')).status).toBe(422)
  await forget(admin.email)
  const answers = await Promise.all([reset(token, 'another password'), reset(token, 'another password')])
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 410])
  const { headers } = answers.find(({ status }) => status === 303)!
  expect(headers.get('location')).toBe('/dashboard/sign-in?changed')
  // No session: the browser is only known for the sign-in that follows.
  expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^svc_browser=/)])
  const signInPage = await (await api.ask('/dashboard/sign-in?changed')).text()
  expect(signInPage).toContain('The password was changed')

  for (const ended of [token, other]) {
    expect([(await show(ended)).status, (await reset(ended, 'a third password')).status]).toEqual([410, 410])
  }
  expect(await look()).toBe('')
  expect((await admin.ask('GET', '/workspace')).status).toBe(401)
  expect((await api.ask(new URL(invited.body.url).pathname + new URL(invited.body.url).search)).status).toBe(410)
  expect([
    (await signIn(admin.email, memberPassword)).status,
    (await signIn(admin.email, 'another password')).status,
  ]).toEqual([401, 303])
  const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({
    action: 'member.reset_password',
    actor_id: admin.id,
    resource_id: admin.id,
    interface: 'console',
  })
})

test('whether an account has the e-mail can’t be told: all get the same answer and leave the same until it is sent', async () => {
  const member = await makeMember(mine, 'viewer')
  await stores.pg.query('UPDATE owners SET email = $2 WHERE id = $1', [mine.ownerId, 'by-links@example.com'])
  const emails = [member.email, 'nobody@example.com', 'by-links@example.com', 'owner@made.invalid']
  const texts = new Set<string>()
  for (const email of emails) {
    const answer = await forget(email)
    texts.add(`${answer.status} ${await answer.text()}`)
  }
  expect([texts.size, (await waiting()).map(({ email }) => email)]).toEqual([1, emails])
  await look()
  expect([sentTo(), await waiting()]).toEqual([[member.email], []])
  expect((await forget('nobody')).status).toBe(422)
  expect((await forget('a\0b@example.com')).status).toBe(422)
  // No other site makes a browser ask.
  expect((await forget(member.email, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect(await waiting()).toEqual([])
})

test('an account gets three mails an hour, whose links last an hour; tries count as those to sign in', async () => {
  const { email } = await makeMember(mine, 'viewer')
  for (let n = 0; n <= passwordResetsHourlyMax; n++) {
    await forget(email)
    await look()
  }
  expect([sentTo().length, await waiting()]).toEqual([passwordResetsHourlyMax, []])
  const token = tokenSent()
  clock.advance(passwordResetMs - 1)
  expect((await show(token)).status).toBe(200)
  clock.advance(1)
  expect([(await show(token)).status, (await reset(token, 'another password')).status]).toEqual([410, 410])
  await forget(email)
  expect(await look()).toBe('sent')
  const here = { ...fromOwnPage, 'X-Forwarded-For': '203.0.113.20' }
  for (let n = 0; n < signInTriesOfAddressMax; n++) expect((await forget(email, here)).status).toBe(200)
  const refused = await forget(email, here)
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect((await post('/dashboard/sign-in', { email, password: memberPassword }, here)).status).toBe(429)
})

test('an owner whose tries strangers have used up gets back in at once by the mail’s link', async () => {
  const { email } = await makeMember(mine, 'viewer')
  for (let n = 0; n < signInTriesOfEmailMax; n++) await signIn(email, 'wrong password')
  expect([(await signIn(email, memberPassword)).status, (await forget(email)).status]).toEqual([429, 200])
  expect(await look()).toBe('sent')
  const changed = await reset(tokenSent(), 'another password')
  const cookie = changed.headers.get('set-cookie')!.split(';')[0]!
  const back = { email, password: 'another password' }
  expect((await post('/dashboard/sign-in', back, { ...fromOwnPage, cookie })).status).toBe(303)
})

test('an invitation is mailed with the link that the inviter sees, as who invites, where, as what and until when', async () => {
  await stores.pg.query('UPDATE workspaces SET name = $2 WHERE id = $1', [
    mine.workspaceId,
    '<b>Harbour</b>\u202E\r\nBcc: x',
  ])
  await stores.pg.query('UPDATE owners SET email = $2 WHERE id = $1', [mine.ownerId, 'owner@made.invalid'])
  await invite(mine, 'first@example.com', 'viewer')
  expect(await look()).toBe('sent')
  expect([sentTo(), server.mails[0]!.text.includes('The owner invites you')]).toEqual([['first@example.com'], true])
  const admin = await makeMember(mine, 'admin')
  const invited = await admin.ask('POST', '/invitations', { email: 'New@example.com', role: 'editor' })
  const token = new URL(invited.body.url).searchParams.get('token')!
  const stored = JSON.stringify(await stores.pg.query('SELECT sealed::text, i::text FROM account_mails, invitations i'))
  expect(stored).not.toContain(Buffer.from(token).toString('hex'))
  expect(stored).not.toContain(token)
  expect(await mailsOf(admin.ask)).toEqual(['sent', 'waiting'])
  await look()
  const { to, headers, text, html } = server.mails.at(-1)!
  const until = new Date(clock.now() + invitationMs).toISOString().slice(0, 4)
  // No name that anybody wrote stands in the subject.
  expect([to, headers.subject, tokenSent()]).toEqual(['new@example.com', 'Invitation to a workspace', token])
  for (const shown of [`${admin.email} invites you`, '<b>Harbour</b> Bcc: x at', 'as an editor', until, 'UTC']) {
    expect(text).toContain(shown)
  }
  expect(html).toContain('<bdi>&lt;b&gt;Harbour&lt;/b&gt; Bcc: x</bdi>')
  expect([await mailsOf(admin.ask), await waiting()]).toEqual([['sent', 'sent'], []])
  // Withdrawn before it is sent.
  const { body } = await admin.ask('POST', '/invitations', { email: 'friend@example.com', role: 'viewer' })
  await admin.ask('DELETE', `/invitations/${body.id}`)
  expect(await look()).toBe('')
})

test('a mail that the server refuses is tried again a few times, and the page says that it couldn’t be sent; a workspace has so many mails an hour, and more invitations', async () => {
  const admin = await makeMember(mine, 'admin')
  await look()
  const ask = (email: string) => admin.ask('POST', '/invitations', { email, role: 'viewer' })
  server.behave = 'refuse'
  const { asked } = server
  await ask('refused@example.com')
  for (const delayMs of accountMailRetryDelaysMs) {
    expect([await look(), await look()]).toEqual(['retried', ''])
    clock.advance(delayMs)
  }
  expect([await look(), server.asked - asked]).toEqual(['failed', accountMailRetryDelaysMs.length + 1])
  expect(await mailsOf(admin.ask)).toEqual(['failed'])
  // No pipeline is there.
  await ask('late@example.com')
  clock.advance(accountMailMs)
  expect([await mailsOf(admin.ask), (await waiting()).length]).toEqual([['failed', 'failed'], 1])
  await look()
  expect(await waiting()).toEqual([])

  server.behave = 'accept'
  await noteMails({ workspace: mine.workspaceId, mails: invitationMailsHourlyMax - 1 })
  await ask('last@example.com')
  await ask('next@example.com')
  await look()
  expect([sentTo(), (await mailsOf(admin.ask)).slice(2)]).toEqual([['last@example.com'], ['sent', 'failed']])
})

test('an account has so many mails an hour over all of its workspaces, and an address few, whoever invites', async () => {
  const admin = await makeMember(mine, 'admin')
  await look()
  for (let n = 0; n < invitationMailsOfAddressHourlyMax; n++) {
    await invite(await makeWorkspace(stores), 'Stranger@example.com', 'viewer')
  }
  expect(await look()).toBe('sent')
  expect(sentTo()).toEqual(Array(invitationMailsOfAddressHourlyMax).fill('stranger@example.com'))
  // For whoever invites it is as if the address took no mail.
  const { status, body } = await admin.ask('POST', '/invitations', { email: 'stranger+x@example.com', role: 'viewer' })
  expect([status, (await api.ask(body.url.slice(testApiHost.length))).status]).toEqual([200, 200])
  for (const delayMs of accountMailRetryDelaysMs) {
    expect([await look(), await mailsOf(admin.ask)]).toEqual(['', ['waiting']])
    clock.advance(delayMs)
  }
  expect([await look(), await mailsOf(admin.ask), await waiting()]).toEqual(['', ['failed'], []])
  const { workspaceId: workspace } = await makeWorkspace(stores)
  // One is there.
  await noteMails({ workspace, by: admin.id, mails: invitationMailsHourlyMax - 2 })
  for (const email of ['last@example.com', 'next@example.com']) {
    await admin.ask('POST', '/invitations', { email, role: 'viewer' })
  }
  expect(await mailsOf(admin.ask)).toEqual(['failed', 'waiting', 'failed'])
})

test('several pipelines send a mail once, a death in the send repeats it once, and a third time never', async () => {
  const { email } = await makeMember(mine, 'viewer')
  await forget(email)
  await Promise.all([look(), look(), look()])
  expect(sentTo()).toEqual([email])
  await forget(email)
  const [{ id } = { id: 0 }] = await stores.pg.query<{ id: number }>('SELECT id FROM account_mails')
  const die = () => {
    const now = clock.now()
    return claimAccountMail(stores.pg, id, { now: new Date(now), until: new Date(now + accountMailClaimMs) })
  }
  for (let n = 0; n < accountMailUncertainAttemptsMax; n++) {
    expect(await die()).toBeDefined()
    expect([await look(), await die()]).toEqual(['', undefined])
    clock.advance(accountMailClaimMs)
  }
  expect([await look(), await waiting()]).toEqual(['failed', []])
  // The answer is lost after the content, as of a server that dies.
  await forget(email)
  server.behave = 'hang'
  expect(await look(500)).toBe('retried')
  server.behave = 'accept'
  clock.advance(accountMailClaimMs)
  expect([await look(), sentTo().length]).toEqual(['sent', 2])
  expect((await show(tokenSent())).status).toBe(200)
})

test('a password is changed while the account asks for a link again, an hour after the first one', async () => {
  const { id, email } = await makeMember(mine, 'viewer')
  const before = (await findPasswordHash(stores.pg, id))!
  const open = (now: number) =>
    stores.pg.transaction((tx) => openPasswordReset(tx, { email, token: makeLinkToken(), now }))
  expect(await open(clock.now() - accountMailMs)).toBe(true)
  let opened: Promise<boolean> | undefined
  await stores.pg.transaction(async (tx) => {
    const slow: Queryable = {
      async query(sql, params) {
        const rows = await tx.query(sql, params)
        if (opened !== undefined) return rows as never
        // The account is held, and its links aren't yet.
        opened = open(clock.now())
        await expect.poll(() => countWaiting(stores.pg)).toBe(1)
        return rows as never
      },
    }
    expect(await changePassword(slow, id, { before, after: 'another hash' })).toBe(true)
  })
  expect(await opened).toBe(false)
})

test('where no pipeline is, the next question deletes a mail that is too old', async () => {
  const { email } = await makeMember(mine, 'viewer')
  await forget(email)
  clock.advance(accountMailMs)
  await forget('nobody@example.com')
  expect(await waiting()).toEqual([{ email: 'nobody@example.com' }])
})

test('without a mail server the sign-in offers nothing that needs one', async () => {
  const bare = await startApi(stores, { clock })
  const offers = async ({ ask }: typeof api) =>
    (await (await ask('/dashboard/sign-in')).text()).includes('Forgot your password?')
  expect([await offers(bare), await offers(api)]).toEqual([false, true])
  expect((await bare.ask('/dashboard/forgot')).headers.get('location')).toBe('/dashboard/sign-in')
  await bare.close()
})

test('a mail whose SECRET_KEY was lost counts as failed at once', async () => {
  const admin = await makeMember(await makeWorkspace(stores), 'admin')
  await admin.ask('POST', '/invitations', { email: 'lost@example.com', role: 'viewer' })
  expect(await look(undefined, 'another secret of tests, of 40 letters...')).toBe('')
  expect([await mailsOf(admin.ask), await waiting(), sentTo()]).toEqual([['failed'], [], []])
})

test('a mail that was asked for by a clock three days ahead goes out all the same', async () => {
  const { email } = await makeMember(mine, 'admin')
  const now = clock.now()
  clock.set(now + 3 * day)
  await forget(email)
  clock.set(now)
  await forget(email)
  expect([await look(), sentTo()]).toEqual(['sent', [email]])
})
