/** Revenue in the overview: what payments are credited to, currencies, imports, and ad spend. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { startCreditLoop } from '../../pipeline/revenue/credit-loop.ts'
import { insertInbox } from '../../postgres/tables/people/inbox.ts'
import { systemClock } from '../../runtime/clock.ts'
import { deriveHashKey, hash64, hashed } from '../../runtime/crypto/hash.ts'
import { makeIdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { makeKey, setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import type { EventLike } from '../support/event-rows.ts'
import { makeInboxRow } from '../support/inbox-rows.ts'
import { onOneDay } from '../support/one-day.ts'
import { makeTestWorkspace, type TestWorkspace } from '../support/overview.ts'
import { mergeAndRefreshPeople } from '../support/people.ts'
import { asking } from '../support/publishing.ts'
import { type Connected, connectProvider, creditAll, readLedger, sendEvent } from '../support/revenue.ts'
import { setUpFolder } from '../support/test-folder.ts'

const { stores, api } = setUpApi({ hasYearlyParts: true, sharesWorkspace: true })
let workspace: TestWorkspace & { apiKey: string }
let connected: Connected
const folder = setUpFolder()
const now = '2025-11-20T14:25:00Z'

beforeEach(async () => {
  workspace = { ...(await makeTestWorkspace(stores, { now })), apiKey: '' }
  workspace.apiKey = (await makeKey(stores, workspace.id)).apiKey
  connected = await connectProvider(stores, workspace.id, 'custom')
})

/** The visitor whose browser is called so. */
function visitorOf(browser: string) {
  hash64(deriveHashKey(stores.secretKey, 'visitors'), workspace.id, browser)
  return { hi: hashed.hi, lo: hashed.lo || 1 }
}
const eventOf = (browser: string, occurred_at: string, more: EventLike = {}): EventLike => ({
  visitor: visitorOf(browser),
  anonymous_id: browser,
  occurred_at,
  source: '',
  medium: '',
  ...more,
})
let manifests = 0
const identify = (email: string, browser: string, properties: Record<string, unknown> = {}, at = now) => {
  manifests += 1
  const times = { occurred_at: Date.parse(at), received_at: Date.parse(now) }
  const who = { email, anonymous_id: browser, properties }
  const row = makeInboxRow({ event_id: 2 ** 40 + manifests, workspace_id: workspace.id, ...who, ...times })
  return stores.pg.transaction((tx) => insertInbox(tx, manifests, [row]))
}
let payments = 0
const paidAt = '2025-11-20T11:00:00Z'
const pay = async (event: object) => {
  payments += 1
  const usual = { type: 'payment', value_cents: 1_000, currency: 'USD', occurred_at: paidAt }
  const sent = { id: `order-${payments}`, ...usual, ...event }
  expect(await sendEvent(api, 'custom', connected, sent)).toEqual({ status: 200, body: { received: true } })
}
/** The overview of the day, once a payment in the browser `laptop` is credited. */
async function paidAfter(...events: readonly EventLike[]) {
  await workspace.addEvents(events)
  await pay({ anonymous_id: 'laptop' })
  await creditAll(stores)
  return workspace.ask({ days: '1' })
}
const google = { source: 'google', medium: 'organic', campaign: 'autumn' }
const mail = { source: 'newsletter', medium: 'email' }
const earning = <Row extends { revenue_cents: number }>(rows: readonly Row[], key: keyof Row) =>
  Object.fromEntries(
    rows.filter(({ revenue_cents }) => revenue_cents !== 0).map((row) => [row[key], row.revenue_cents]),
  )

