import type { Dispatcher } from 'undici'
import { beforeEach, expect, test } from 'vitest'
import { sendAlerts } from '../../pipeline/alerts/send-alerts.ts'
import { makeChatPoster } from '../../pipeline/chat/poster.ts'
import { sendAskedReports } from '../../pipeline/reports/send-asked.ts'
import { sendReports } from '../../pipeline/reports/send-reports.ts'
import { insertReportRecipient } from '../../postgres/tables/messages/report-recipients.ts'
import { listDueAlerts, setAlert, tellAlert } from '../../postgres/tables/messages/traffic-alerts.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { alertRetryDelaysMs } from '../../schemas/limits/alert-limits.ts'
import { reportRecipientsMax, reportRetryDelaysMs } from '../../schemas/limits/report-limits.ts'
import type { ChatChannelResource } from '../../schemas/resources/chat-channel.ts'
import { makeLook, unstopped } from '../support/alerts.ts'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { addresses, setUpChatServer } from '../support/chat-server.ts'
import { makeKeptLog } from '../support/kept-log.ts'
import { setUpMembers } from '../support/members.ts'
import { makeTestWorkspace } from '../support/overview.ts'

/** Six in the morning of a Monday in UTC. */
const monday = Date.parse('2026-11-16T06:00:00Z')
const [hourMs, dayMs] = [3_600_000, 86_400_000]
const title = '<!channel> @everyone <users/all> ``` [x](https://evil.example) &'

const clock = fixedClock(monday)
const { stores, api } = setUpApi({ clock })
const server = setUpChatServer()
const { signInOwner } = setUpMembers({ stores, api, now: () => clock.now() })
let logged = ''

beforeEach(async () => {
  for (const table of ['traffic_alerts', 'report_recipients', 'chat_channels']) {
    await stores.pg.query(`DELETE FROM ${table}`)
  }
  logged = ''
  clock.set(monday - 2 * dayMs)
})

/** One look of a pipeline process without mail, at `now`. @returns the outcomes of its attempts */
async function look(now: number, send: typeof sendReports = sendReports, agent: Dispatcher = server.agent) {
  clock.set(now)
  await stores.pg.query('UPDATE fold_state SET as_of = $1', [new Date(now)])
  const log = makeKeptLog((text) => {
    logged += text
  })
  const { context, outcomes } = makeLook(stores, clock, { log, chat: makeChatPoster(agent, clock) })
  await send(context, unstopped)
  return outcomes('chat_messages')
}

/** The dashboard of a workspace, as its owner asks it. */
async function signIn(workspaceId: number) {
  const ask = await signInOwner({ workspaceId })
  const add = (url: string, more: object = {}) =>
    ask('POST', '/chat-channels', { name: 'Marketing', url, contents: ['weekly'], ...more })
  const list = async () =>
    (await ask<{ channels: (typeof ChatChannelResource)['_output'][] }>('GET', '/chat-channels')).body.channels
  return { ask, add, list }
}

/** A workspace with visits in the week before that Monday. */
let visited: ReturnType<typeof makeTestWorkspace> | undefined
async function makeVisited() {
  const workspace = await makeTestWorkspace(stores, { timezone: 'UTC' })
  const visit = { occurred_at: monday - 3 * dayMs, path: '/start', title }
  await workspace.addEvents([1, 2, 3].map((visitor) => ({ ...visit, visitor })))
  return workspace
}

/** That workspace, made once, and its dashboard. */
async function reported() {
  visited ??= makeVisited()
  const { id } = await visited
  return { id, ...(await signIn(id)) }
}

/** Who gets reports by mail. */
function addReader(workspaceId: number, more: { alerts?: boolean } = {}) {
  const reader = { email: 'reader@example.com', every: 'weekly', createdAt: new Date(clock.now()) } as const
  return insertReportRecipient(stores.pg, { ...reader, workspaceId, ...more })
}

const audited = async (workspaceId: number) =>
  (await listAuditEvents(stores.pg, workspaceId, { limit: 100 })).map(({ action }) => action)

