/** What payment providers send: signatures, and what their events make of the ledger. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Environment, Paddle } from '@paddle/paddle-node-sdk'
import { beforeEach, describe, expect, test } from 'vitest'
import { revenueBodyBytesMax } from '../../schemas/limits/revenue-limits.ts'
import { revenueProviders } from '../../schemas/revenue.ts'
import { setUpApi, testApiHost } from '../support/api.ts'
import { runSvc, svcOn } from '../support/command-line.ts'
import { asking } from '../support/publishing.ts'
import { type Connected, connectProvider, readLedger, sendEvent, signatureOf } from '../support/revenue.ts'

const { stores, api, mine } = setUpApi()
const ask = (method: string, path: string) => asking(api, () => mine.apiKey)(method, path)

const at = (time: string) => Date.parse(time) / 1000
const customPayment = {
  ...{ id: 'order-1', type: 'payment', value_cents: 5_000, currency: 'USD', occurred_at: '2025-11-01T10:00:00Z' },
}
const ledger = async () =>
  (await readLedger(stores, mine.workspaceId)).map(({ payment, value_cents, currency, occurred_at }) => [
    ...[payment, value_cents, currency, occurred_at.toISOString().slice(0, 16)],
  ])
describe('a signature', () => {
  const events = {
    stripe: { type: 'charge.succeeded', created: 1, data: { object: {} } },
    paddle: { event_type: 'subscription.created' },
    lemonsqueezy: { meta: { event_name: 'subscription_created' } },
    custom: customPayment,
  }

  async function post(connected: Connected, body: string, headers: Record<string, string>) {
    const response = await api.ask(connected.url.replace(testApiHost, ''), { method: 'POST', body, headers })
    return [response.status, await response.json()]
  }
  const refused = [401, { detail: 'Invalid signature' }]

  test.each(revenueProviders)(
    'of %s by another secret, of another body or none is refused, and nothing is stored',
    async (provider) => {
      const connected = await connectProvider(stores, mine.workspaceId, provider)
      const other = await connectProvider(stores, mine.workspaceId, provider)
      const body = JSON.stringify(events[provider])
      expect(await post(connected, body, signatureOf(provider, other.secret, body))).toEqual(refused)
      expect(await post(connected, `${body} `, signatureOf(provider, connected.secret, body))).toEqual(refused)
      expect(await post(connected, body, {})).toEqual(refused)
      expect(await ledger()).toEqual([])
    },
  )

  test.each(['stripe', 'paddle', 'custom'] as const)(
    'of %s is taken for 300 seconds, before and after',
    async (provider) => {
      const connected = await connectProvider(stores, mine.workspaceId, provider)
      const body = provider === 'stripe' ? '{"type":"ping"}' : JSON.stringify(events[provider])
      for (const [seconds, status] of [
        [-290, 200],
        [290, 200],
        [-310, 401],
        [310, 401],
      ] as const) {
        const signed = signatureOf(provider, connected.secret, body, Date.now() + seconds * 1000)
        expect([seconds, (await post(connected, body, signed))[0]]).toEqual([seconds, status])
      }
    },
  )

  test("of Paddle is what Paddle's own package takes", async () => {
    const body = JSON.stringify(events.paddle)
    const { 'Paddle-Signature': signature } = signatureOf('paddle', 'secret-of-paddle', body)
    const paddle = new Paddle('none', { environment: Environment.sandbox })
    expect(await paddle.webhooks.isSignatureValid(body, 'secret-of-paddle', signature!)).toBe(true)
  })

  test('of a secret that was replaced, or of a connection that is gone, is refused', async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'custom')
    const again = ['revenue', 'connect', '--workspace', String(mine.workspaceId), '--provider', 'custom']
    const { json } = await svcOn(stores, ...again, '--connection', String(connected.connection_id))
    expect(json).toMatchObject({ connection_id: connected.connection_id, url: connected.url })
    expect((await sendEvent(api, 'custom', connected, customPayment)).status).toBe(401)
    expect((await sendEvent(api, 'custom', json, customPayment)).status).toBe(200)
    expect((await svcOn(stores, 'revenue', 'disconnect', String(connected.connection_id))).code).toBe(0)
    expect(await sendEvent(api, 'custom', json, customPayment)).toEqual({
      ...{ status: 404, body: { detail: 'Revenue connection not found' } },
    })
  })

  test('is asked for before a body of any length, and no body is longer than a mebibyte', async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'custom')
    expect((await post(connected, ' '.repeat(100_000), {}))[0]).toBe(401)
    const long = ' '.repeat(revenueBodyBytesMax + 1)
    expect((await post(connected, long, signatureOf('custom', connected.secret, long)))[0]).toBe(413)
  })
})

describe('a connection', () => {
  test('shows its secret once, and keeps it encrypted', async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'stripe')
    expect(connected).toEqual({
      connection_id: expect.any(Number),
      url: `${testApiHost}/api/v1/growth/revenue/stripe/${connected.connection_id}`,
      secret: expect.stringMatching(/^whsec_/),
    })
    const [kept] = await stores.pg.query<{ secret: Buffer }>('SELECT secret FROM revenue_connections WHERE id = $1', [
      connected.connection_id,
    ])
    expect(kept!.secret.includes(connected.secret)).toBe(false)
    const { json } = await svcOn(stores, 'revenue', 'list', '--workspace', String(mine.workspaceId))
    expect(json).toEqual([
      { connection_id: connected.connection_id, provider: 'stripe', created_at: expect.stringMatching(/Z$/) },
    ])
    expect(JSON.stringify((await ask('GET', '/v1/audit-log')).body)).not.toContain(connected.secret)
  })

  test('has its address at the running product, whose secret encrypts it, where the environment names none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-running-'))
    const running = { base_url: 'http://localhost:8080/v1', database_url: stores.databaseUrl }
    writeFileSync(join(folder, 'dev.json'), JSON.stringify(running))
    writeFileSync(join(folder, 'secret.key'), stores.secretKey)
    const words = ['revenue', 'connect', '--workspace', String(mine.workspaceId), '--provider', 'custom', '--json']
    const { out } = await runSvc(words, { DATA_DIR: folder })
    const connected = JSON.parse(out) as Connected
    const path = `/api/v1/growth/revenue/custom/${connected.connection_id}`
    expect(connected.url).toBe(`http://localhost:8080${path}`)
    const sent = await sendEvent(api, 'custom', { ...connected, url: `${testApiHost}${path}` }, customPayment)
    expect(sent.status).toBe(200)
    rmSync(folder, { recursive: true })
  })

  test('takes POST alone, and is of one provider', async () => {
    const { url } = await connectProvider(stores, mine.workspaceId, 'stripe')
    const path = url.replace(testApiHost, '')
    expect((await api.ask(path)).status).toBe(405)
    const slashed = await api.ask(`${path}/`, { method: 'POST', body: '{}', redirect: 'manual' })
    expect([slashed.status, slashed.headers.get('location')]).toEqual([307, path])
    const body = '{}'
    const headers = signatureOf('lemonsqueezy', 'any-secret', body)
    expect((await api.ask(path.replace('stripe', 'lemonsqueezy'), { method: 'POST', body, headers })).status).toBe(404)
    expect((await api.ask(path.replace('stripe', 'other'), { method: 'POST', body })).status).toBe(404)
  })
})

describe('Stripe', () => {
  let connected: Connected
  beforeEach(async () => {
    connected = await connectProvider(stores, mine.workspaceId, 'stripe')
  })
  const send = (type: string, created: string, object: object) =>
    sendEvent(api, 'stripe', connected, { id: `evt_${type}`, type, created: at(created), data: { object } })
  const charge = {
    ...{ id: 'ch_1', object: 'charge', payment_intent: 'pi_1', invoice: 'in_1', customer: 'cus_1', currency: 'eur' },
    ...{ amount: 2_000, amount_captured: 2_000, amount_refunded: 0, captured: true, paid: true },
    created: at('2025-11-01T10:00:00Z'),
    billing_details: { email: null },
  }
  const checkout = {
    ...{ id: 'cs_1', payment_intent: 'pi_1', customer: 'cus_1', client_reference_id: 'user-7' },
    customer_details: { email: 'Ada@Example.com ' },
  }
  const invoice = { id: 'in_1', payment_intent: 'pi_1', customer: 'cus_1', customer_email: 'ada@example.com' }

  test('learns the payer from events beside the charge, and tells of the payment once', async () => {
    const started = { id: 'pi_1', amount: 2_000 }
    expect((await send('checkout.session.completed', '2025-11-01T10:00:03Z', checkout)).status).toBe(200)
    expect((await send('invoice.paid', '2025-11-01T10:00:02Z', invoice)).status).toBe(200)
    expect((await send('charge.succeeded', '2025-11-01T10:00:01Z', charge)).status).toBe(200)
    expect((await send('payment_intent.succeeded', '2025-11-01T10:00:01Z', started)).status).toBe(200)
    expect(await ledger()).toEqual([['pi_1', 2_000, 'EUR', '2025-11-01T10:00']])
    const told = await stores.pg.query('SELECT type FROM outbox WHERE workspace_id = $1', [mine.workspaceId])
    expect(told).toEqual([{ type: 'revenue.recorded' }])
    const payers = await stores.pg.query(
      `SELECT field, value FROM revenue_payers WHERE workspace_id = $1 AND reference = 'payment:pi_1' ORDER BY field`,
      [mine.workspaceId],
    )
    expect(payers).toEqual([
      { field: 'email', value: 'ada@example.com' },
      { field: 'user_id', value: 'user-7' },
    ])
  })

  test('counts no authorization before it is captured', async () => {
    await send('charge.succeeded', '2025-11-01T10:00:01Z', { ...charge, captured: false, amount_captured: 0 })
    expect(await ledger()).toEqual([])
    // Stripe counts the released rest as refunded.
    const captured = { ...charge, amount_captured: 1_500, amount_refunded: 500 }
    await send('charge.captured', '2025-11-02T10:00:01Z', captured)
    const paid = ['pi_1', 1_500, 'EUR', '2025-11-01T10:00']
    expect(await ledger()).toEqual([paid])
    await send('charge.refunded', '2025-11-03T10:00:01Z', { ...captured, amount_refunded: 600 })
    expect(await ledger()).toEqual([paid, ['pi_1', -100, 'EUR', '2025-11-03T10:00']])
  })

  test('of a dispute counts what the customer got back, and what of it came back', async () => {
    await send('charge.succeeded', '2025-11-01T10:00:01Z', charge)
    const withdrawn = { amount: -2_000, currency: 'eur', fee: 1_500, net: -3_500 }
    const dispute = { id: 'dp_1', amount: 2_000, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
    const [paid, taken] = [
      ['pi_1', 2_000, 'EUR', '2025-11-01T10:00'],
      ['pi_1', -2_000, 'EUR', '2025-11-03T10:00'],
    ]
    const event = { ...dispute, balance_transactions: [withdrawn] }
    await send('charge.dispute.funds_withdrawn', '2025-11-03T10:00:00Z', event)
    expect(await ledger()).toEqual([paid, taken])
    const reinstated = { amount: 500, currency: 'eur', fee: 0, net: 500 }
    const ended = { ...dispute, balance_transactions: [withdrawn, reinstated] }
    await send('charge.dispute.funds_reinstated', '2025-11-04T10:00:00Z', ended)
    expect(await ledger()).toEqual([paid, taken, ['pi_1', 500, 'EUR', '2025-11-04T10:00']])
  })

  test.each([
    ['now', { parent: { subscription_details: { metadata: { user_id: 'user-8' } } } }],
    ['before 2025-03-31', { subscription_details: { metadata: { user_id: 'user-8' } } }],
  ])("learns the payer from a subscription's metadata as invoices have it %s", async (_, details) => {
    await send('invoice.paid', '2025-11-01T10:00:02Z', { id: 'in_2', customer: 'cus_2', ...details })
    const payers = await stores.pg.query(
      `SELECT value FROM revenue_payers WHERE workspace_id = $1 AND reference = 'invoice:in_2'`,
      [mine.workspaceId],
    )
    expect(payers).toEqual([{ value: 'user-8' }])
  })

  test('says what is wrong with an event that it signed', async () => {
    const { status, body } = await send('charge.succeeded', '2025-11-01T10:00:01Z', { ...charge, currency: 'zzz' })
    expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'data', 'object', 'currency'] }]])
  })
})

test('Paddle: a refund counts once, when it is approved', async () => {
  const connected = await connectProvider(stores, mine.workspaceId, 'paddle')
  const send = (event_type: string, data: object) =>
    sendEvent(api, 'paddle', connected, { event_id: 'evt', event_type, occurred_at: '2025-11-02T11:00:00Z', data })
  const of = { customer_id: 'ctm_1', currency_code: 'GBP' }
  const details = { totals: { grand_total: '4200', total: '4200' } }
  await send('transaction.completed', { id: 'txn_1', ...of, billed_at: '2025-11-01T10:00:00Z', details })
  await send('customer.updated', { id: 'ctm_1', email: 'ada@example.com' })
  const paid = ['txn_1', 4_200, 'GBP', '2025-11-01T10:00']
  for (const status of ['pending_approval', 'approved', 'approved']) {
    const adjustment = { id: 'adj_1', action: 'refund', status, transaction_id: 'txn_1', totals: { total: '200' } }
    await send('adjustment.updated', { ...adjustment, ...of, created_at: '2025-11-02T10:00:00Z' })
    const refunds = status === 'approved' ? [['txn_1', -200, 'GBP', '2025-11-02T10:00']] : []
    expect(await ledger()).toEqual([paid, ...refunds])
  }
})

test('a payment of nothing is none, and says who will pay', async () => {
  const connected = await connectProvider(stores, mine.workspaceId, 'paddle')
  const data = {
    ...{ id: 'txn_1', customer_id: 'ctm_1', currency_code: 'GBP', custom_data: { user_id: 'user-7' } },
    details: { totals: { grand_total: '0' } },
  }
  const trial = { event_type: 'transaction.completed', occurred_at: '2025-11-01T10:00:00Z', data }
  expect((await sendEvent(api, 'paddle', connected, trial)).status).toBe(200)
  const count = (table: string) =>
    stores.pg.query(`SELECT count(*)::int AS n FROM ${table} WHERE workspace_id = $1`, [mine.workspaceId])
  expect([await count('revenue_payments'), await count('outbox')]).toEqual([[{ n: 0 }], [{ n: 0 }]])
  expect(await count('revenue_payers')).toEqual([{ n: 2 }])
})

describe('Lemon Squeezy', () => {
  test("counts an order once, not its subscription's first payment beside it, and later payments", async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'lemonsqueezy')
    const send = (event_name: string, type: string, id: string, attributes: object) =>
      sendEvent(api, 'lemonsqueezy', connected, {
        meta: { event_name, custom_data: { user_id: 'user-7' } },
        data: {
          ...{ type, id },
          attributes: {
            ...{ status: 'paid', total: 999, currency: 'USD', customer_id: 5, user_email: 'ada@example.com' },
            ...{ created_at: '2025-11-01T10:00:00.000000Z', updated_at: '2025-11-01T10:00:00.000000Z', ...attributes },
          },
        },
      })
    const refund = { status: 'partial_refund', refunded_amount: 99, refunded_at: '2025-11-05T10:00:00.000000Z' }
    for (let n = 0; n < 2; n++) {
      await send('order_created', 'orders', '1', {})
      await send('subscription_payment_success', 'subscription-invoices', '1', { billing_reason: 'initial' })
      await send('subscription_payment_success', 'subscription-invoices', '2', {
        ...{ billing_reason: 'renewal', subscription_id: 3, created_at: '2025-11-08T10:00:00.000000Z' },
      })
      await send('order_refunded', 'orders', '1', refund)
    }
    expect(await ledger()).toEqual([
      ['invoice 2', 999, 'USD', '2025-11-08T10:00'],
      ['order 1', 999, 'USD', '2025-11-01T10:00'],
      ['order 1', -99, 'USD', '2025-11-05T10:00'],
    ])
  })
})
