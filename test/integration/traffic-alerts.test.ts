import { beforeEach, expect, test } from 'vitest'
import { sendAlerts } from '../../pipeline/alerts/send-alerts.ts'
import { watchTraffic } from '../../pipeline/alerts/watch-traffic.ts'
import { claimAlertMails } from '../../postgres/tables/messages/alert-mails.ts'
import { insertReportRecipient, listReportRecipients } from '../../postgres/tables/messages/report-recipients.ts'
import { setAlert } from '../../postgres/tables/messages/traffic-alerts.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { alertLateMaxMs, alertRetryDelaysMs, trafficLagMaxMs } from '../../schemas/limits/alert-limits.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { reportClaimMs } from '../../schemas/limits/report-limits.ts'
import type { AlertKind } from '../../schemas/resources/traffic-alert.ts'
import { mailerAt, makeLook, unstopped } from '../support/alerts.ts'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { addEvents } from '../support/fold.ts'
import { type MailServer, setUpMailServer } from '../support/mail-server.ts'
import { setUpMembers } from '../support/members.ts'
import { makeTestWorkspace } from '../support/overview.ts'

const start = Date.parse('2026-11-20T12:00:00Z')
const [minuteMs, hourMs] = [60_000, 3_600_000]
const dayMs = 24 * hourMs

const { stores, api } = setUpApi({ isMailSetUp: true })
const clock = fixedClock(start)
const server = setUpMailServer()
beforeEach(async () => {
  for (const table of ['traffic_alerts', 'report_recipients', 'outbox']) await stores.pg.query(`DELETE FROM ${table}`)
})

const contextOf = () => makeLook(stores, clock, { mailer: mailerAt(server.url) }).context

/** One look of a pipeline process at `now`, with figures that are complete as of then. */
async function look(now: number, { asOf = now, isSteady = true, changes = {} } = {}): Promise<void> {
  clock.set(now)
  await stores.pg.query('UPDATE fold_state SET as_of = $1', [new Date(asOf)])
  const context = { ...contextOf(), isMailSetUp: true, ...changes }
  await watchTraffic(context, { isSteady, reached: () => {} }, unstopped.stopping)
}

async function sendMails(now = clock.now()): Promise<void> {
  clock.set(now)
  await sendAlerts(contextOf(), unstopped)
}

const told = async () => {
  const rows = await stores.pg.query<{ workspace_id: number; type: string; object: Record<string, unknown> }>(
    'SELECT workspace_id, type, object FROM outbox ORDER BY id',
  )
  return rows.map(({ workspace_id: id, type, object }) => ({ id, type, object }))
}

/** A workspace that is told of something since `start`, with a recipient who gets alerts. */
async function makeWatched(kind: AlertKind, threshold: number, timezone = 'UTC') {
  const workspace = await makeTestWorkspace(stores, { timezone })
  await setAlert(stores.pg, workspace.id, { kind, threshold, now: new Date(start) })
  const email = `reader-${workspace.id}@example.com`
  const own = { workspaceId: workspace.id, email, createdAt: new Date(start) }
  const id = await insertReportRecipient(stores.pg, { ...own, every: 'weekly', alerts: true })
  return { ...workspace, own, recipientId: id! }
}

const visits = (visitors: number, at: number, path = '/launch') =>
  Array.from({ length: visitors }, (_, i) => ({ visitor: i + 1, occurred_at: at + i, path, source: 'news' }))

test('a spike is told once in 24 hours, by the live visitors of the overview, with its first sources and pages, by several processes', async () => {
  const watched = await makeWatched('spike', 3, 'Europe/Berlin')
  const quiet = await makeWatched('spike', 4)
  const { own } = watched
  await insertReportRecipient(stores.pg, { ...own, every: 'monthly', alerts: true })
  await insertReportRecipient(stores.pg, { ...own, email: 'reports-alone@example.com', every: 'weekly' })
  for (const { addEvents } of [watched, quiet]) {
    await addEvents([
      ...visits(3, start - 5 * minuteMs),
      ...visits(1, start - minuteMs, '/<b>more'),
      ...visits(9, start - 6 * minuteMs, '/before'),
      { visitor: 0, occurred_at: start, path: '/launch' },
    ])
  }
  // No figure has it yet.
  await insertEventRows(stores.ch, [makeEventRow({ workspace_id: quiet.id, visitor: 4, occurred_at: start })])
  await Promise.all([look(start), look(start), look(start)])
  await Promise.all([sendMails(), sendMails()])
  const { metrics } = await watched.ask({}, start)
  expect(metrics.live_visitors).toBe(3)
  const object = { kind: 'spike', spike_visitors: 3, live_visitors: 3, at: '2026-11-20T12:00:00.000Z' }
  expect(await told()).toMatchObject([{ id: watched.id, type: 'traffic.spike', object }])
  const { top_pages } = (await told())[0]!.object
  expect((top_pages as unknown[])[0]).toEqual({ path: '/before', title: '', pageviews: 9 })
  expect(server.mails.map(({ to }) => to)).toEqual([own.email])
  const [{ headers, text, html }] = server.mails as [MailServer['mails'][0]]
  expect(headers['subject']).toBe('Acme: 3 visitors in 5 minutes')
  expect(text).toContain('Counted at Nov 20, 2026, 1:00 PM (Europe/Berlin).')
  expect(text).toMatch(/Sources, by visitors\n {2}news: 9/)
  expect(text).toContain(`${testApiHost}/dashboard?workspace=${watched.id}\n`)
  expect(html).toContain('/&lt;b&gt;more')

  // A setting that is changed meanwhile doesn't begin the time anew.
  await setAlert(stores.pg, watched.id, { kind: 'spike', threshold: 1, now: new Date(start) })
  await watched.addEvents([...visits(2, start + dayMs - minuteMs), ...visits(2, start + dayMs)])
  await look(start + dayMs - 1)
  expect(await told()).toHaveLength(1)
  await look(start + dayMs)
  expect((await told()).map(({ object }) => object['live_visitors'])).toEqual([3, 2])
})

