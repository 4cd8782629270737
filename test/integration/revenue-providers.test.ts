/** Events of payment providers, and the ledger that they make. */
import { beforeEach, describe, expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { type Connected, connectProvider, readLedger, sendEvent } from '../support/revenue.ts'

const { stores, api, mine } = setUpApi()

const at = (time: string) => Date.parse(time) / 1000
const ledger = async () =>
  (await readLedger(stores, mine.workspaceId)).map(({ payment, value_cents, currency, occurred_at }) => [
    payment,
    value_cents,
    currency,
    occurred_at.toISOString().slice(0, 16),
  ])

describe('Stripe', () => {
  let connected: Connected
  beforeEach(async () => {
    connected = await connectProvider(stores, mine.workspaceId, 'stripe')
  })
  const send = (type: string, created: string, object: object) =>
    sendEvent(api, 'stripe', connected, {
      id: `evt_${type}`,
      type,
      livemode: true,
      created: at(created),
      data: { object },
    })
  const charge = {
    id: 'ch_1',
    object: 'charge',
    payment_intent: 'pi_1',
    invoice: 'in_1',
    customer: 'cus_1',
    currency: 'eur',
    amount: 2_000,
    amount_captured: 2_000,
    amount_refunded: 0,
    captured: true,
    paid: true,
    created: at('2025-11-01T10:00:00Z'),
    billing_details: { email: null },
  }
  const checkout = {
    id: 'cs_1',
    payment_intent: 'pi_1',
    customer: 'cus_1',
    client_reference_id: 'user-7',
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

  test('a refund that fails comes back once, whatever tells of it and when, and the same amount may be refunded anew', async () => {
    const refund = { id: 're_1', amount: 2_000, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
    const whole = { ...charge, amount_refunded: 2_000 }
    const events: Parameters<typeof send>[] = [
      ['refund.failed', '2025-11-05T10:00:00Z', { ...refund, status: 'failed' }],
      ['charge.refunded', '2025-11-06T10:00:00Z', whole],
      ['refund.updated', '2025-11-03T10:00:00Z', { ...refund, status: 'succeeded' }],
      ['charge.refund.updated', '2025-11-05T10:00:00Z', { ...refund, status: 'failed' }],
      ['charge.succeeded', '2025-11-01T10:00:01Z', charge],
      ['charge.refunded', '2025-11-03T10:00:00Z', whole],
    ]
    const entries = [
      ['pi_1', 2_000, 'EUR', '2025-11-01T10:00'],
      ['pi_1', -2_000, 'EUR', '2025-11-03T10:00'],
      ['pi_1', 2_000, 'EUR', '2025-11-05T10:00'],
    ]
    for (const event of events.toSpliced(1, 1)) expect((await send(...event)).status).toBe(200)
    expect(await ledger()).toEqual(entries)
    for (const event of [...events, events[1]!]) await send(...event)
    expect(await ledger()).toEqual([...entries, ['pi_1', -2_000, 'EUR', '2025-11-06T10:00']])
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
  const customer = { customer_id: 'ctm_1', currency_code: 'GBP' }
  const details = { totals: { grand_total: '4200', total: '4200' } }
  await send('transaction.completed', { id: 'txn_1', ...customer, billed_at: '2025-11-01T10:00:00Z', details })
  await send('customer.updated', { id: 'ctm_1', email: 'ada@example.com' })
  const paid = ['txn_1', 4_200, 'GBP', '2025-11-01T10:00']
  for (const status of ['pending_approval', 'approved', 'approved']) {
    const adjustment = { id: 'adj_1', action: 'refund', status, transaction_id: 'txn_1', totals: { total: '200' } }
    await send('adjustment.updated', { ...adjustment, ...customer, created_at: '2025-11-02T10:00:00Z' })
    const refunds = status === 'approved' ? [['txn_1', -200, 'GBP', '2025-11-02T10:00']] : []
    expect(await ledger()).toEqual([paid, ...refunds])
  }
})

test('Paddle: an invoice that was credited before it was paid counts what was paid, when it was', async () => {
  const connected = await connectProvider(stores, mine.workspaceId, 'paddle')
  const invoice = {
    id: 'txn_1',
    currency_code: 'GBP',
    collection_mode: 'manual',
    billed_at: '2025-11-01T10:00:00Z',
    details: { totals: { grand_total: '4200', total: '4200' } },
    payments: [
      { amount: '3000', status: 'captured', captured_at: '2025-11-20T09:59:00.123456Z' },
      { amount: '3000', status: 'error', captured_at: null },
    ],
  }
  const event = { event_type: 'transaction.completed', occurred_at: '2025-11-20T10:00:00Z', data: invoice }
  expect((await sendEvent(api, 'paddle', connected, event)).status).toBe(200)
  expect(await ledger()).toEqual([['txn_1', 3_000, 'GBP', '2025-11-20T09:59']])
})

test.each([
  ['stripe', { type: 'charge.succeeded', livemode: false, created: 1, data: { object: {} } }],
  ['lemonsqueezy', { meta: { event_name: 'order_created', test_mode: true }, data: {} }],
  [
    'paddle',
    {
      event_id: 'ntfsimevt_01k40mmzwh4gmws669b6acsg37',
      event_type: 'transaction.completed',
      occurred_at: '2025-11-02T11:00:00Z',
      data: { id: 'txn_1', currency_code: 'USD', details: { totals: { grand_total: '5' } } },
    },
  ],
] as const)("test mode of %s is answered as such, and isn't in the ledger", async (provider, event) => {
  const connected = await connectProvider(stores, mine.workspaceId, provider)
  expect(await sendEvent(api, provider, connected, event)).toEqual({
    status: 200,
    body: { received: true, test: true },
  })
  expect(await ledger()).toEqual([])
})

test('a payment of nothing is none, and says who will pay', async () => {
  const connected = await connectProvider(stores, mine.workspaceId, 'paddle')
  const data = {
    id: 'txn_1',
    customer_id: 'ctm_1',
    currency_code: 'GBP',
    custom_data: { user_id: 'user-7' },
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
        // Custom data of an odd shape loses no payment.
        meta: { event_name, test_mode: false, custom_data: id === '1' ? [] : { user_id: 'user-7' } },
        data: {
          type,
          id,
          attributes: {
            status: 'paid',
            total: 999,
            currency: 'USD',
            customer_id: 5,
            user_email: 'ada@example.com',
            created_at: '2025-11-01T10:00:00.000000Z',
            updated_at: '2025-11-01T10:00:00.000000Z',
            ...attributes,
          },
        },
      })
    const refund = { status: 'partial_refund', refunded_amount: 99, refunded_at: '2025-11-05T10:00:00.000000Z' }
    for (let n = 0; n < 2; n++) {
      await send('order_created', 'orders', '1', {})
      await send('subscription_payment_success', 'subscription-invoices', '1', { billing_reason: 'initial' })
      await send('subscription_payment_success', 'subscription-invoices', '2', {
        billing_reason: 'renewal',
        subscription_id: 3,
        created_at: '2025-11-08T10:00:00.000000Z',
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