test('a weekly report goes once to a channel of each chat, which takes it with hostile titles, and to no address while mail is not set up', async () => {
  const { id, add, list } = await reported()
  await stores.pg.query('UPDATE workspaces SET name = $2 WHERE id = $1', [id, 'A*c <!here> `me`'])
  for (const url of Object.values(addresses)) expect((await add(url)).status, url).toBe(200)
  const mattermost = { kind: 'slack', name: 'Ours', contents: ['monthly', 'weekly'] }
  expect((await add('https://chat.example.com/hooks/hookSECRETeeee', mattermost)).status).toBe(200)
  await addReader(id)
  await look(monday - 1)
  expect(server.asked).toBe(0)
  await Promise.all([look(monday), look(monday)])
  await look(monday + hourMs)
  expect(server.messages.map(({ kind }) => kind).sort()).toEqual(['discord', 'google_chat', 'slack', 'slack', 'teams'])
  expect(server.asked).toBe(5)
  for (const { body } of server.messages) {
    const text = JSON.stringify(body)
    expect(text).toContain('Nov 9 – 15, 2026')
    expect(text).toMatch(/3 {2}Visitors|"3".*" {2}Visitors"/)
    expect(text).toContain('/start')
    expect(text).toContain(`${testApiHost}/dashboard?start=2026-11-09&`)
  }
  expect(
    (await list()).map(({ contents }) => contents.map(({ content, sent_at }) => [content, sent_at !== null])),
  ).toEqual([
    ...Array.from({ length: 4 }, () => [['weekly', true]]),
    [
      ['weekly', true],
      ['monthly', false],
    ],
  ])
  expect(logged).not.toMatch(/SECRET/)
  expect(await stores.pg.query('SELECT period FROM report_recipients WHERE email IS NOT NULL')).toEqual([
    { period: null },
  ])
})

test('an address is known by its host, refused elsewhere, added once, and then never told: not by answers, the audit log or the tables', async () => {
  const workspace = await makeWorkspace(stores)
  const { ask, add, list } = await signIn(workspace.workspaceId)
  const { slack, discord, teams } = addresses
  for (const [url, more, said] of [
    ['https://example.com/hooks/SECRET', {}, 'The host is none of the chats'],
    ['https://hooks.slack.com/triggers/T1/2/SECRET', {}, 'no address of an incoming webhook of Slack'],
    [`${discord}/slack`, { kind: 'slack' }, 'no address of an incoming webhook of Discord'],
    [teams, { kind: 'slack' }, 'This is an address of Microsoft Teams'],
    [slack.replace('https', 'http'), {}, 'must begin with https://'],
    ['https://10.0.0.1/SECRET', { kind: 'slack' }, 'The host must be public'],
    ['https://hooks.slack.com.evil.example/services/SECRET', {}, 'The host is none of the chats'],
  ] as const) {
    const { status, body } = await add(url, more)
    const text = JSON.stringify(body)
    expect([status, text.includes(said)], `${url}: ${text}`).toEqual([422, true])
  }
  const wrong = [
    { name: ' ' },
    { name: 'a'.repeat(81) },
    { contents: [] },
    { contents: ['daily'] },
    { kind: 'discord' },
    { more: 1 },
  ]
  for (const more of wrong) expect((await add(slack, more)).status, JSON.stringify(more)).toBe(422)
  expect((await add(`https://hooks.slack.com/services/${'a'.repeat(2_000)}`)).status).toBe(422)

  const made = await add(slack, { contents: ['alerts', 'weekly'] })
  const id = made.body['id'] as number
  expect(made).toEqual({ status: 200, body: { id } })
  expect((await add(slack)).body).toEqual({ detail: 'This chat channel is added already' })
  const [channel] = await list()
  expect(channel).toMatchObject({ kind: 'slack', host: 'hooks.slack.com', ending: 'aaaa', is_disabled: false })
  expect(channel!.contents.map(({ content }) => content)).toEqual(['weekly', 'alerts'])
  const stored = await stores.pg.query(
    'SELECT c::text FROM chat_channels c UNION ALL SELECT a::text FROM audit_events a',
  )
  expect(JSON.stringify([channel, stored])).not.toContain('SECRET')
  const hex = Buffer.from('SECRET').toString('hex')
  expect(JSON.stringify(stored)).not.toContain(hex)

  expect((await ask('PATCH', `/chat-channels/${id}`, { name: 'Sales', contents: ['weekly', 'monthly'] })).status).toBe(
    200,
  )
  const [changed] = await list()
  expect([changed!.name, changed!.contents.map(({ content }) => content)]).toEqual(['Sales', ['weekly', 'monthly']])
  expect(changed!.contents[0]!.recipient_id).toBe(channel!.contents[0]!.recipient_id)

  // Another workspace's owner sees nothing of it; and it is no address of mail.
  const others = await signIn((await makeWorkspace(stores)).workspaceId)
  const recipient = changed!.contents[0]!.recipient_id
  expect(await others.list()).toEqual([])
  expect((await others.ask('PATCH', `/chat-channels/${id}`, { name: 'x' })).status).toBe(404)
  expect((await others.ask('DELETE', `/chat-channels/${id}`)).status).toBe(404)
  // No mail is set up, which is said of whatever isn't a channel of the workspace.
  expect((await others.ask('POST', `/report-recipients/${recipient}/send`)).status).toBe(409)
  expect((await others.add(slack)).status).toBe(200)
  expect((await ask('PATCH', `/report-recipients/${recipient}`, { alerts: true })).status).toBe(404)
  expect((await ask('DELETE', `/report-recipients/${recipient}`)).status).toBe(404)
  expect((await ask('GET', '/report-recipients')).body).toMatchObject({ recipients: [] })

  for (let i = 1; i < reportRecipientsMax - 1; i++) expect((await add(`${slack}${i}`)).status).toBe(200)
  expect((await ask('POST', '/report-recipients', { email: 'a@example.com', every: 'weekly' })).status).toBe(200)
  const full = { detail: 'The workspace has as many recipients of reports as it may have' }
  expect((await add(discord)).body).toEqual(full)
  expect((await ask('POST', '/report-recipients', { email: 'b@example.com', every: 'weekly' })).body).toEqual(full)
  expect((await ask('DELETE', `/chat-channels/${id}`)).status).toBe(200)
  expect((await ask('DELETE', `/chat-channels/${id}`)).status).toBe(404)
  expect(await stores.pg.query('SELECT 1 FROM report_recipients WHERE channel_id = $1', [id])).toEqual([])
  const actions = await audited(workspace.workspaceId)
  expect(actions.filter((action) => action === 'chat_channel.update')).toHaveLength(1)
  expect(actions[0]).toBe('chat_channel.delete')
})