test('an alert that a clock set which ran ahead is looked for once it is right', async () => {
  const { id, addEvents } = await makeWatched('spike', 2)
  await setAlert(stores.pg, id, { kind: 'spike', threshold: 2, now: new Date(start + 3 * dayMs) })
  await addEvents(visits(3, start - minuteMs))
  await look(start)
  expect(await told()).toMatchObject([{ id, type: 'traffic.spike' }])
})

test('a drop is told once for each silence that follows visitors, with the last one’s time', async () => {
  const { id, addEvents } = await makeWatched('drop', 2)
  const last = start - hourMs
  await addEvents(visits(2, last - 1))
  await look(start)
  await addEvents([{ visitor: 0, occurred_at: start, kind: 'conversion' }])
  await look(last + 2 * hourMs - 1)
  expect(await told()).toEqual([])
  const now = last + 2 * hourMs
  await Promise.all([look(now), look(now)])
  await sendMails()
  const object = { last_visit_at: new Date(last).toISOString(), as_of: new Date(now).toISOString() }
  expect(await told()).toEqual([{ id, type: 'traffic.drop', object: { kind: 'drop', drop_hours: 2, ...object } }])
  expect(server.mails).toHaveLength(1)
  expect(server.mails[0]!.headers['subject']).toBe('Acme: no visitor for 2 hours')
  expect(server.mails[0]!.text).toContain('at Nov 20, 2026, 11:00 AM (UTC)')

  // The same silence, seen by the longest setting; then others, of which one comes too soon.
  await setAlert(stores.pg, id, { kind: 'drop', threshold: 30, now: new Date(now) })
  for (const at of [now + dayMs, now + 31 * hourMs]) await look(at)
  expect(await told()).toHaveLength(1)
  await setAlert(stores.pg, id, { kind: 'drop', threshold: 1, now: new Date(now + dayMs) })
  const back = now + 40 * hourMs
  await addEvents(visits(1, back))
  for (const at of [now + 32 * hourMs, back - minuteMs, back, back + hourMs - 1]) await look(at)
  expect(await told()).toHaveLength(1)
  await look(back + hourMs)
  expect(await told()).toHaveLength(2)
  await addEvents(visits(1, back + 2 * hourMs))
  for (const hours of [2, 3, 4, 5]) await look(back + hours * hourMs)
  expect(await told()).toHaveLength(2)
  // Nor is it lost: it is told once the pause is over. So is one of a time in which nobody looked.
  await look(back + hourMs + dayMs)
  expect((await told()).at(-1)!.object['last_visit_at']).toBe(new Date(back + 2 * hourMs).toISOString())
  await addEvents(visits(1, back + 3 * dayMs))
  await look(back + 3 * dayMs)
  await look(back + 4 * dayMs)
  expect(await told()).toHaveLength(4)
})

test('no drop is told without visitors before, while figures are behind, or while a dead node may have visitors', async () => {
  await makeWatched('drop', 2)
  const { addEvents } = await makeWatched('drop', 2)
  await addEvents(visits(1, start - 3 * hourMs))
  await look(start, { asOf: start - trafficLagMaxMs - 1 })
  // Right after an outage, the first look knows nothing of what nodes hold back.
  await look(start, { isSteady: false })
  const away = { query: () => Promise.reject(new StoreUnavailable('clickhouse', 'away')) }
  await expect(look(start, { changes: { ch: away } })).rejects.toThrow('away')
  const dead = (heardOf: number) =>
    stores.pg.query(
      `INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through, complete_at, updated_at)
       VALUES (1e9, 1e9 + 1, 1e9 * $1::bigint - 1, $2, $3)
       ON CONFLICT (first_segment) DO UPDATE SET complete_at = excluded.complete_at, updated_at = excluded.updated_at`,
      [segmentRowsMax, new Date(heardOf - trafficLagMaxMs - 1), new Date(heardOf)],
    )
  await dead(start - 2 * hourMs)
  await look(start)
  expect(await told()).toEqual([])
  await dead(start - 2 * hourMs - 1)
  await look(start)
  expect(await told()).toHaveLength(1)
})

