import { createServer } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { type MailFailed, makeMailer } from '../../pipeline/reports/mailer.ts'
import { sendAskedReports } from '../../pipeline/reports/send-asked.ts'
import { sendReports } from '../../pipeline/reports/send-reports.ts'
import { claimReport } from '../../postgres/tables/messages/due-reports.ts'
import { insertReportRecipient, listReportRecipients } from '../../postgres/tables/messages/report-recipients.ts'
import { appendSystemChange, listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { readMailFrom, readSmtpUrl } from '../../runtime/mail-settings.ts'
import {
  askedReportsHourlyMax,
  reportClaimMs,
  reportRecipientsMax,
  reportRetryDelaysMs,
} from '../../schemas/limits/report-limits.ts'
import { mailerAt, makeLook, unstopped } from '../support/alerts.ts'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { makeKeptLog } from '../support/kept-log.ts'
import { listening } from '../support/listening.ts'
import { type MailServer, mailLogin, setUpMailServer } from '../support/mail-server.ts'
import { setUpMembers } from '../support/members.ts'
import { makeTestWorkspace } from '../support/overview.ts'

/** Six in the morning of a Monday in Auckland; in Los Angeles 21 hours later. */
const mondayInAuckland = Date.parse('2026-11-15T17:00:00Z')
const mondayInLosAngeles = Date.parse('2026-11-16T14:00:00Z')
const dayMs = 86_400_000

const { stores, api } = setUpApi({ isMailSetUp: true })
const clock = fixedClock(mondayInAuckland)
const { signInOwner } = setUpMembers({ stores, api })
const server = setUpMailServer()
let logged = ''
beforeEach(async () => {
  await stores.pg.query('DELETE FROM report_recipients')
  logged = ''
})

/** One look of a pipeline process at `now`, with figures that are complete as of then. @returns the outcomes of its attempts */
async function look(now: number, asOf = now, sendThem = sendReports): Promise<string> {
  clock.set(now)
  await stores.pg.query('UPDATE fold_state SET as_of = $1', [new Date(asOf)])
  const log = makeKeptLog((text) => {
    logged += text
  })
  const { context, outcomes } = makeLook(stores, clock, { log, mailer: mailerAt(server.url) })
  await sendThem(context, unstopped)
  return outcomes('report_mails')
}

const weekAgo = mondayInAuckland - 5 * dayMs

/** Workspaces with visits in the week before, by their timezones and titles: a test has its recipients alone anew. */
const visited = new Map<string, Awaited<ReturnType<typeof makeVisited>>>()

async function makeVisited(timezone: string, title: string) {
  const workspace = await makeTestWorkspace(stores, { timezone })
  const visits = Array.from({ length: 4 }, (_, i) => ({
    visitor: i + 1,
    occurred_at: weekAgo + i,
    path: '/start',
    title,
  }))
  await workspace.addEvents([...visits, { visitor: 1, occurred_at: weekAgo + 10, path: '/next' }])
  return workspace
}

/** Such a workspace, with a recipient since then. */
async function makeReported(timezone: string, title = 'Home') {
  const named = `${timezone} ${title}`
  const workspace = visited.get(named) ?? (await makeVisited(timezone, title))
  visited.set(named, workspace)
  const email = `reader-${workspace.id}@example.com`
  const id = await insertReportRecipient(stores.pg, {
    workspaceId: workspace.id,
    email,
    every: 'weekly',
    createdAt: new Date(weekAgo),
  })
  return { ...workspace, email, recipientId: id! }
}

const sentTo = () => server.mails.map(({ to }) => to)
const linkIn = (text: string) => /^Unsubscribe: (\S+)$/m.exec(text)![1]!.replace(testApiHost, '')

test('a weekly report goes out once, at six of the Monday of its own timezone, with the figures of the API', async () => {
  const [auckland, losAngeles] = [await makeReported('Pacific/Auckland'), await makeReported('America/Los_Angeles')]
  await look(mondayInAuckland - 1)
  // The Monday in Auckland began at 11:00 UTC: the figures of the week aren't complete.
  await look(mondayInAuckland, Date.parse('2026-11-15T10:59:59Z'))
  expect(sentTo()).toEqual([])
  await look(mondayInAuckland)
  expect(sentTo()).toEqual([auckland.email])
  await look(mondayInLosAngeles - 1)
  expect(server.mails).toHaveLength(1)
  for (const later of [0, 1, 3 * dayMs]) await look(mondayInLosAngeles + later)
  expect(sentTo()).toEqual([auckland.email, losAngeles.email])

  const [{ headers, text, html }] = server.mails as [MailServer['mails'][0]]
  const { metrics } = await auckland.ask({ start: '2026-11-09', end: '2026-11-15' }, clock.now())
  expect([metrics['visitors'], metrics['pageviews']]).toEqual([4, 5])
  expect(headers['subject']).toBe('Acme: Nov 9 – 15, 2026')
  expect(text).toContain('Visitors: 4\n')
  expect(text).toMatch(/Pages, by page views\n {2}\/start: 4 \(Home\)\n {2}\/next: 1/)
  expect(text).not.toContain('Revenue')
  expect(text).toContain(`${testApiHost}/dashboard?start=2026-11-09&end=2026-11-15&workspace=${auckland.id}`)
  expect(html).not.toMatch(/<img|<script|src=/)
})

test('a report that is three days late is left out, and so is one from before its recipient was added', async () => {
  await makeReported('UTC')
  const monday = Date.parse('2026-11-16T06:00:00Z')
  await look(monday + 3 * dayMs)
  await stores.pg.query('UPDATE report_recipients SET created_at = $1', [new Date(monday + 1)])
  await look(monday + 2)
  expect(server.asked).toBe(0)
  await look(monday + 7 * dayMs)
  expect(server.mails).toHaveLength(1)
})

test('a server that refuses is asked again after longer and longer times, then the report has failed, and nothing tells whose', async () => {
  const { id, email } = await makeReported('Pacific/Auckland')
  server.behave = 'refuse'
  let now = mondayInAuckland
  for (const [at, delay] of reportRetryDelaysMs.entries()) {
    expect(await look(now)).toBe('retried')
    await look(now + delay - 1)
    expect(server.asked).toBe(at + 1)
    now += delay
  }
  expect(await look(now)).toBe('failed')
  await look(now + dayMs)
  expect(server.asked).toBe(reportRetryDelaysMs.length + 1)
  expect(await listReportRecipients(stores.pg, id)).toMatchObject([{ has_failed: true, sent_at: null }])
  expect(logged).toContain('EENVELOPE 451 at RCPT TO')
  for (const secret of [email, mailLogin.password, 'smtp://']) expect(logged).not.toContain(secret)
})

test('a process that dies in a send is followed by one more mail, and a second death by none', async () => {
  const { recipientId } = await makeReported('Pacific/Auckland')
  const die = (now: number) => {
    const until = new Date(now + reportClaimMs)
    return claimReport(stores.pg, recipientId, { first: '2026-11-09', now: new Date(now), until })
  }
  await die(mondayInAuckland)
  await look(mondayInAuckland + reportClaimMs - 1)
  expect(server.asked).toBe(0)
  await die(mondayInAuckland + reportClaimMs)
  expect(await look(mondayInAuckland + 2 * reportClaimMs)).toBe('failed')
  expect(server.asked).toBe(0)
  await stores.pg.query('UPDATE report_recipients SET period = NULL, state = NULL')
  await die(mondayInAuckland)
  await look(mondayInAuckland + reportClaimMs)
  await look(mondayInAuckland + 3 * reportClaimMs)
  expect(server.mails).toHaveLength(1)
})

test('a report that is too late for another attempt has failed, and so has one whose process died at the end of its time', async () => {
  const { id, recipientId } = await makeReported('Pacific/Auckland')
  server.behave = 'refuse'
  const lateFrom = mondayInAuckland + 3 * dayMs
  let now = lateFrom - dayMs
  for (const delay of reportRetryDelaysMs.slice(0, -1)) {
    expect(await look(now)).toBe('retried')
    now += delay
  }
  expect(await look(now)).toBe('failed')
  const hasFailed = async () => (await listReportRecipients(stores.pg, id))[0]!.has_failed
  expect(await hasFailed()).toBe(true)

  await stores.pg.query('UPDATE report_recipients SET period = NULL, state = NULL')
  const until = new Date(lateFrom + reportClaimMs)
  await claimReport(stores.pg, recipientId, { first: '2026-11-09', now: new Date(lateFrom - 1), until })
  expect(await look(lateFrom + reportClaimMs - 1)).toBe('')
  expect(await look(lateFrom + reportClaimMs)).toBe('failed')
  expect(await hasFailed()).toBe(true)
  // Nobody looked until the next week's was due.
  await stores.pg.query("UPDATE report_recipients SET state = 'waiting'")
  server.behave = 'accept'
  expect(await look(mondayInAuckland + 7 * dayMs)).toBe('failed,sent')
})

test('a server that hangs on a mail may have it; one that closes the connection or refuses the password has none', async () => {
  const mail = { to: 'a@example.com', subject: 's', text: 't', html: 'h', messageId: 'm', unsubscribeUrl: 'https://x/' }
  const { signal } = new AbortController()
  server.behave = 'hang'
  const message = 'the mail server did not answer in time'
  await expect(mailerAt(server.url, 2_000).send(mail, signal)).rejects.toMatchObject({ isUncertain: true, message })
  const silent = createServer()
  const silentUrl = `smtp://127.0.0.1:${(await listening(silent)).port}`
  const waiting = makeMailer(readSmtpUrl(silentUrl)!, readMailFrom('a@b.c')!, 500)
  // Our deadline and nodemailer's are equal here: either may be first.
  const inTime = expect.stringMatching(`${message}|ETIMEDOUT`)
  for (const ask of [() => waiting.send(mail, signal), () => waiting.verify()]) {
    await expect(ask()).rejects.toMatchObject({ isUncertain: false, message: inTime })
  }
  silent.close()
  const closing = createServer((socket) => socket.destroy())
  const url = `smtp://127.0.0.1:${(await listening(closing)).port}`
  await expect(makeMailer(readSmtpUrl(url)!, readMailFrom('a@b.c')!).send(mail, signal)).rejects.toMatchObject({
    isUncertain: false,
  })
  closing.close()
  const wrong = makeMailer(readSmtpUrl(`smtp://a:wrong@127.0.0.1:${server.port}`)!, readMailFrom('a@b.c')!)
  const failure = (await wrong.verify().catch((error) => error)) as MailFailed
  expect([failure.isUncertain, failure.message]).toEqual([false, 'the mail server failed: EAUTH 535 at AUTH PLAIN'])
})

test('hostile titles and names are texts in the mail, and begin no header', async () => {
  const title = '<img src=x onerror=a>"\u202E&amp;\r\nBcc: evil@example.com'
  const { id } = await makeReported('Pacific/Auckland', title)
  await stores.pg.query('UPDATE workspaces SET name = $2 WHERE id = $1', [id, 'Ac\r\nBcc: evil@example.com\r\n<b>me'])
  await look(mondayInAuckland)
  const [{ to, headers, text, html }] = server.mails as [MailServer['mails'][0]]
  expect(to).toBe(`reader-${id}@example.com`)
  expect(headers['bcc']).toBeUndefined()
  expect(headers['subject']).toContain('Ac Bcc: evil@example.com')
  expect(html).toContain('&lt;img src=x onerror=a&gt;&quot; &amp;amp; Bcc: evil@example.com')
  expect(html).not.toMatch(/<img|<b>me|\u202E/)
  expect(text).toContain('/start: 4 (<img src=x onerror=a>" &amp; Bcc: evil@example.com)')
})

test('the link of a mail shows a button, which ends all reports to the address in the workspace, and so does one click of a mail program; no other link does', async () => {
  const { id, email } = await makeReported('Pacific/Auckland')
  // Its clocks are Auckland's.
  const two = await makeReported('Antarctica/McMurdo')
  const added = { email, alerts: true, createdAt: new Date(mondayInAuckland) }
  await insertReportRecipient(stores.pg, { ...added, workspaceId: id, every: 'monthly' })
  await insertReportRecipient(stores.pg, { ...added, workspaceId: two.id, every: 'monthly' })
  await look(mondayInAuckland)
  const mailTo = (address: string) => server.mails.find(({ to }) => to === address)!
  const left = async (workspaceId: number) => (await listReportRecipients(stores.pg, workspaceId)).length
  const link = linkIn(mailTo(email).text)
  for (const method of ['GET', 'HEAD', 'GET']) expect((await api.ask(link, { method })).status).toBe(200)
  expect(await (await api.ask(link)).text()).toContain('<form class="panel" method="post"><button')
  expect(await left(id)).toBe(2)
  const [done, again] = [await api.ask(link, { method: 'POST' }), await api.ask(link, { method: 'POST' })]
  const page = await done.text()
  expect(page).toContain(
    'no more weekly or monthly reports, no traffic alerts and no mails about failed posts, conversions and payments of this workspace',
  )
  expect([done.status, page, await left(id)]).toEqual([again.status, await again.text(), 0])
  const audited = await listAuditEvents(stores.pg, id, { limit: 5 })
  const ended = { action: 'report_recipient.unsubscribe', actor_type: 'system', metadata: { from: 'reports' } }
  expect(audited).toMatchObject([ended, ended])
  expect(JSON.stringify(audited)).not.toContain(email)

  const { headers, text } = mailTo(two.email)
  expect(headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
  const url = headers['list-unsubscribe']!.slice(1, -1)
  expect(url).toBe(testApiHost + linkIn(text))
  const forged = [...url.replace(testApiHost, '')].with(-9, url.at(-9) === 'A' ? 'B' : 'A').join('')
  for (const path of [forged, '/unsubscribe/1', `/unsubscribe/${stores.box.seal('x 1 1').toString('base64url')}`]) {
    expect((await api.ask(path, { method: 'POST' })).status).toBe(404)
  }
  expect(await left(two.id)).toBe(2)
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  expect((await api.ask(url.replace(testApiHost, ''), { method: 'POST', body })).status).toBe(200)
  // The first one's address is another here.
  expect((await listReportRecipients(stores.pg, two.id)).map((one) => one.email)).toEqual([email])
})

type AskedOf = { readonly asked: object; readonly has_failed: boolean }

test('a report that is asked for goes out once, beside the calendar’s, at most once a minute and sixty times an hour, and its failure is told without the address', async () => {
  const { id, email, recipientId } = await makeReported('UTC')
  const owner = await signInOwner({ workspaceId: id })
  const ask = async (to = recipientId) => (await owner('POST', `/report-recipients/${to}/send`)).status
  const asked = async () => {
    const { recipients } = (await owner('GET', '/report-recipients')).body as unknown as { recipients: [AskedOf] }
    return { ...recipients[0].asked, has_failed: recipients[0].has_failed }
  }
  const longAgo = () => stores.pg.query("UPDATE report_recipients SET asked_at = asked_at - interval '1 minute'")
  const lookForAsked = (asOf?: number) => look(Date.now(), asOf, sendAskedReports)
  // Whatever else it gets.
  const withMore = { alerts: true, conversions: true, payments: true }
  expect((await owner('PATCH', `/report-recipients/${recipientId}`, withMore)).status).toBe(200)
  expect([await ask(), await ask(), await ask(9e6)]).toEqual([200, 409, 404])
  expect(await asked()).toMatchObject({ state: 'waiting', failure: null })
  // The figures aren't complete up to the end of the last week, or they are those of another timezone.
  await lookForAsked(Date.now() - 8 * dayMs)
  await stores.pg.query("UPDATE workspaces SET timezone = 'Asia/Tokyo' WHERE id = $1", [id])
  await lookForAsked()
  expect(server.asked).toBe(0)
  await stores.pg.query("UPDATE workspaces SET timezone = 'UTC' WHERE id = $1", [id])
  await Promise.all([lookForAsked(), lookForAsked()])
  await lookForAsked()
  expect(sentTo()).toEqual([email])
  expect(await asked()).toMatchObject({ state: 'sent', failure: null })
  expect(await stores.pg.query('SELECT period, state FROM report_recipients')).toEqual([{ period: null, state: null }])

  await stores.pg.query("UPDATE report_recipients SET period = '2020-01-06', state = 'failed'")
  await longAgo()
  server.behave = 'refuse'
  expect(await ask()).toBe(200)
  expect(await lookForAsked()).toBe('failed')
  const failure = 'the mail server failed: EENVELOPE 451 at RCPT TO'
  expect(await asked()).toMatchObject({ state: 'failed', failure, has_failed: true })
  server.behave = 'accept'
  await longAgo()
  expect(await ask()).toBe(200)
  for (let i = 0; i < 5; i++) await longAgo()
  await lookForAsked()
  expect(await asked()).toMatchObject({ state: 'failed', failure: 'nothing sent it within five minutes' })
  expect(server.mails).toHaveLength(1)
  // One that goes out takes the place of the calendar's, which had failed.
  expect(await ask()).toBe(200)
  await lookForAsked()
  expect(await asked()).toMatchObject({ state: 'sent', has_failed: false })
  expect(server.mails).toHaveLength(2)
  expect(await listAuditEvents(stores.pg, id, { limit: 1 })).toMatchObject([
    { action: 'report_recipient.send', actor_type: 'user', resource_id: recipientId },
  ])
  // Asked for by a clock that ran ahead, and is right again.
  await stores.pg.query("UPDATE report_recipients SET asked_at = asked_at + interval '1 day'")
  expect(await ask()).toBe(200)
  // A recipient who is removed and added again has had none, but the workspace has.
  const sends = { workspaceId: id, actorName: 'test', resourceId: 1, metadata: {} } as const
  for (let i = 6; i < askedReportsHourlyMax; i++)
    await appendSystemChange(stores.pg, { action: 'report_recipient.send', ...sends })
  await longAgo()
  expect(await ask()).toBe(200)
  await longAgo()
  expect(await ask()).toBe(409)
})

test('the owner adds, lists and removes recipients in the dashboard, audited without addresses; others do not', async () => {
  const [mine, others] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  const [owner, theirs] = [await signInOwner(mine), await signInOwner(others)]
  const path = '/report-recipients'
  const add = (email: string, every = 'weekly', headers = {}) => owner('POST', path, { email, every }, headers)
  const remove = (id: number, by = owner) => by('DELETE', `${path}/${id}`)
  const list = async (by = owner) => (await by('GET', path)).body as unknown as { recipients: { id: number }[] }

  for (const bad of [
    '',
    'a',
    'a@b',
    'a@example.com, b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    `${'a'.repeat(250)}@example.com`,
  ]) {
    expect((await add(bad)).status, bad).toBe(422)
  }
  expect((await add('a@example.com', 'daily')).status).toBe(422)
  const made = await add('Reader@Example.com', 'weekly', { 'Idempotency-Key': 'k' })
  const { id } = made.body
  expect(made).toEqual({ status: 200, body: { id: expect.any(Number) } })
  expect([(await add('reader@example.com')).status, (await add('reader@example.com', 'monthly')).status]).toEqual([
    409, 200,
  ])
  expect(await list()).toMatchObject({
    is_mail_set_up: true,
    recipients: [{ id, email: 'reader@example.com', every: 'weekly' }, { every: 'monthly' }],
  })
  for (let i = 2; i < reportRecipientsMax; i++) expect((await add(`r${i}@example.com`)).status).toBe(200)
  expect((await add('one-more@example.com')).status).toBe(409)

  expect((await list(theirs)).recipients).toEqual([])
  expect((await remove(id, theirs)).status).toBe(404)
  expect([(await remove(id)).status, (await remove(id)).status]).toEqual([200, 404])
  const audited = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 100 })
  expect(audited[0]).toMatchObject({
    action: 'report_recipient.delete',
    actor_type: 'user',
    interface: 'console',
    resource_id: id,
  })
  expect(audited).toHaveLength(reportRecipientsMax + 1)
  expect(JSON.stringify(audited)).not.toContain('example.com')
})