describe('a payment is credited', () => {
  test("to the last touch of its payer before it, and to that session's entry, device, browser and country", async () => {
    await identify('ada@example.com', 'laptop')
    await identify('ada@example.com', 'phone')
    const phone = { device: 'mobile', browser: 'Safari', country: 'DE' } as const
    await workspace.addEvents([
      eventOf('laptop', '2025-11-18T10:00:00Z', { ...google, path: '/blog' }),
      eventOf('phone', '2025-11-19T10:00:00Z', { ...mail, ...phone, path: '/offer' }),
      eventOf('phone', '2025-11-19T10:01:00Z', { ...phone, path: '/pricing' }),
      eventOf('phone', '2025-11-20T13:00:00Z', { path: '/blog' }),
      // After it.
      eventOf('laptop', '2025-11-20T14:00:00Z', { ...google, path: '/blog', session: 77 }),
    ])
    await pay({ email: ' Ada@Example.com', occurred_at: '2025-11-20T13:30:00Z' })
    await creditAll(stores)
    const overview = await workspace.ask({ days: '3' })
    expect(overview.metrics.revenue_cents).toBe(1_000)
    expect(earning(overview.top_sources, 'source')).toEqual({ newsletter: 1_000 })
    expect(earning(overview.top_pages, 'path')).toEqual({ '/offer': 1_000 })
    expect(earning(overview.devices, 'key')).toEqual({ mobile: 1_000 })
    expect(earning(overview.browsers, 'key')).toEqual({ Safari: 1_000 })
    expect(earning(overview.countries, 'key')).toEqual({ DE: 1_000 })
    expect(earning(overview.traffic_series, 'label')).toEqual({ '2025-11-20 13:00': 1_000 })
    const revenueOf = async (filters: Record<string, string[]>) =>
      (await workspace.ask({ days: '1', ...filters })).metrics.revenue_cents
    // By the session of the touch, which began before the range.
    for (const chosen of [{ path: ['/pricing'] }, { entry_path: ['/offer'] }, { channel: ['Email'] }])
      expect([chosen, await revenueOf(chosen)]).toEqual([chosen, 1_000])
    for (const other of [{ path: ['/other'] }, { source: ['google'] }, { country: ['!dE'] }, { event: ['sign_up'] }])
      expect([other, await revenueOf(other)]).toEqual([other, 0])
  })

  test('anew when its payer becomes known, and by the user id of the workspace', async () => {
    await workspace.addEvents([eventOf('laptop', '2025-11-20T09:00:00Z', google)])
    await pay({ workspace_user_id: 'user-7' })
    await creditAll(stores)
    expect(earning((await workspace.ask({ days: '1' })).top_sources, 'source')).toEqual({ direct: 1_000 })
    // By another process, while this one is about to write what it knew before.
    const transaction: typeof stores.pg.transaction = async (save) => {
      await identify('ada@example.com', 'laptop', { user_id: 'user-7' })
      await creditAll(stores)
      return stores.pg.transaction(save)
    }
    await creditAll({ ...stores, pg: { ...stores.pg, transaction } })
    expect(earning((await workspace.ask({ days: '1' })).top_sources, 'source')).toEqual({ google: 1_000 })
    // Also when the identify has left the inbox.
    await mergeAndRefreshPeople(stores)
    await stores.pg.query('DELETE FROM inbox WHERE workspace_id = $1', [workspace.id])
    await pay({ workspace_user_id: 'user-7', email: 'billing@example.com' })
    await creditAll(stores)
    expect(earning((await workspace.ask({ days: '1' })).top_sources, 'source')).toEqual({ google: 2_000 })
  })

  test('anew at once when a late identify names a user id that its payer had before', async () => {
    await identify('ada@example.com', 'laptop', { user_id: 'new' })
    await mergeAndRefreshPeople(stores)
    await pay({ workspace_user_id: 'old' })
    await creditAll(stores)
    const isDue = () =>
      stores.pg.query('SELECT credit_due_at <= now() AS due FROM revenue_payments WHERE workspace_id = $1', [
        workspace.id,
      ])
    expect(await isDue()).toEqual([{ due: false }])
    await identify('ada@example.com', 'laptop', { user_id: 'old' }, '2025-11-01T00:00:00Z')
    await mergeAndRefreshPeople(stores)
    expect(await isDue()).toEqual([{ due: true }])
  })

  test("to the payer's last session where no touch is within 30 days, and else to nothing that is known", async () => {
    await workspace.addEvents([
      eventOf('laptop', '2025-10-01T09:00:00Z', google),
      eventOf('laptop', '2025-11-19T09:00:00Z', { path: '/docs', country: 'FR' }),
      eventOf('app', '2025-11-19T09:00:00Z', { path: '' }),
      eventOf('tool', '2025-11-19T09:00:00Z', { path: '', kind: 'custom', country: 'FR' }),
      eventOf('desk', '2025-11-20T09:00:00Z', { path: '/morning', country: 'JP' }),
      eventOf('desk', '2025-11-20T14:00:00Z', { path: '/later', country: 'BR', session: 77 }),
      eventOf('shelf', '2025-10-21T09:00:00Z', { country: 'BR' }),
      eventOf('shelf', '2025-10-21T20:00:00Z', { country: 'NL', session: 78 }),
    ])
    await pay({ anonymous_id: 'laptop' })
    // Its session viewed no page.
    await pay({ anonymous_id: 'tool', value_cents: 50 })
    await pay({ email: 'nobody@example.com', value_cents: 7 })
    // Between two sessions of one day.
    await pay({ anonymous_id: 'desk', value_cents: 300 })
    // The 30 days begin between them.
    await pay({ anonymous_id: 'shelf', value_cents: 2_000 })
    await creditAll(stores)
    const overview = await workspace.ask({ days: '3' })
    expect(earning(overview.top_sources, 'source')).toEqual({ direct: 3_357 })
    expect(earning(overview.top_pages, 'path')).toEqual({ '/docs': 1_000, '/morning': 300 })
    const byCountry = { FR: 1_050, JP: 300, NL: 2_000, unknown: 7 }
    expect(earning(overview.countries, 'key')).toEqual(byCountry)
    // The credited session may be deleted by the next time: then the credit stays.
    await stores.pg.query('UPDATE workspaces SET retention_days = 30 WHERE id = $1', [workspace.id])
    for (const table of ['events', 'sessions', 'visitors', 'credits']) {
      const sql = `ALTER TABLE ${table} DELETE WHERE workspace_id = {workspace:UInt32} SETTINGS mutations_sync = 2`
      await stores.ch.command(sql, { workspace: workspace.id })
    }
    await creditAll(stores)
    const later = await workspace.ask({ days: '3' })
    expect(earning(later.countries, 'key')).toEqual(byCountry)
  })

  test('to the session of the touch, also where another one of the browser goes on meanwhile', async () => {
    const server = { session: 2, session_named: 0, path: '', kind: 'custom', device: 'other' } as const
    const { devices, top_pages } = await paidAfter(
      eventOf('laptop', '2025-11-20T09:00:00Z', { session: 1, path: '/offer' }),
      eventOf('laptop', '2025-11-20T09:05:00Z', server),
      eventOf('laptop', '2025-11-20T09:10:00Z', { ...google, session: 1, path: '/pricing' }),
      eventOf('laptop', '2025-11-20T09:20:00Z', server),
    )
    expect([earning(devices, 'key'), earning(top_pages, 'path')]).toEqual([{ desktop: 1_000 }, { '/offer': 1_000 }])
  })

  test('like a conversion to the touch with the larger id of one moment, and to a session with a medium and no source', async () => {
    const at = '2025-11-20T09:00:00.500Z'
    await pay({ anonymous_id: 'phone' })
    const { top_sources } = await paidAfter(
      eventOf('laptop', at, google),
      eventOf('laptop', at, mail),
      eventOf('laptop', paidAt, { kind: 'conversion' }),
      eventOf('laptop', '2025-11-20T12:00:00Z', { source: 'bing', medium: 'organic' }),
      eventOf('phone', at, { source: 'direct', medium: 'email' }),
      eventOf('phone', '2025-11-20T09:10:00Z', { source: 'direct', medium: 'none', kind: 'conversion' }),
    )
    const paid = top_sources.filter(({ revenue_cents }) => revenue_cents === 1_000)
    expect(paid.map(({ source, medium, conversions }) => [source, medium, conversions]).sort()).toEqual([
      ['direct', 'email', 1],
      ['newsletter', 'email', 1],
    ])
  })

  test('once and for all, where its payer was erased', async () => {
    await workspace.addEvents([eventOf('laptop', '2025-11-20T09:00:00Z', google)])
    await identify('ada@example.com', 'laptop')
    await mergeAndRefreshPeople(stores)
    await pay({ id: 'a', email: 'ada@example.com' })
    await creditAll(stores)
    expect((await svc('people', 'erase', '--email', 'ada@example.com')).code).toBe(0)
    const refund = { id: 'r', type: 'refund', payment_id: 'a', value_cents: 100, occurred_at: '2025-11-20T12:00:00Z' }
    await pay({ ...refund, email: 'ada@example.com' })
    await creditAll(stores)
    expect(earning((await workspace.ask({ days: '1' })).top_sources, 'source')).toEqual({ google: 900 })
  })
})