test('a refused mail is tried again, a process that dies in a send is followed by one mail, and a late one is left out', async () => {
  const { addEvents } = await makeWatched('spike', 1)
  await addEvents(visits(1, start))
  const waiting = () => stores.pg.query('SELECT 1 FROM alert_mails')
  server.behave = 'refuse'
  await look(start)
  let now = start
  for (const delay of alertRetryDelaysMs) {
    await sendMails(now)
    now += delay
    await sendMails(now - 1)
  }
  expect(server.asked).toBe(alertRetryDelaysMs.length)
  server.behave = 'accept'
  await claimAlertMails(stores.pg, { now: new Date(now), until: new Date(now + reportClaimMs), max: 4, withMail: true })
  await sendMails(now + reportClaimMs - 1)
  expect(server.mails).toEqual([])
  for (const later of [0, 1, dayMs]) await sendMails(now + reportClaimMs + later)
  expect([server.mails.length, await waiting()]).toEqual([1, []])

  await addEvents(visits(1, start + dayMs))
  await look(start + dayMs)
  await sendMails(start + dayMs + alertLateMaxMs)
  expect([server.mails.length, await waiting()]).toEqual([1, []])
})

test('the link of an alert ends the alerts of its address, its own recipient removed or not, and leaves the reports; one who wants none any more gets none', async () => {
  const { id, own, addEvents } = await makeWatched('spike', 1)
  const other = await insertReportRecipient(stores.pg, { ...own, every: 'monthly', alerts: true })
  await insertReportRecipient(stores.pg, { ...own, email: 'changed@example.com', every: 'weekly', alerts: true })
  await addEvents(visits(1, start))
  await look(start)
  await stores.pg.query("UPDATE report_recipients SET alerts = false WHERE email LIKE 'changed%'")
  await sendMails()
  expect(server.mails.map(({ to }) => to)).toEqual([own.email])
  const link = /^Unsubscribe: (\S+)$/m.exec(server.mails[0]!.text)![1]!.replace(testApiHost, '')
  await stores.pg.query("DELETE FROM report_recipients WHERE workspace_id = $1 AND email = $2 AND every = 'weekly'", [
    id,
    own.email,
  ])
  for (const method of ['GET', 'POST', 'POST']) expect((await api.ask(link, { method })).status).toBe(200)
  expect(await (await api.ask(link, { method: 'POST' })).text()).toContain(
    'You get no more traffic alerts of this workspace. Reports, if you get any, go on.',
  )
  const left = await listReportRecipients(stores.pg, id)
  expect(left.map(({ email, alerts }) => [email, alerts])).toEqual([
    [own.email, false],
    ['changed@example.com', false],
  ])
  expect(await listAuditEvents(stores.pg, id, { limit: 5 })).toMatchObject([
    { action: 'report_recipient.unsubscribe', resource_id: other, metadata: { from: 'alerts' } },
  ])
})

test('owner and admins set alerts within bounds, and say who gets them; without mail, webhooks are told all the same', async () => {
  const mine = await makeWorkspace(stores)
  const ask = await setUpMembers({ stores, api }).signInOwner(mine)
  const off = { spike_visitors: null, drop_hours: null, spike_told_at: null, drop_told_at: null }
  expect(await ask('GET', '/traffic-alerts')).toEqual({ status: 200, body: off })
  for (const bad of [0, 1_000_001, 1.5, '5'])
    expect((await ask('PATCH', '/traffic-alerts', { spike_visitors: bad })).status).toBe(422)
  for (const bad of [0, 169]) expect((await ask('PATCH', '/traffic-alerts', { drop_hours: bad })).status).toBe(422)
  await ask('PATCH', '/traffic-alerts', { spike_visitors: 1_000_000, drop_hours: 168 })
  const set = { ...off, spike_visitors: 1, drop_hours: 168 }
  expect((await ask('PATCH', '/traffic-alerts', { spike_visitors: 1 })).body).toEqual(set)

  const { id } = (await ask('POST', '/report-recipients', { email: 'a@example.com', every: 'weekly' })).body
  const isAlerted = async () => (await listReportRecipients(stores.pg, mine.workspaceId))[0]!.alerts
  expect(await isAlerted()).toBe(false)
  expect((await ask('PATCH', `/report-recipients/${id}`, { alerts: true })).status).toBe(200)
  expect(await isAlerted()).toBe(true)
  expect((await ask('PATCH', '/report-recipients/9000000', { alerts: true })).status).toBe(404)

  const now = Date.now()
  await addEvents(stores, mine.workspaceId, [{ occurred_at: now }])
  await look(now, { changes: { isMailSetUp: false } })
  expect(await told()).toMatchObject([{ id: mine.workspaceId, type: 'traffic.spike' }])
  expect(await stores.pg.query('SELECT 1 FROM alert_mails')).toEqual([])
  expect((await ask('GET', '/traffic-alerts')).body).toEqual({ ...set, spike_told_at: new Date(now).toISOString() })
})
