/** Messages about conversions, payments and refunds: from ingest and providers to the servers of mail and chats. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { forgetConversions } from '../../postgres/tables/people/erasures.ts'
import {
  alertRetryDelaysMs,
  chatConversionsPauseMs,
  conversionMessagesDailyMax,
  conversionsLateMaxMs,
  mailConversionsPauseMs,
} from '../../schemas/limits/alert-limits.ts'
import { day } from '../../schemas/limits/units.ts'
import { setUpAlerts } from '../support/alerts.ts'
import { setUpApi, testApiHost } from '../support/api.ts'
import { addresses } from '../support/chat-server.ts'
import { svcOn } from '../support/command-line.ts'
import { foldStored } from '../support/figures.ts'
import { workOn } from '../support/fold.ts'
import { setUpIngest } from '../support/ingest.ts'
import type { MailServer } from '../support/mail-server.ts'
import { setUpMembers } from '../support/members.ts'
import { mergeAndRefreshPeople, settlePeople, track } from '../support/people.ts'
import { type Connected, connectProvider, sendEvent } from '../support/revenue.ts'

const { stores, api, mine } = setUpApi({ isMailSetUp: true })
const ingest = setUpIngest(stores)
const { mails, chats, sendAll } = setUpAlerts(stores)
const { signInOwner } = setUpMembers({ stores, api })
const email = 'reader@example.com'
/** Made at a test's first payment. */
let provider: Connected | undefined
let payments = 0

beforeEach(async () => {
  for (const table of ['report_recipients', 'chat_channels']) await stores.pg.query(`DELETE FROM ${table}`)
  provider = undefined
})

async function addChannel(more: object) {
  const channel = { name: 'Sales', url: addresses.slack, contents: ['conversions', 'payments'], ...more }
  const { status, body } = await (await signInOwner(mine))('POST', '/chat-channels', channel)
  expect([status, body]).toEqual([200, expect.anything()])
  return Number(body['id'])
}

async function addRecipient(more: object) {
  const { status, body } = await (await signInOwner(mine))('POST', '/report-recipients', {
    email,
    every: 'weekly',
    ...more,
  })
  expect([status, body]).toEqual([200, expect.anything()])
  return Number(body['id'])
}

const conversion = (event_name: string, more: object = {}) => ({
  event_type: 'conversion',
  event_name,
  anonymous_id: 'a',
  email: 'ada@example.com',
  url: 'https://example.com/pricing?utm_source=news&utm_medium=email',
  ...more,
})
const convert = async (...events: object[]) => {
  const ids = await track(ingest, mine, events as Record<string, unknown>[])
  await settlePeople(stores, ingest)
  return ids
}
/** The quicker of the two to tell: both are gathered in the same row. */
async function pay(event: object = {}) {
  provider ??= await connectProvider(stores, mine.workspaceId, 'custom')
  const id = `payment-${++payments}`
  const about = { id, type: 'payment', value_cents: 4_900, currency: 'EUR', occurred_at: new Date().toISOString() }
  expect((await sendEvent(api, 'custom', provider, { ...about, ...event })).status).toBe(200)
}
const said = () => chats.messages.map(({ body }) => String(body['text']))