test('a payment counts for the short link that led to its credited touch', async () => {
  const ask = asking(api, () => workspace.apiKey)
  const link = (await ask('POST', '/v1/links', { label: 'Offer', destination_url: 'https://example.com/offer' })).body
  const path = `/v1/links/${link.id}`
  const none = { payments: 0, revenue_cents: 0, revenue_by_currency: {} }
  expect((await ask('GET', path)).body.revenue).toEqual(none)
  const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * 3_600_000).toISOString()
  await workspace.addEvents([
    eventOf('laptop', at(3), { source: 'svc', medium: 'social', link_id: link.id, campaign: 'offer' }),
    eventOf('phone', at(2), { source: 'svc', medium: 'social', campaign: 'offer' }),
  ])
  await pay({ anonymous_id: 'laptop', id: 'a', occurred_at: at(1) })
  await pay({ id: 'r', payment_id: 'a', type: 'refund', value_cents: 100, occurred_at: at(1) })
  await pay({ anonymous_id: 'laptop', currency: 'EUR', value_cents: 5, occurred_at: at(1) })
  await pay({ anonymous_id: 'phone', occurred_at: at(1) })
  await creditAll(stores)
  const revenue = { payments: 2, revenue_cents: 900, revenue_by_currency: { EUR: 5 } }
  expect((await ask('GET', path)).body.revenue).toEqual(revenue)
  // Results are analytics, whatever they are of.
  const post = (await ask('POST', '/v1/posts', { title: 'Offer', base_caption: 'Now' })).body
  const { apiKey } = await makeKey(stores, workspace.id, { scopes: ['links:read', 'posts:read'] })
  const without = asking(api, () => apiKey)
  const shown = (await without('GET', path)).body
  expect([shown.revenue, shown.visits, typeof shown.click_counts.clicks]).toEqual([null, null, 'number'])
  const { performance } = (await without('GET', `/v1/posts/${post.id}`)).body
  expect(new Set(Object.values(performance))).toEqual(new Set([null]))
})

