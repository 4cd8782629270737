import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { settleFailed, settlePublished } from '../../pipeline/publishing/settle.ts'
import { claimAlertMails, endSentMail } from '../../postgres/tables/messages/alert-mails.ts'
import { tellFailure } from '../../postgres/tables/messages/failure-alerts.ts'
import { insertReportRecipient, listReportRecipients } from '../../postgres/tables/messages/report-recipients.ts'
import { claimTargets, takeDuePosts } from '../../postgres/tables/posts/publishing.ts'
import { expiredAccountDelayMs } from '../../schemas/limits/alert-limits.ts'
import { setUpAlerts } from '../support/alerts.ts'
import { setUpApi, testApiHost } from '../support/api.ts'
import { addresses } from '../support/chat-server.ts'
import type { MailServer } from '../support/mail-server.ts'
import { setUpMembers } from '../support/members.ts'
import {
  endedPost,
  reschedule,
  runPublisher,
  scheduleForLater,
  schedulePost,
  type TestPublisher,
} from '../support/publisher.ts'
import { asking, makeAccount } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ isMailSetUp: true })
const ask = asking(api, () => mine.apiKey)
const email = 'reader@example.com'
const { mails, chats, sendAll } = setUpAlerts(stores)
const { signInOwner } = setUpMembers({ stores, api })
let publisher: TestPublisher | undefined

beforeEach(async () => {
  for (const table of ['report_recipients', 'chat_channels', 'posts']) {
    await stores.pg.query(table === 'posts' ? "UPDATE posts SET status = 'archived'" : `DELETE FROM ${table}`)
  }
})
afterEach(() => publisher?.close())

const addRecipient = (about: object = {}) =>
  insertReportRecipient(stores.pg, {
    workspaceId: mine.workspaceId,
    email,
    every: 'weekly',
    failures: true,
    createdAt: new Date(),
    ...about,
  })