test('a chat that is away is asked again as mail is, one that asks for time after that time, and an answer that breaks off is repeated once', async () => {
  const { add, list } = await reported()
  await add(addresses.discord)
  server.instead = { status: 503 }
  expect(await look(monday)).toBe('retried')
  const [firstDelay] = reportRetryDelaysMs
  await look(monday + firstDelay - 1)
  expect(server.asked).toBe(1)
  server.instead = { status: 429, headers: { 'Retry-After': String((2 * hourMs) / 1_000) } }
  expect(await look(monday + firstDelay)).toBe('retried')
  const askedFor = monday + firstDelay + 2 * hourMs
  await look(askedFor - 1)
  expect(server.asked).toBe(2)
  server.instead = 'drop'
  expect(await look(askedFor)).toBe('retried')
  expect(await look(askedFor + dayMs)).toBe('retried')
  server.instead = null
  expect(await look(askedFor + 2 * dayMs)).toBe('failed')
  expect([server.asked, server.messages.length]).toEqual([4, 0])
  expect((await list())[0]!.contents[0]).toMatchObject({ has_failed: true, sent_at: null })

  // Teams says 200 where it refused.
  await stores.pg.query('DELETE FROM chat_channels')
  clock.set(monday - dayMs)
  await add(addresses.teams)
  server.instead = {
    status: 200,
    body: 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
  }
  expect(await look(monday)).toBe('retried')
  // No time is left to wait for so long.
  server.instead = { status: 429, headers: { 'Retry-After': '86400' } }
  expect(await look(monday + 2.5 * dayMs)).toBe('failed')
  expect(logged).not.toMatch(/SECRET|logic\.azure/)
})