test('the page report has revenue by the credited sessions and is sorted by it, with filters too', async () => {
  const ask = asking(api, () => workspace.apiKey)
  const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * 3_600_000).toISOString()
  await workspace.addEvents([
    ...['laptop', 'phone'].map((browser) => eventOf(browser, at(3), { path: '/docs' })),
    eventOf('tablet', at(3), { path: '/offer', device: 'tablet' }),
    eventOf('tool', at(3), { path: '/blog' }),
  ])
  await pay({ anonymous_id: 'phone', occurred_at: at(1), value_cents: 500 })
  await pay({ anonymous_id: 'tablet', occurred_at: at(1) })
  await creditAll(stores)
  const revenueOf = async (query: string) =>
    (await ask('GET', `/v1/analytics/pages?${query}&sort=revenue_cents`)).body.rows.map(
      ({ path, revenue_cents }: { path: string; revenue_cents: number }) => [path, revenue_cents],
    )
  const all = [
    ['/offer', 1_000],
    ['/docs', 500],
    ['/blog', 0],
  ]
  // Whole days, and a range that begins inside one.
  expect([await revenueOf('days=2'), await revenueOf('hours=5&order=asc')]).toEqual([all, all.toReversed()])
  expect(await revenueOf('days=2&device=!tablet')).toEqual(all.slice(1))
})

