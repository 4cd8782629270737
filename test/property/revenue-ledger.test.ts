/** The ledger against a computation by hand: streams of providers' events, reordered, repeated, in parallel, and forged. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCustom } from '../../api/revenue/providers/custom.ts'
import { readPaddle } from '../../api/revenue/providers/paddle.ts'
import { readStripe } from '../../api/revenue/providers/stripe.ts'
import type { ReportedFacts } from '../../postgres/tables/revenue/reported-payments.ts'
import { recordRevenue } from '../../postgres/tables/revenue/revenue-ledger.ts'
import type { RevenueProvider } from '../../schemas/revenue.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { type Connected, connectProvider, readLedger, sendEvent } from '../support/revenue.ts'
import { isLong } from '../support/short-form.ts'

const { stores, api } = setUpApi()

type Tested = Exclude<RevenueProvider, 'lemonsqueezy'>
interface Payment {
  readonly provider: Tested
  readonly cents: number
  /** The amount of each refund, in time. */
  readonly refunds: readonly number[]
  /** For a custom provider: whether refunds tell the total so far. */
  readonly tellsTotals: boolean
  /** A chargeback that was won, of other providers; 0: none. */
  readonly wonCents: number
}

const payment: fc.Arbitrary<Payment> = fc.record({
  provider: fc.constantFrom<Tested>('stripe', 'paddle', 'custom'),
  cents: fc.integer({ min: 100, max: 1_000_000 }),
  refunds: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 3 }),
  tellsTotals: fc.boolean(),
  wonCents: fc.nat(25),
})

const base = Date.parse('2025-11-01T00:00:00Z')
const iso = (at: number) => new Date(at).toISOString()
const paidAt = (number: number) => base + number * 3_600_000
const refundedAt = (number: number, refund: number) => paidAt(number) + (refund + 1) * 60_000
const [takenAt, wonAt] = [(number: number) => refundedAt(number, 8), (number: number) => refundedAt(number, 9)]

/** All that the provider sends of a payment. */
function eventsOf({ provider, cents, refunds, tellsTotals, wonCents }: Payment, number: number): object[] {
  const id = `${provider} ${number}`
  const totals = refunds.map((_, at) => refunds.slice(0, at + 1).reduce((sum, each) => sum + each, 0))
  const at = paidAt(number)
  if (provider === 'stripe') {
    const charge = {
      id: `ch ${number}`,
      payment_intent: id,
      customer: `cus ${number % 2}`,
      created: at / 1000,
      captured: true,
      currency: 'usd',
      amount: cents,
      amount_captured: cents,
      amount_refunded: 0,
    }
    const event = (type: string, created: number, object: object) => ({
      type,
      created: created / 1000,
      data: { object },
    })
    const dispute = { id: `dp ${number}`, amount: wonCents, currency: 'usd', payment_intent: id, charge: charge.id }
    const withdrawn = { amount: -wonCents, currency: 'usd' }
    return [
      ...(wonCents > 0
        ? [
            event('charge.dispute.funds_withdrawn', takenAt(number), { ...dispute, balance_transactions: [withdrawn] }),
            event('charge.dispute.funds_reinstated', wonAt(number), dispute),
          ]
        : []),
      event('charge.succeeded', at + 1_000, charge),
      event('checkout.session.completed', at + 2_000, { payment_intent: id, client_reference_id: `user ${number}` }),
      event('invoice.paid', at + 2_000, { id: `in ${number}`, charge: charge.id, customer_email: 'ada@example.com' }),
      ...totals.map((total, refund) =>
        event('charge.refunded', refundedAt(number, refund), { ...charge, amount_refunded: total }),
      ),
    ]
  }
  if (provider === 'paddle') {
    const event = (event_type: string, occurred_at: string, data: object) => ({ event_type, occurred_at, data })
    const details = { totals: { grand_total: String(cents) } }
    const common = { currency_code: 'USD', customer_id: 'ctm' }
    const adjusted = (action: string, status: string, moment: number) =>
      event('adjustment.updated', iso(wonAt(number)), {
        id: `${id} ${action}`,
        action,
        status,
        transaction_id: id,
        ...common,
        created_at: iso(moment),
        totals: { total: String(wonCents) },
      })
    return [
      ...(wonCents > 0
        ? [
            adjusted('chargeback', 'approved', takenAt(number)),
            adjusted('chargeback', 'reversed', takenAt(number)),
            adjusted('chargeback_reverse', 'approved', wonAt(number)),
          ]
        : []),
      event('transaction.completed', iso(at + 5_000), { id, ...common, billed_at: iso(at), details }),
      ...refunds.map((value, refund) => {
        const adjustment = {
          action: 'refund',
          status: 'approved',
          transaction_id: id,
          created_at: iso(refundedAt(number, refund)),
        }
        const data = { id: `${id} ${refund}`, ...adjustment, ...common, totals: { total: String(value) } }
        return event('adjustment.updated', iso(refundedAt(number, refund) + 1), data)
      }),
    ]
  }
  return [
    { id, type: 'payment', value_cents: cents, currency: 'USD', occurred_at: iso(at) },
    ...refunds.map((value, refund) => ({
      type: 'refund',
      currency: 'USD',
      occurred_at: iso(refundedAt(number, refund)),
      ...(tellsTotals ? { id, value_cents: totals[refund] } : { id: `r${refund}`, payment_id: id, value_cents: value }),
    })),
  ]
}