test('a channel that its chat does not know any more is turned off with what waits for it, told, and on again when somebody says so', async () => {
  const { id, ask, add, list } = await reported()
  const { body } = await add(addresses.slack, { contents: ['weekly', 'alerts'] })
  const path = `/chat-channels/${body['id']}`
  await setAlert(stores.pg, id, { kind: 'drop', threshold: 1, now: new Date(monday) })
  await tellDrop(id)
  server.instead = { status: 410, body: 'channel_is_archived' }
  expect(await look(monday)).toBe('failed')
  const failure = 'the chat answered 410: it does not know this address any more'
  expect((await list())[0]).toMatchObject({ is_disabled: true, failure })
  expect(await stores.pg.query('SELECT 1 FROM alert_mails')).toEqual([])
  expect(await listAuditEvents(stores.pg, id, { limit: 1 })).toMatchObject([
    { action: 'chat_channel.disable', actor_type: 'system', resource_id: body['id'], metadata: expect.anything() },
  ])
  server.instead = null
  const recipient = (await list())[0]!.contents[0]!.recipient_id
  expect((await ask('POST', `/report-recipients/${recipient}/send`)).body).toEqual({
    detail: 'The chat channel is turned off',
  })
  expect(await look(monday + 7 * dayMs)).toBe('')
  expect((await ask('PATCH', path, { is_disabled: true })).status).toBe(422)
  expect((await ask('PATCH', path, { is_disabled: false })).status).toBe(200)
  expect((await list())[0]).toMatchObject({ is_disabled: false, failure: null })
  expect(await look(monday + 7 * dayMs)).toBe('sent')

  // An address of another SECRET_KEY can't be read any more.
  await stores.pg.query(`UPDATE chat_channels SET address = '\\x0102'`)
  expect(await look(monday + 14 * dayMs)).toBe('failed')
  expect((await list())[0]!.failure).toContain('another SECRET_KEY')
})

async function tellDrop(id: number): Promise<void> {
  const [due] = await listDueAlerts(stores.pg, 'drop', { now: new Date(monday), after: id - 1, max: 1 })
  const [last_visit_at, as_of] = [monday - hourMs, monday].map((at) => new Date(at).toISOString()) as [string, string]
  const told = { kind: 'drop', drop_hours: 1, last_visit_at, as_of } as const
  expect(await tellAlert(stores.pg, due!, { told, now: new Date(monday), withMails: false })).toBe(true)
}

test('an alert goes once to a channel that gets alerts, also where mail is not set up', async () => {
  const { id, add } = await reported()
  await add(addresses.google_chat, { contents: ['alerts'] })
  await add(addresses.slack)
  await addReader(id, { alerts: true })
  await setAlert(stores.pg, id, { kind: 'drop', threshold: 1, now: new Date(monday) })
  await tellDrop(id)
  server.instead = { status: 503 }
  expect(await look(monday, sendAlerts)).toBe('retried')
  server.instead = null
  // Its rows are those of mails, and so is all else that becomes of it: test/integration/traffic-alerts.test.ts.
  const now = monday + alertRetryDelaysMs[0]
  const looks = await Promise.all([look(now, sendAlerts), look(now, sendAlerts)])
  expect(looks.join('')).toBe('sent')
  await look(now + dayMs, sendAlerts)
  expect(server.messages.map(({ kind }) => kind)).toEqual(['google_chat'])
  const { text } = server.messages[0]!.body as { text: string }
  expect(text).toContain('no visitor for 1 hour')
  expect(text).toContain(`<${testApiHost}/dashboard?workspace=${id}|All figures>`)
})

test('a report is sent now to a channel, a weekly one where it gets alerts alone, and its failure is told', async () => {
  const { ask, add, list } = await reported()
  await add(addresses.teams, { contents: ['alerts'] })
  const [{ contents }] = (await list()) as [Awaited<ReturnType<typeof list>>[0]]
  const send = () => ask('POST', `/report-recipients/${contents[0]!.recipient_id}/send`)
  clock.set(monday + dayMs)
  expect((await send()).status).toBe(200)
  await look(monday + dayMs + 1, sendAskedReports)
  expect(JSON.stringify(server.messages[0]!.body)).toContain('Nov 9 – 15, 2026')
  expect((await list())[0]!.contents[0]!.asked).toMatchObject({ state: 'sent', failure: null })
  clock.set(monday + 2 * dayMs)
  expect((await send()).status).toBe(200)
  server.instead = { status: 403 }
  await look(monday + 2 * dayMs + 1, sendAskedReports)
  expect((await list())[0]!.contents[0]!.asked).toMatchObject({ state: 'failed', failure: 'the chat answered 403' })
})

test('requests go through the guard: a host with a private address gets none', async () => {
  const { list, add } = await reported()
  await add('https://chat.example.com/hooks/SECRET', { kind: 'slack' })
  await stores.pg.query('UPDATE chat_channels SET address = $1', [stores.box.seal('https://127.0.0.1:1/hooks/SECRET')])
  const agent = makeGuardedAgent({ allowPrivate: false, connectMs: 1_000 })
  expect(await look(monday, sendReports, agent)).toBe('retried')
  expect(logged).toContain('the chat gave no answer: The host has no public address')
  expect(await list()).toMatchObject([{ is_disabled: false }])
  await agent.destroy()
})