test('conversions are told once, in one message at a time, whatever is folded again and by how many processes', async () => {
  await addChannel({})
  await addRecipient({ conversions: true, payments: true })
  await addRecipient({ every: 'monthly', conversions: true })
  const name = '<!channel> @everyone ```<b>'
  await track(ingest, mine, [conversion('signup'), conversion(name), conversion('signup')])
  await ingest.shipped()
  await foldStored(stores)
  await Promise.allSettled([1, 2].map(() => refreshPeople(workOn(stores), Date.now())))
  await mergeAndRefreshPeople(stores)
  await svcOn(stores, 'figures', 'rebuild', '--workspace', String(mine.workspaceId))
  await settlePeople(stores, ingest)
  const firstAt = Date.now()
  await Promise.all([sendAll(), sendAll()])
  expect(said()).toEqual([expect.stringMatching(/: 3 conversions\*\n\*Conversions\*\n```\n/)])
  expect(said()[0]).toContain('signup (/pricing, from news)')
  expect(JSON.stringify(chats.messages)).not.toMatch(/<!channel>|@everyone|`{3}<|ada@/)
  expect(mails.mails.map(({ to }) => to)).toEqual([email])
  const [{ headers, text, html }] = mails.mails as [MailServer['mails'][0]]
  expect(headers['subject']).toContain('3 conversions')
  expect(html).not.toContain('<b>')
  expect(text + html).not.toContain('ada@')

  // Later ones wait for the next message, a payment with them.
  await convert(...Array.from({ length: 6 }, () => conversion('signup')))
  await pay({ id: 'p1' })
  await pay({ id: 'p1' })
  // By the time of the first: a slow machine takes longer than a pause for what came in between.
  await sendAll(firstAt + chatConversionsPauseMs / 2 - Date.now())
  expect([said().length, mails.mails.length]).toEqual([1, 1])
  await sendAll(chatConversionsPauseMs + 10_000)
  expect(said()[1]).toMatch(/: 6 conversions, 1 payment\*\n\*Conversions, the first 5 of 6\*/)
  expect(said()[1]).toMatch(/€49\.00 {2}Payment by custom/)
  await sendAll(mailConversionsPauseMs + 10_000)
  expect([said().length, mails.mails.length]).toEqual([2, 2])
  await sendAll(2 * mailConversionsPauseMs)
  expect([said().length, mails.mails.length]).toEqual([2, 2])
})

test('a clock that ran three days ahead, and is right again, keeps no payment from being told', async () => {
  await addChannel({})
  await pay()
  // So late the message is given up.
  await sendAll(3 * day)
  await pay()
  await sendAll()
  expect(said()).toEqual([expect.stringMatching(/: 1 payment\*\n1 before was left out/)])
})

test('a recipient is told of the chosen events alone, of payments or of conversions alone, and of nothing old or imported', async () => {
  const asOwner = await signInOwner(mine)
  const channel = await addChannel({ contents: ['conversions'], conversion_names: ['signup'] })
  const recipient = await addRecipient({ payments: true })
  await convert(conversion('call'), conversion('signup'))
  await sendAll()
  expect([said().length, mails.mails.length]).toEqual([1, 0])
  expect(said()[0]).toContain(': 1 conversion*')
  await asOwner('PATCH', `/chat-channels/${channel}`, { conversion_names: ['other'] })
  const listed = await asOwner('GET', '/chat-channels')
  expect(listed.body).toMatchObject({
    channels: [{ conversion_names: ['other'], contents: [{ content: 'conversions' }] }],
  })
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  await convert(conversion('signup'), conversion('other', { occurred_at: ago(61) }))
  await pay({ id: 'old', occurred_at: ago(61) })
  const folder = mkdtempSync(join(tmpdir(), 'svc-payments-'))
  const file = join(folder, 'payments.csv')
  writeFileSync(file, `id,value_cents,currency,occurred_at\nimported,4900,EUR,${ago(1)}\n`)
  const imported = await svcOn(stores, 'revenue', 'import', file, '--workspace', String(mine.workspaceId))
  rmSync(folder, { recursive: true })
  expect(imported.err).toBe('')
  expect(await stores.pg.query('SELECT 1 FROM alert_mails WHERE gathered IS NOT NULL')).toEqual([])
  await pay({ id: 'r1', payment_id: 'old', type: 'refund', value_cents: 900, occurred_at: ago(1) })
  await sendAll(mailConversionsPauseMs)
  expect([said().length, mails.mails.length]).toEqual([1, 1])
  expect(mails.mails[0]!.text).toMatch(/Payments and refunds\n {2}Refund by custom: €9\.00 \(/)

  // The link of the mail ends both, and leaves reports.
  const link = /^Unsubscribe: (\S+)$/m.exec(mails.mails[0]!.text)![1]!.replace(testApiHost, '')
  await asOwner('PATCH', `/report-recipients/${recipient}`, { conversions: true, conversion_names: ['signup'] })
  expect((await api.ask(link, { method: 'POST' })).status).toBe(200)
  const { body: shown } = await asOwner('GET', '/report-recipients')
  expect(shown).toMatchObject({ recipients: [{ id: recipient, conversions: false, payments: false }] })
  const names = Array.from({ length: 21 }, (_, nth) => `n${nth}`)
  expect((await asOwner('PATCH', `/report-recipients/${recipient}`, { conversion_names: names })).status).toBe(422)
})

test('a payment that its provider settles days after it was made is told', async () => {
  await addRecipient({ payments: true })
  const days = (count: number) => Date.now() - count * 86_400_000
  const iso = (count: number) => new Date(days(count)).toISOString()
  const send = async (provider: 'stripe' | 'paddle' | 'lemonsqueezy', event: object) => {
    const connected = await connectProvider(stores, mine.workspaceId, provider)
    expect((await sendEvent(api, provider, connected, event)).status).toBe(200)
  }
  const charge = { id: 'ch_1', created: Math.floor(days(4) / 1000), currency: 'eur', amount: 4_900 }
  await send('stripe', { type: 'charge.succeeded', created: Math.floor(days(0) / 1000), data: { object: charge } })
  const invoice = { status: 'paid', total: 900, currency: 'EUR', billing_reason: 'renewal' }
  await send('lemonsqueezy', {
    meta: { event_name: 'subscription_payment_success' },
    data: {
      type: 'subscription-invoices',
      id: '2',
      attributes: { ...invoice, created_at: iso(4), updated_at: iso(0) },
    },
  })
  const refund = { id: 'adj_1', action: 'refund', status: 'approved', transaction_id: 'txn_1', currency_code: 'EUR' }
  const data = { ...refund, created_at: iso(4), totals: { total: '700' } }
  await send('paddle', { event_type: 'adjustment.updated', occurred_at: iso(0), data })
  // One of before the connection is no news when it is refunded.
  const old = { ...charge, id: 'ch_2', amount_refunded: 300 }
  await send('stripe', { type: 'charge.refunded', created: Math.floor(days(0) / 1000), data: { object: old } })
  await sendAll(mailConversionsPauseMs)
  expect(mails.mails.flatMap(({ text }) => text.match(/(Payment|Refund) by \w+: \S+/g))).toEqual([
    'Payment by stripe: €49.00',
    'Payment by lemonsqueezy: €9.00',
    'Refund by paddle: €7.00',
    'Refund by stripe: €3.00',
  ])
})

test('messages of a day are bounded, and so is the time that one is tried; the next one says how many were left out', async () => {
  await addChannel({})
  await pay()
  await sendAll()
  await pay()
  // The next message may go out on the day after the first one.
  const day = Math.floor((Date.now() + chatConversionsPauseMs + 5_000) / 86_400_000)
  const full = [conversionMessagesDailyMax - 1, new Date(day * 86_400_000)]
  await stores.pg.query(
    "UPDATE alert_mails SET sent_times = $1, sent_on = ($2::timestamptz AT TIME ZONE 'UTC')::date",
    full,
  )
  await sendAll(chatConversionsPauseMs + 5_000)
  expect(said()).toHaveLength(2)
  const [{ due_at }] = (await stores.pg.query('SELECT due_at FROM alert_mails')) as [{ due_at: Date }]
  expect(due_at.getTime()).toBe((day + 1) * 86_400_000)
  // As if most of the day was left.
  await stores.pg.query("UPDATE alert_mails SET due_at = now() + interval '5 hours'")
  for (let n = 0; n < 2; n++) await pay()
  await sendAll(4 * 3_600_000)
  expect(said()).toHaveLength(2)
  await sendAll(5 * 3_600_000 + 1000)
  expect(said()[2]).toContain('conversions or payments were left out*\n2 before were left out.')

  await stores.pg.query('UPDATE alert_mails SET due_at = now(), sent_times = 0')
  await pay()
  chats.instead = { status: 503 }
  await sendAll()
  await pay()
  await sendAll(alertRetryDelaysMs[0] + 5_000)
  await sendAll(conversionsLateMaxMs + 1000)
  chats.instead = null
  await sendAll(conversionsLateMaxMs + chatConversionsPauseMs - 10_000)
  expect(said()).toHaveLength(3)
  await sendAll(conversionsLateMaxMs + 2 * chatConversionsPauseMs)
  await sendAll(conversionsLateMaxMs + 4 * chatConversionsPauseMs)
  expect(said()).toHaveLength(4)
  expect(said()[3]).toContain('2 before were left out.')
})

test('what was read before a mail went out, and is written down after it, is in the next mail', async () => {
  await addRecipient({ conversions: true, payments: true })
  await pay()
  await sendAll(20_000)
  await convert(conversion('call'))
  await pay()
  await sendAll(mailConversionsPauseMs + 30_000)
  expect(mails.mails).toHaveLength(2)
  expect(mails.mails[1]!.headers['subject']).toContain('1 conversion, 1 payment')
})

test('nothing is written down where nobody wants it, and an erasure takes the lines of a person out of what waits', async () => {
  await convert(conversion('signup'))
  await pay()
  expect(await stores.pg.query('SELECT 1 FROM alert_mails')).toEqual([])
  await addChannel({})
  const [erased] = await convert(conversion('of-ada'), conversion('of-ben'))
  await stores.pg.transaction((tx) => forgetConversions(tx, mine.workspaceId, [erased!]))
  await sendAll()
  expect(said()[0]).toContain(': 2 conversions*')
  expect(said()[0]).toContain('of-ben')
  expect(said()[0]).not.toContain('of-ada')
})

test('a receiver that refuses is asked again only when there is more to tell, and nobody without a plan', async () => {
  await addChannel({})
  await pay()
  chats.instead = { status: 400 }
  const asked: number[] = []
  for (let hours = 0; hours < 6; hours++) {
    await sendAll(hours * mailConversionsPauseMs + 1000)
    asked.push(chats.asked)
  }
  expect(asked.at(-1)).toBe(asked.at(-2))
  chats.instead = null
  await stores.pg.query('DELETE FROM alert_mails')
  await pay()
  await stores.pg.query('UPDATE owners SET plan_key = NULL')
  await sendAll()
  expect(said()).toEqual([])
  await stores.pg.query("UPDATE owners SET plan_key = 'growth'")
  await pay()
  await sendAll()
  expect(said()).toHaveLength(1)
})