test('the pipeline credits by itself what comes, and again when its payer becomes known, whatever fails elsewhere', async () => {
  await workspace.addEvents([eventOf('laptop', '2025-11-20T09:00:00Z', google)])
  const metrics = makePipelineMetrics(makeMetrics('test', false))
  const { pg, ch, secretKey } = stores
  const failing = await makeTestWorkspace(stores, { now })
  const paid = { id: 'first', type: 'payment', value_cents: 500, currency: 'USD', anonymous_id: 'x', occurred_at: now }
  await sendEvent(api, 'custom', await connectProvider(stores, failing.id, 'custom'), paid)
  const own = makeIdentityHashes(secretKey)
  const visitorOf = (id: number, browser: string) => {
    if (id === failing.id) throw new Error('this workspace fails')
    return own.visitorOf(id, browser)
  }
  const hashes = { ...own, visitorOf }
  const creditLoop = startCreditLoop({ pg, ch, hashes, clock: systemClock, log: makeLog('test', 'silent'), metrics })
  const credited = () =>
    stores.pg.query<{ rule: string; credited: boolean }>(
      'SELECT rule, credited_at IS NOT NULL AS credited FROM revenue_payments WHERE workspace_id = $1',
      [workspace.id],
    )
  try {
    await pay({ email: 'ada@example.com' })
    await expect.poll(credited).toEqual([{ rule: 'none', credited: true }])
    // It wouldn't be its turn for a week.
    const later = `UPDATE revenue_payments SET credit_due_at = now() + interval '7 days' WHERE workspace_id = $1`
    await stores.pg.query(later, [workspace.id])
    await identify('ada@example.com', 'laptop')
    // However late people are brought up to date.
    await stores.pg.query(`UPDATE inbox SET copied_at = now() - interval '1 hour'`)
    await mergeAndRefreshPeople(stores)
    await expect.poll(credited).toEqual([{ rule: 'touch', credited: true }])
  } finally {
    await creditLoop.close()
  }
})

test('a refund counts when it happens, credited as its payment', async () => {
  await workspace.addEvents([
    eventOf('laptop', '2025-11-18T09:00:00Z', google),
    eventOf('laptop', '2025-11-19T09:00:00Z', mail),
    // Money that a browser reports doesn't count.
    eventOf('laptop', '2025-11-20T09:00:00Z', { kind: 'conversion', properties: '{"value_cents":900}' }),
  ])
  const who = { anonymous_id: 'laptop' }
  await pay({ ...who, id: 'a', occurred_at: '2025-11-18T12:00:00Z' })
  await pay({ id: 'r1', type: 'refund', payment_id: 'a', value_cents: 400, occurred_at: '2025-11-20T12:00:00Z' })
  await pay({ id: 'r2', type: 'refund', payment_id: 'a', value_cents: 400, occurred_at: '2025-11-20T13:00:00Z' })
  await creditAll(stores)
  const today = await workspace.ask({ days: '1' })
  expect([today.metrics.revenue_cents, today.metrics.previous!.revenue_cents]).toEqual([-800, 0])
  expect(earning(today.top_sources, 'source')).toEqual({ google: -800 })
  expect((await workspace.ask({ days: '3' })).metrics.revenue_cents).toBe(200)
})

const file = (text: string | Buffer) => {
  const path = join(folder, 'import.csv')
  writeFileSync(path, text)
  return path
}
const svc = (...words: string[]) => svcOn(stores, ...words, '--workspace', String(workspace.id))