/** The expected sums. */
function byHand(payments: readonly Payment[]): string[] {
  return payments.flatMap(({ provider, cents, refunds, wonCents }, number) => [
    `${provider} ${number}: ${cents} at ${iso(paidAt(number))}`,
    ...refunds.map((value, refund) => `${provider} ${number}: ${-value} at ${iso(refundedAt(number, refund))}`),
    ...(wonCents > 0 && provider !== 'custom'
      ? [
          `${provider} ${number}: ${-wonCents} at ${iso(takenAt(number))}`,
          `${provider} ${number}: ${wonCents} at ${iso(wonAt(number))}`,
        ]
      : []),
  ])
}

const inParallel = 4

const readers = { stripe: readStripe, paddle: readPaddle, custom: readCustom }

function factsOf(provider: Tested, event: object): ReportedFacts {
  const read = readers[provider](event, 'UTC')
  if (!read.ok) throw new Error(JSON.stringify(read.errors))
  return { provider, facts: read.value! }
}

const readPayers = (workspaceId: number) =>
  stores.pg.query(
    'SELECT provider, reference, field, value FROM revenue_payers WHERE workspace_id = $1 ORDER BY 1, 2, 3',
    [workspaceId],
  )

test('is the same for any order of the events, with repeats, and forged ones change nothing', async () => {
  const streams = fc.array(payment, { minLength: 1, maxLength: 4 }).chain((payments) => {
    const events = payments.flatMap((one, number) =>
      eventsOf(one, number).map((event) => ({ provider: one.provider, event })),
    )
    const sent = fc.array(fc.nat(events.length - 1), { maxLength: 6 }).chain((again) => {
      const all = [...events, ...again.map((at) => events[at]!)]
      return fc.shuffledSubarray(all, { minLength: all.length })
    })
    const each = fc.integer({ min: 1, max: events.length })
    return fc.record({ payments: fc.constant(payments), sent, each, forged: fc.nat(events.length - 1) })
  })
  await fc.assert(
    fc.asyncProperty(streams, async ({ payments, sent, each, forged }) => {
      const { workspaceId } = await makeWorkspace(stores)
      const connections = new Map<Tested, Connected>()
      for (const provider of ['stripe', 'paddle', 'custom'] as const) {
        connections.set(provider, await connectProvider(stores, workspaceId, provider))
      }
      const send = async ({ provider, event }: (typeof sent)[number], secret?: string) => {
        const connected = connections.get(provider)!
        return (await sendEvent(api, provider, { ...connected, secret: secret ?? connected.secret }, event)).status
      }
      const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
      expect(await send(sent[forged]!, other)).toBe(401)
      for (let at = 0; at < sent.length; at += inParallel) {
        const statuses = await Promise.all(sent.slice(at, at + inParallel).map((one) => send(one)))
        expect(new Set(statuses)).toEqual(new Set([200]))
      }
      // As an import tells them: several at once, of all providers.
      const { workspaceId: listed } = await makeWorkspace(stores)
      for (let at = 0; at < sent.length; at += each) {
        const facts = sent.slice(at, at + each).map(({ provider, event }) => factsOf(provider, event))
        await stores.pg.transaction((tx) => recordRevenue(tx, { workspaceId: listed, now: Date.now() }, facts))
      }
      for (const id of [workspaceId, listed]) {
        const ledger = (await readLedger(stores, id)).map(
          ({ payment, value_cents, occurred_at }) => `${payment}: ${value_cents} at ${occurred_at.toISOString()}`,
        )
        expect(ledger.sort()).toEqual(byHand(payments).sort())
        const told = await stores.pg.query<{ type: string; cents: number }>(
          `SELECT type, sum(coalesce(object ->> 'refund_cents', '1')::bigint)::bigint AS cents FROM outbox
           WHERE workspace_id = $1 AND type LIKE 'revenue.%' GROUP BY type
           HAVING sum(coalesce(object ->> 'refund_cents', '1')::bigint) != 0 ORDER BY type`,
          [id],
        )
        const refunded = payments.flatMap(({ refunds }) => refunds).reduce((sum, cents) => sum + cents, 0)
        expect(told).toEqual([
          { type: 'revenue.recorded', cents: payments.length },
          ...(refunded > 0 ? [{ type: 'revenue.refunded', cents: refunded }] : []),
        ])
      }
      const [payers, ofLists] = await Promise.all([readPayers(workspaceId), readPayers(listed)])
      expect(ofLists).toEqual(payers)
    }),
    { numRuns: isLong ? 500 : 50 },
  )
})
