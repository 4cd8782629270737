/** Conversions of a link, and payments, are credited by what the person did, on whichever browser or server that was. */
import { expect, test, vi } from 'vitest'
import { creditRevenue } from '../../pipeline/revenue/credit-payments.ts'
import type { Queryable } from '../../postgres/client.ts'
import { forgetPayer } from '../../postgres/tables/people/erased-payers.ts'
import type { ErasedPerson } from '../../postgres/tables/people/erasures.ts'
import type { ReportedFacts } from '../../postgres/tables/revenue/reported-payments.ts'
import { recreditContacts } from '../../postgres/tables/revenue/revenue-credits.ts'
import { recordRevenue } from '../../postgres/tables/revenue/revenue-ledger.ts'
import { makeIdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import type { Conversions } from '../../schemas/resources/conversion.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { foldStored } from '../support/figures.ts'
import { addEvents } from '../support/fold.ts'
import { setUpIngest } from '../support/ingest.ts'
import { type SentEvent, settlePeople, track } from '../support/people.ts'
import { asking } from '../support/publishing.ts'
import { connectProvider, creditAll, sendEvent } from '../support/revenue.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true })
const ingest = setUpIngest(stores)
const begin = Math.floor(Date.now() / 1000) * 1000 - 10 * 3_600_000

/** @param minutes since ten hours ago */
const view = (anonymous_id: string, minutes: number, more: SentEvent = {}): SentEvent => ({
  event_name: 'pageview',
  anonymous_id,
  session_id: `s-${anonymous_id}-${minutes >> 4}`,
  url: 'https://example.com/',
  occurred_at: new Date(begin + minutes * 60_000).toISOString(),
  ...more,
})
const identify = (anonymous_id: string, minutes: number, email: string) =>
  view(anonymous_id, minutes, { event_type: 'identify', event_name: 'identify', email })
const conversion = (anonymous_id: string, minutes: number) =>
  view(anonymous_id, minutes, { event_type: 'conversion', event_name: 'signup' })

async function send(...events: SentEvent[]) {
  await track(ingest, mine, events)
  await settlePeople(stores, ingest)
  // Conversions that are credited otherwise now.
  await foldStored(stores)
}

const ask = asking(api, () => mine.apiKey)
const read = async <Answer>(path: string) => (await ask<Answer>('GET', path)).body

test('a link has the conversion of whoever came by it, on whichever browser that was', async () => {
  const link = (await ask('POST', '/v1/links', { label: 'Sale', destination_url: 'https://example.com/' })).body
  // Ingest is told of new links within a moment.
  const followed = () => fetch(`http://127.0.0.1:${ingest.port}/l/${link.attribution_key}`, { redirect: 'manual' })
  await vi.waitFor(async () => expect((await followed()).status).toBe(302), 60_000)
  await send(view('laptop', 20), conversion('laptop', 60), view('phone', 0, { url: link.tracking_url }))
  expect(await read(`/v1/links/${link.id}`)).toMatchObject({ visits: { visitors: 1, sessions: 1, conversions: 0 } })
  await send(identify('phone', 40, 'ann@example.com'), identify('laptop', 41, 'ann@example.com'))
  expect(await read(`/v1/links/${link.id}`)).toMatchObject({ visits: { visitors: 1, sessions: 1, conversions: 1 } })
})

const paymentAt = (minutes: number) => ({
  type: 'payment',
  value_cents: 1_000,
  currency: 'USD',
  occurred_at: new Date(begin + minutes * 60_000).toISOString(),
})
const creditsOfPayments = () =>
  stores.pg.query('SELECT payment, rule, source, path FROM revenue_payments WHERE workspace_id = $1 ORDER BY payment', [
    mine.workspaceId,
  ])

test("without a touch, revenue goes to the payer's own last session on a browser that others used since", async () => {
  await send(
    identify('shared', 20, 'ben@example.com'),
    view('shared', 21, { url: 'https://example.com/bens' }),
    identify('shared', 48, 'ann@example.com'),
    view('shared', 50, { url: 'https://example.com/anns' }),
  )
  const connected = await connectProvider(stores, mine.workspaceId, 'custom')
  await sendEvent(api, 'custom', connected, { ...paymentAt(60), id: 'bens', email: 'ben@example.com' })
  await creditAll(stores)
  expect(await creditsOfPayments()).toEqual([{ payment: 'bens', rule: 'session', source: 'direct', path: '/bens' }])
})

test('payments that are due, and conversions that are listed, together have each the touches before it, however many come after', async () => {
  const touches = Array.from({ length: 1_001 }, (_, at) => view('laptop', 3 + at / 10, { source: 'ads' }))
  await send(
    view('laptop', 0, { source: 'news' }),
    identify('laptop', 0, 'ann@example.com'),
    conversion('laptop', 1),
    conversion('laptop', 300),
  )
  await send(...touches.slice(0, 1_000))
  await send(...touches.slice(1_000))
  const connected = await connectProvider(stores, mine.workspaceId, 'custom')
  for (const minutes of [1, 300]) {
    const sent = { ...paymentAt(minutes), id: `at ${minutes}`, email: 'ann@example.com' }
    await sendEvent(api, 'custom', connected, sent)
  }
  await creditAll(stores)
  expect(await creditsOfPayments()).toMatchObject([
    { payment: 'at 1', rule: 'touch', source: 'news' },
    { payment: 'at 300', rule: 'touch', source: 'ads' },
  ])
  const { conversions } = await read<Conversions>('/v1/analytics/conversions')
  const newest = conversions.map(({ touches }) => [touches.length, touches[0]?.source, touches[0]?.is_credited])
  expect(newest).toEqual([
    [20, 'ads', true],
    [1, 'news', true],
  ])
})

test('payments that are due together have each the session of their own days, where days later its id came back', async () => {
  const times = [-2 * 1_440, 0]
  await send(...times.map((at) => view('laptop', at, { session_id: 'kept', url: `https://example.com/${-at}` })))
  const connected = await connectProvider(stores, mine.workspaceId, 'custom')
  for (const at of times) {
    await sendEvent(api, 'custom', connected, { ...paymentAt(at), id: `${-at}`, anonymous_id: 'laptop' })
  }
  await creditAll(stores)
  expect(await creditsOfPayments()).toMatchObject([
    { payment: '0', path: '/0' },
    { payment: '2880', path: '/2880' },
  ])
})

test("revenue goes to the payer's own last touch, which a server may have sent, and to nobody else's", async () => {
  await send(
    view('shared', 0, { source: 'news', medium: 'email' }),
    identify('shared', 1, 'ann@example.com'),
    identify('shared', 20, 'ben@example.com'),
    view('shared', 21),
  )
  const connected = await connectProvider(stores, mine.workspaceId, 'custom')
  const pay = async (id: string, payer: object) =>
    expect((await sendEvent(api, 'custom', connected, { ...paymentAt(60), id, ...payer })).status).toBe(200)
  const earned = async () => {
    await creditAll(stores)
    const { top_sources } = await read<{ top_sources: { source: string; revenue_cents: number }[] }>(
      '/v1/analytics/overview?days=2&include=top_sources',
    )
    return Object.fromEntries(
      top_sources.flatMap((row) => (row.revenue_cents ? [[row.source, row.revenue_cents]] : [])),
    )
  }
  await pay('anns', { email: 'ann@example.com' })
  await pay('bens', { email: 'ben@example.com' })
  await pay('bens-browser', { anonymous_id: 'shared' })
  expect(await earned()).toEqual({ news: 1_000, direct: 2_000 })
  const { anonymous_id: _, session_id: __, ...ofServer } = view('', 40, { source: 'partner', medium: 'referral' })
  await send({ ...ofServer, email: 'ben@example.com' })
  expect(await earned()).toEqual({ news: 1_000, partner: 2_000 })
  // Nobody was ever known in the browser that the payment names: it is the payer's as well.
  await send(view('laptop', 50, { source: 'ads', medium: 'cpc' }))
  await pay('anns-laptop', { email: 'ann@example.com', anonymous_id: 'laptop' })
  expect(await earned()).toEqual({ news: 1_000, ads: 1_000, partner: 2_000 })
})

test("revenue goes to the session of the payer's own touch, beside another person's of the same moment", async () => {
  await send(
    identify('shared', 0, 'ann@example.com'),
    identify('shared', 20, 'ben@example.com'),
    view('shared', 30, { source: 'news', session_id: 'a', url: 'https://example.com/anns', email: 'ann@example.com' }),
    view('shared', 30, { source: 'ads', session_id: 'b', url: 'https://example.com/bens' }),
  )
  const connected = await connectProvider(stores, mine.workspaceId, 'custom')
  await sendEvent(api, 'custom', connected, { ...paymentAt(60), id: 'anns', email: 'ann@example.com' })
  await creditAll(stores)
  expect(await creditsOfPayments()).toEqual([{ payment: 'anns', rule: 'touch', source: 'news', path: '/anns' }])
})

const [hour, day] = [3_600_000, 86_400_000]
const now = Date.now() - hour
const make = async (path: string, body: object) => (await ask<{ id: number }>('POST', path, body)).body.id

test('a link and a post led to those who came by them, and to the conversions credited to a touch of theirs', async () => {
  const post_id = await make('/v1/posts', { title: 'Sale', base_caption: 'Sale' })
  const link_id = await make('/v1/links', { label: 'Sale', destination_url: 'https://example.com/', post_id })
  const came = { source: 'svc', medium: 'social', link_id, post_id, url: 'https://example.com/b?x=1', path: '/b' }
  const toA = { url: 'https://shop.example.com/a', path: '/a' }
  await addEvents(stores, mine.workspaceId, [
    { visitor: 1, ...came, ...toA, occurred_at: now - 3 * day },
    { visitor: 1, kind: 'conversion', occurred_at: now - 2 * day },
    // Came by the post alone, and by something else before converting.
    { visitor: 2, ...came, link_id: 0, occurred_at: now - 3 * day },
    { visitor: 2, session: 7, source: 'news', medium: 'email', occurred_at: now - 2 * day },
    { visitor: 2, session: 7, kind: 'conversion', occurred_at: now - day },
    { visitor: 3, ...came, occurred_at: now - day },
    { visitor: 3, session: 8, ...came, occurred_at: now - hour },
    { visitor: 4, kind: 'conversion', occurred_at: now },
    // Before what the plan reads.
    { visitor: 5, ...came, occurred_at: now - 200 * day },
  ])
  const other = await makeWorkspace(stores)
  await addEvents(stores, other.workspaceId, [{ visitor: 6, ...came, occurred_at: now }])
  await stores.ch.command(
    `INSERT INTO link_clicks (workspace_id, link_id, post_id, kind, visitor, occurred_at)
     SELECT ${mine.workspaceId}, ${link_id}, ${post_id}, 'click', 1, fromUnixTimestamp64Milli(${now})`,
  )
  const { visits } = await read<{ visits: unknown }>(`/v1/links/${link_id}`)
  const pages = [
    { hostname: 'example.com', path: '/b', visitors: 1, sessions: 2, conversions: 0, conversion_rate: 0 },
    { hostname: 'shop.example.com', path: '/a', visitors: 1, sessions: 1, conversions: 1, conversion_rate: 100 },
  ]
  expect(visits).toEqual({ visitors: 2, sessions: 3, conversions: 1, pages })
  const { performance } = await read<{ performance: unknown }>(`/v1/posts/${post_id}`)
  expect(performance).toEqual({
    clicks: 1,
    visitors: 3,
    sessions: 4,
    conversions: 1,
    payments: 0,
    revenue_cents: 0,
    revenue_by_currency: {},
  })
})

function creditInVain(): Promise<void> {
  const ch = { query: () => Promise.reject(new Error('ClickHouse is away')) }
  const hashes = makeIdentityHashes(stores.secretKey)
  return creditRevenue({ pg: stores.pg, ch, hashes }, new AbortController().signal)
}

test('earlier payments of a customer are due where a later one tells of another payer, and nowhere else', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  const pay = (id: string, email: string, at: number) => {
    const payment = { id, occurredAt: at, paid: { valueCents: 100, currency: 'USD' }, refunds: [] }
    const facts = { payment, references: [`payment:${id}`, 'customer:cus_1'], payer: { email }, reportedAt: at }
    const ledger = { workspaceId, now: Date.now() }
    return stores.pg.transaction((tx) => recordRevenue(tx, ledger, [{ provider: 'stripe', facts }]))
  }
  const due = async () => {
    const sql = `WITH due AS (SELECT id FROM revenue_payments WHERE workspace_id = $1 AND credit_due_at IS NOT NULL)
      UPDATE revenue_payments p SET credit_due_at = NULL FROM due WHERE p.id = due.id RETURNING payment`
    return (await stores.pg.query<{ payment: string }>(sql, [workspaceId])).map(({ payment }) => payment).sort()
  }
  await pay('pi_1', 'ann@example.com', begin)
  expect(await due()).toEqual(['pi_1'])
  await pay('pi_2', 'ann@example.com', begin + 1)
  expect(await due()).toEqual(['pi_2'])
  await pay('pi_3', 'billing@example.com', begin + 2)
  expect(await due()).toEqual(['pi_1', 'pi_2', 'pi_3'])
})