describe('imports', () => {
  test('of payments are the ledger of the same events, and a file twice changes nothing', async () => {
    const path = file(
      '\uFEFFid,type,payment_id,value_cents,currency,occurred_at,email\n' +
        'a,payment,,1000,usd,2025-11-18T12:00:00Z,ada@example.com\n' +
        'r,refund,a,250,USD,2025-11-19T12:00:00Z,\n' +
        '"b, c",,,500,USD,2025-11-20 12:00,\n',
    )
    for (let n = 0; n < 2; n++) {
      expect(await svc('revenue', 'import', path)).toMatchObject({ code: 0, json: { lines: 3 } })
      const values = (await readLedger(stores, workspace.id)).map(({ payment, value_cents }) => [payment, value_cents])
      expect(values).toEqual([
        ['a', 1_000],
        ['a', -250],
        ['b, c', 500],
      ])
    }
    expect((await workspace.ask({ days: '3' })).metrics.revenue_cents).toBe(1_250)
    // One that its provider has sent as well counts once.
    await pay({ id: 'sent', occurred_at: '2025-11-18T12:00:00Z' })
    const again = file('provider,id,value_cents,currency,occurred_at\ncustom,sent,1000,USD,2025-11-18T12:00:00Z\n')
    expect((await svc('revenue', 'import', again)).json).toMatchObject({ other_amounts: { count: 0, first: [] } })
    // The first amount stays, and the command says so.
    const other = file('provider,id,value_cents,currency,occurred_at\ncustom,sent,1001,USD,2025-11-18T12:00:00Z\n')
    expect((await svc('revenue', 'import', other)).json).toMatchObject({ other_amounts: { count: 1, first: ['sent'] } })
    expect((await workspace.ask({ days: '3' })).metrics.revenue_cents).toBe(2_250)
  })

  test.each([
    ['before', 'after'],
    ['after', 'before'],
  ])(
    'name a charge of Stripe %s its webhook and a refund %s it: both are of the payment of its intent',
    async (...order) => {
      const stripe = await connectProvider(stores, workspace.id, 'stripe')
      const created = Date.parse('2025-11-18T12:00:00Z') / 1000
      const money = { currency: 'usd', amount: 1_000, amount_captured: 1_000, amount_refunded: 0 }
      const charge = { id: 'ch_1', payment_intent: 'pi_1', created, captured: true, ...money }
      const sent = { type: 'charge.succeeded', created, data: { object: charge } }
      const lines = [',1000,2025-11-18T12:00:00Z,ada@example.com', 'refund,250,2025-11-19T12:00:00Z,']
      for (const [nth, place] of order.entries()) {
        const path = file(`provider,id,currency,type,value_cents,occurred_at,email\nstripe,ch_1,USD,${lines[nth]}\n`)
        const importing = async () =>
          expect((await svc('revenue', 'import', path)).json).toMatchObject({ lines: 1, other_amounts: { count: 0 } })
        if (place === 'before') await importing()
        expect((await sendEvent(api, 'stripe', stripe, sent)).status).toBe(200)
        if (place === 'after') await importing()
      }
      expect(
        (await readLedger(stores, workspace.id)).map(({ payment, value_cents }) => [payment, value_cents]),
      ).toEqual([
        ['pi_1', 1_000],
        ['pi_1', -250],
      ])
      const told = await stores.pg.query('SELECT type FROM outbox WHERE workspace_id = $1 ORDER BY id', [workspace.id])
      expect(told).toEqual([{ type: 'revenue.recorded' }, { type: 'revenue.refunded' }])
    },
  )

  test('name a payment of Stripe by its charge and by its intent: it is one as soon as its webhook tells of both', async () => {
    const lines = ['ch_1,payment,1000,ada@example.com', 'ch_1,refund,250,', 'pi_1,payment,1000,']
    const rows = lines.map((line) => `stripe,USD,2025-11-18T12:00:00Z,${line}\n`)
    await svc('revenue', 'import', file(`provider,currency,occurred_at,id,type,value_cents,email\n${rows.join('')}`))
    const stripe = await connectProvider(stores, workspace.id, 'stripe')
    const created = Date.parse('2025-11-18T12:00:00Z') / 1000
    const charge = { id: 'ch_1', payment_intent: 'pi_1', created, captured: true, currency: 'usd', amount: 1_000 }
    // One without an intent stands beside it, however often it is told.
    for (const object of [charge, { ...charge, id: 'ch_2', payment_intent: null }]) {
      for (let times = 0; times < 2; times++)
        await sendEvent(api, 'stripe', stripe, { type: 'charge.succeeded', created, data: { object } })
    }
    const ledger = await readLedger(stores, workspace.id)
    expect(ledger.map(({ payment, value_cents }) => [payment, value_cents])).toEqual([
      ['ch_2', 1_000],
      ['pi_1', 1_000],
      ['pi_1', -250],
    ])
    const sql = `SELECT refs FROM revenue_payments WHERE workspace_id = $1 AND payment = 'pi_1'`
    expect(await stores.pg.query(sql, [workspace.id])).toEqual([
      { refs: ['payment:pi_1', 'payment:ch_1', 'charge:ch_1'] },
    ])
  })

  test('with a wrong line change nothing and name it', async () => {
    const path = file(
      'id,value_cents,currency,occurred_at\na,1000,USD,2025-11-18T12:00:00Z\nb,-5,USD,2025-11-18T12:00:00Z\n',
    )
    const { code, err } = await svc('revenue', 'import', path)
    expect([code, err]).toEqual([1, expect.stringContaining('line 3: value_cents:')])
    const head = 'id,value_cents,currency,occurred_at'
    for (const [text, fault] of [
      [`${head},E-Mail\nc,5,USD,2025-11-18T12:00:00Z,ada@example.com\n`, 'has a column `e-mail`'],
      [head.replaceAll(',', ';'), 'line 1: columns are separated by commas'],
      ['value_cents,currency\n5,USD\n', 'line 1 has no column `id`'],
      [`${head}\n,5,USD,2025-11-18T12:00Z\n`, 'line 2: id: Field required'],
      [`${head},currency\nc,5,USD,2025-11-18T12:00Z,EUR\n`, 'has the column `currency` twice'],
      ['\n', 'has no line with the names of columns'],
    ] as const) {
      expect((await svc('revenue', 'import', file(text))).err).toContain(fault)
    }
    const rates = file('currency,rate\nEUR,"1,1"\n')
    expect((await svc('revenue', 'rates', rates)).err).toContain('line 2: rate: Input should be a number such as 1.08')
    expect((await svc('revenue', 'rates', file('currency,rate\nUSD,1.1\n'))).err).toContain('own currency')
    for (const source of ['a\0b', Buffer.from([0xfc])]) {
      const ads = file(
        Buffer.concat([
          Buffer.from('day,source,cost_cents,currency\n2025-11-20,'),
          Buffer.from(source),
          Buffer.from(',5,USD\n'),
        ]),
      )
      expect((await svc('ads', 'import', ads)).err).toContain("line 2: source: isn't text in UTF-8")
    }
    expect(await readLedger(stores, workspace.id)).toEqual([])
    expect((await svc('revenue', 'import', join(folder, 'none.csv'))).err).toContain('there is no file')
    expect((await svc('revenue', 'import', file('"'))).code).toBe(1)
  })

  test.each([
    ['stripe,re_1,refund,pi_1', 'A refund of this provider has no payment_id'],
    ['stripe,re_1,refund,', "id: An id of this provider is a payment intent's or a charge's"],
    ['lemonsqueezy,re_1,refund,order 1', 'A refund of this provider has no payment_id'],
    ['lemonsqueezy,12,payment,', 'id: An id of this provider is such as `order 12` or `invoice 12`'],
    ['paddle,txn_1,refund,', 'A refund of this provider needs a payment_id'],
  ])('that webhooks of its provider tell otherwise are refused: %s', async (cells, fault) => {
    const path = file(
      `provider,id,type,payment_id,value_cents,currency,occurred_at\n${cells},5,USD,2025-11-18T12:00Z\n`,
    )
    const { code, err } = await svc('revenue', 'import', path)
    expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(`line 2: .*${fault}`))])
  })
})