test('a post that failed is told once to each address and channel that wants it, however many targets, attempts and processes there were, and again when it fails anew', async () => {
  publisher = runPublisher(stores)
  const asOwner = await signInOwner(mine)
  const { body } = await asOwner('POST', '/report-recipients', { email, every: 'weekly', failures: true })
  expect((await listReportRecipients(stores.pg, mine.workspaceId))[0]).toMatchObject({ failures: true, alerts: false })
  await addRecipient({ every: 'monthly' })
  await addRecipient({ email: 'reports-alone@example.com', failures: false, alerts: true })
  const channel = { name: 'Posts', url: addresses.slack, contents: ['failures', 'weekly'] }
  expect((await asOwner('POST', '/chat-channels', channel)).status).toBe(200)
  const accounts = []
  for (const platform of ['x', 'linkedin', 'bluesky'] as const) {
    accounts.push(await makeAccount(stores, mine.workspaceId, platform))
  }
  const title = '<img src=x>\u202E<!channel> ```@everyone'
  const captions = { linkedin: 'No [simulate:fail]', bluesky: 'No [simulate:fail]' }
  const id = await schedulePost(ask, { title, caption: 'Taken.', accounts, captions })
  expect((await endedPost(ask, id)).status).toBe('failed')
  await Promise.all([sendAll(1000), sendAll(1000)])
  expect(mails.mails.map(({ to }) => to)).toEqual([email])
  const [{ headers, text, html }] = mails.mails as [MailServer['mails'][0]]
  expect(headers['subject']).toContain('a post failed on 2 of 3 accounts')
  expect(text).toMatch(
    /Failed\n {2}handle-\d+: LinkedIn \(.+\)\n {2}handle-\d+: Bluesky \(.+\)\n\nPublished\n {2}handle/,
  )
  expect(text).toContain(`${testApiHost}/dashboard/posts?workspace=${mine.workspaceId}\n`)
  expect(html).toContain('&lt;img src=x&gt;')
  expect(html).not.toMatch(/<img|\u202E/)
  expect(chats.messages.map(({ kind }) => kind)).toEqual(['slack'])
  expect(JSON.stringify(chats.messages)).not.toMatch(/<!channel>|`{3}@/)

  // One that is scheduled anew before the message goes out isn't told of.
  await reschedule(ask, id)
  await endedPost(ask, id)
  await scheduleForLater(ask, id)
  await sendAll(1000)
  expect(mails.mails).toHaveLength(1)
  await reschedule(ask, id)
  await endedPost(ask, id)
  await sendAll(1000)
  expect([mails.mails.length, chats.messages.length]).toEqual([2, 2])

  // Whoever turns it off gets none.
  await stores.pg.query("DELETE FROM report_recipients WHERE every = 'monthly' OR channel_id IS NOT NULL")
  expect((await asOwner('PATCH', `/report-recipients/${body.id}`, { failures: false })).status).toBe(200)
  await reschedule(ask, id)
  await endedPost(ask, id)
  expect(await stores.pg.query('SELECT 1 FROM alert_mails')).toEqual([])
})

/** A due post with two targets, each claimed, and how each ends. Without a publisher: it would take them. */
async function claimPost(isMailSetUp = true) {
  const accounts = [
    await makeAccount(stores, mine.workspaceId, 'mastodon'),
    await makeAccount(stores, mine.workspaceId, 'x'),
  ]
  const id = await schedulePost(ask, { caption: 'Due.', accounts })
  await expect.poll(() => stores.pg.transaction((tx) => takeDuePosts(tx, 1))).toBe(1)
  const holder = randomUUID()
  const claimed = await claimTargets(stores.pg, {
    holder,
    leaseMs: 60_000,
    limit: 2,
    perAccountMax: 1,
    perWorkspaceMax: 1,
    perPlatformMax: 1,
    heldMaxMs: 0,
    underWay: new Map(),
    except: [],
  })
  const targetOf = (account: number) => claimed.find(({ social_account_id }) => social_account_id === account)!
  const [lost, other] = accounts.map(targetOf) as [(typeof claimed)[0], (typeof claimed)[0]]
  const settling = { pg: stores.pg, isMailSetUp }
  const failure = { kind: 'reauthenticate', code: 'not_authorized' } as const
  const refusal = { failure, message: 'The token was revoked', progress: '', forgetsSent: false }
  const published = { provider: 'x', externalId: '1', url: 'https://x.example/1', reader: undefined }
  return {
    id,
    lostAccount: accounts[0]!,
    loseAccount: () => settleFailed(settling, lost, { targetId: lost.id, holder }, refusal),
    publishOther: () => settlePublished(settling, other, { targetId: other.id, holder }, published),
  }
}

test('an account to be connected again is told with its post, or by itself where other targets are on their way, and not once it is connected', async () => {
  await addRecipient()
  const both = await claimPost()
  expect(await both.loseAccount()).toBe('failed')
  await sendAll(expiredAccountDelayMs - 60_000)
  expect(mails.mails).toEqual([])
  await both.publishOther()
  await sendAll(expiredAccountDelayMs + 1000)
  expect(mails.mails.map(({ headers }) => headers['subject'])).toEqual([
    expect.stringContaining('a post failed on 1 of 2 accounts'),
  ])
  expect(mails.mails[0]!.text).toMatch(
    /Failed\n.+ \(The token was revoked\)\n\nTo be connected again\n {2}handle-\d+: Mastodon\n/,
  )

  const slow = await claimPost()
  await slow.loseAccount()
  await Promise.all([sendAll(expiredAccountDelayMs + 1000), sendAll(expiredAccountDelayMs + 1000)])
  expect(mails.mails).toHaveLength(2)
  expect(mails.mails[1]!.headers['subject']).toContain('an account needs to be connected again')
  expect(mails.mails[1]!.text).toContain(`${testApiHost}/dashboard/settings?workspace=${mine.workspaceId}\n`)

  const mended = await claimPost()
  await mended.loseAccount()
  await stores.pg.query("UPDATE social_accounts SET status = 'connected' WHERE id = $1", [mended.lostAccount])
  await sendAll(expiredAccountDelayMs + 1000)
  expect(mails.mails).toHaveLength(2)

  // No mail waits for a mail server that isn't set up.
  const without = await claimPost(false)
  await without.loseAccount()
  await without.publishOther()
  expect(await stores.pg.query('SELECT 1 FROM alert_mails')).toEqual([])
})

test('a lost account whose failed post was archived or scheduled anew before its message went out is told by itself', async () => {
  await addRecipient()
  const inAnHour = { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }
  for (const [verb, body] of [['archive'], ['reschedule', inAnHour]] as const) {
    mails.mails.length = 0
    const both = await claimPost()
    // Its last target is the one that loses the account.
    await both.publishOther()
    await both.loseAccount()
    expect((await ask('POST', `/v1/posts/${both.id}/${verb}`, body)).status).toBe(200)
    await sendAll(1000)
    expect(mails.mails).toEqual([])
    await sendAll(expiredAccountDelayMs + 1000)
    expect(mails.mails.map(({ headers }) => headers['subject'])).toEqual([
      expect.stringContaining('an account needs to be connected again'),
    ])
  }
  expect(await stores.pg.query('SELECT 1 FROM alert_mails')).toEqual([])
})

test('nothing is read between a claim and its message, so that no failing read counts as a message that may be there', async () => {
  await addRecipient()
  const both = await claimPost()
  await both.publishOther()
  await both.loseAccount()
  const query: typeof stores.pg.query = (sql, ...more) => {
    if (!sql.includes('alert_mails')) throw new Error('away')
    return stores.pg.query(sql, ...more)
  }
  await sendAll(1000, { ...stores.pg, query })
  expect(mails.mails).toHaveLength(1)
})

test('a row that is switched off loses no message that another row of the address wants', async () => {
  const first = await addRecipient()
  await addRecipient({ every: 'monthly' })
  const both = await claimPost()
  await both.publishOther()
  await both.loseAccount()
  await stores.pg.query('UPDATE report_recipients SET failures = false WHERE id = $1', [first])
  await sendAll(1000)
  expect(mails.mails).toHaveLength(1)
})

test('a post that fails anew while its message is sent keeps the claim of the next process', async () => {
  await addRecipient()
  const both = await claimPost()
  await both.publishOther()
  await both.loseAccount()
  const claim = async (now: number) => {
    const until = new Date(now + 60_000)
    const [claimed] = await claimAlertMails(stores.pg, { now: new Date(now), until, max: 1, withMail: true })
    return claimed!
  }
  const [first, telling] = [await claim(Date.now() + 1000), { now: new Date(Date.now() + 2000), withMails: true }]
  await stores.pg.transaction((tx) =>
    tellFailure(tx, { workspaceId: mine.workspaceId, kind: 'post', subjectId: both.id }, telling),
  )
  const second = await claim(Date.now() + 3000)
  expect([first.attempts, second.attempts, second.uncertain]).toEqual([1, 1, 0])
  await endSentMail(stores.pg, first)
  expect(await stores.pg.query(`SELECT is_sending FROM alert_mails WHERE kind = 'post'`)).toEqual([
    { is_sending: true },
  ])
})

test('the link of such a mail ends them for its address, and leaves reports and alerts', async () => {
  await addRecipient({ alerts: true })
  const post = await claimPost()
  await post.loseAccount()
  await post.publishOther()
  await sendAll(1000)
  const link = /^Unsubscribe: (\S+)$/m.exec(mails.mails[0]!.text)![1]!.replace(testApiHost, '')
  expect(await (await api.ask(link)).text()).toContain('no more mails about failed posts of this workspace')
  expect((await api.ask(link, { method: 'POST' })).status).toBe(200)
  expect(await listReportRecipients(stores.pg, mine.workspaceId)).toMatchObject([{ alerts: true, failures: false }])
})