test.each([
  ['a payer who becomes known', (tx: Queryable, { contactId }: ErasedPerson) => recreditContacts(tx, [contactId!])],
  ['a payer who is erased', forgetPayer],
  ['a crediting that fails', () => expect(creditInVain()).rejects.toThrow('ClickHouse is away')],
])('%s and events of the same payments never both wait for each other', async (_, change) => {
  const { pg } = stores
  const { workspaceId } = mine
  const email = 'ada@example.com'
  const told = (...payments: string[]): ReportedFacts[] =>
    payments.map((id) => {
      const payment = { id, occurredAt: now, paid: { valueCents: 500, currency: 'USD' }, refunds: [] }
      return {
        provider: 'custom',
        facts: { payment, references: [`payment:${id}`], payer: { email }, reportedAt: now },
      }
    })
  const record = (...payments: string[]) =>
    pg.transaction((tx) => recordRevenue(tx, { workspaceId, now }, told(...payments)))
  await record('a', 'b', 'c')
  await pg.query('UPDATE revenue_payments SET credited_at = now() WHERE workspace_id = $1', [workspaceId])
  const [contact] = await pg.query<{ id: number }>(
    `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     VALUES ($1, $2, 1, 1, 1, 1, 1) RETURNING id`,
    [workspaceId, email],
  )
  const person = { workspaceId, contactId: contact!.id, email, emailHash: '1', anonymousIds: [], browsers: [] }
  const waiting = async (count: number) => {
    await expect.poll(() => countWaiting(pg)).toBe(count)
  }
  const begun = await pg.transaction(async (tx) => {
    await tx.query(`SELECT FROM revenue_payments WHERE workspace_id = $1 AND payment = 'b' FOR UPDATE`, [workspaceId])
    const changing = pg.transaction((own) => change(own, { ...person, sharedTimes: [] }))
    await waiting(1)
    const recording = record('c', 'a')
    await waiting(2)
    return [changing, recording]
  })
  const ends = await Promise.allSettled(begun)
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
})