describe('other currencies', () => {
  test('stand apart until a rate of the import day converts them', async () => {
    await onOneDay()
    await pay({ value_cents: 10_000, currency: 'EUR', occurred_at: '2025-11-20T12:00:00Z' })
    await pay({ value_cents: 1_000, currency: 'JPY', occurred_at: '2025-11-20T12:00:00Z' })
    await pay({ value_cents: 1_000_000, currency: 'HUF', occurred_at: '2025-11-20T12:00:00Z' })
    const apart = (await workspace.ask({ days: '1' })).metrics
    expect(apart).toMatchObject({ revenue_cents: 0, revenue_by_currency: { EUR: 10_000, JPY: 1_000, HUF: 1_000_000 } })
    const another = file('currency,rate,day\nEUR,9,2020-01-01\n')
    expect((await svc('revenue', 'rates', another)).code).toBe(0)
    expect((await workspace.ask({ days: '1' })).metrics.revenue_cents).toBe(0)
    expect((await svc('revenue', 'rates', file('currency,rate\nEUR,1.1\nJPY,0.0065\nHUF,0.0025\n'))).code).toBe(0)
    const { metrics, top_sources } = await workspace.ask({ days: '1' })
    // 1,000 yen have no hundredths; forints have, though hardly anybody shows them.
    expect([metrics.revenue_cents, metrics.revenue_by_currency]).toEqual([11_000 + 650 + 2_500, {}])
    expect(earning(top_sources, 'source')).toEqual({ direct: 14_150 })
    // Refunds of all of a payment leave no cent of rounding.
    await pay({ id: 'back', value_cents: 999, currency: 'EUR' })
    for (const [minute, id] of ['r1', 'r2', 'r3'].entries()) {
      const given = { id, type: 'refund', payment_id: 'back', value_cents: 333, currency: 'EUR' }
      await pay({ ...given, occurred_at: `2025-11-20T13:0${minute}:00Z` })
    }
    const given = await workspace.ask({ days: '1', interval: 'hour' })
    expect(given.metrics.revenue_cents).toBe(14_150)
    expect(earning(given.traffic_series, 'label')).toMatchObject({
      '2025-11-20 11:00': 1_099,
      '2025-11-20 13:00': -1_099,
    })
    // A rate that lacks its point: what it makes too large for a number is the largest, until another rate comes.
    const day = new Date().toISOString().slice(0, 10)
    await svc('ads', 'import', file('day,source,cost_cents,currency\n2025-11-20,bing,10000000,EUR\n'))
    expect((await svc('revenue', 'rates', file(`currency,rate,day\nEUR,999999999999,${day}\n`))).code).toBe(0)
    const mistyped = (await workspace.ask({ days: '1' })).metrics
    const largest = Number.MAX_SAFE_INTEGER
    expect(mistyped).toMatchObject({ revenue_cents: largest, ad_spend_cents: largest })
    // So are costs that no rate converts.
    const costs = Array.from({ length: 9_008 }, (_, at) => `2025-11-20,bing,${at},1000000000000,CHF\n`)
    await svc('ads', 'import', file(`day,source,campaign,cost_cents,currency\n${costs.join('')}`))
    const apartAds = (await workspace.ask({ days: '1' })).metrics.ad_spend_by_currency
    expect(apartAds).toEqual({ CHF: largest })
  })
})

test('what ads cost counts on its days beside the revenue of its campaign, and a file twice changes nothing', async () => {
  await paidAfter(eventOf('laptop', '2025-11-20T09:00:00Z', google))
  const path = file(
    'day,source,campaign,cost_cents,currency,clicks\n' +
      '2025-11-20,google,autumn,1500,USD,30\n2025-11-19,google,autumn,500,USD,10\n2025-11-20,bing,autumn,70,EUR,1\n',
  )
  for (let n = 0; n < 2; n++) expect(await svc('ads', 'import', path)).toMatchObject({ code: 0, json: { lines: 3 } })
  const { metrics } = await workspace.ask({ days: '1' })
  expect(metrics).toMatchObject({ ad_spend_cents: 1_500, ad_spend_by_currency: { EUR: 70 } })
  expect(metrics['ad_campaigns']).toEqual([
    { source: 'google', campaign: 'autumn', cost_cents: 1_500, clicks: 30, revenue_cents: 1_000 },
    { source: 'bing', campaign: 'autumn', cost_cents: 0, clicks: 1, revenue_cents: 0 },
  ])
  expect([metrics.previous?.ad_spend_cents, metrics.previous?.ad_spend_by_currency]).toEqual([500, {}])
  const corrected = file('day,source,campaign,cost_cents,currency,clicks\n2025-11-20,bing,autumn,90,USD,2\n')
  expect((await svc('ads', 'import', corrected)).code).toBe(0)
  const after = (await workspace.ask({ days: '1' })).metrics
  expect([after.ad_spend_cents, after.ad_spend_by_currency]).toEqual([1_590, {}])
})
