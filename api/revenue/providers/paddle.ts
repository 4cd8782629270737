/** Paddle Billing. Completed transactions move money, approved adjustments give it back, and customers have the e-mail. */
import { z } from 'zod'
import { referencesOf } from '../../../schemas/revenue.ts'
import { cents, currency, id, instant, optional, ownData, payerOf, relatedId } from './fields.ts'
import { readByKind, reader } from './provider.ts'

/** Amounts are texts of the smallest unit. */
const amount = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
  .pipe(cents)

const Attempt = z.object({ amount, status: z.string(), captured_at: optional(instant) })

const TransactionEvent = z.object({
  occurred_at: instant,
  data: z.object({
    id,
    customer_id: relatedId,
    subscription_id: relatedId,
    currency_code: currency,
    billed_at: optional(instant),
    custom_data: ownData,
    collection_mode: optional(z.string()),
    details: z.object({ totals: z.object({ grand_total: amount }) }),
    payments: optional(z.array(Attempt)).catch(undefined),
  }),
})

function readTransaction({ occurred_at, data }: z.output<typeof TransactionEvent>) {
  const { collection_mode, details, payments = [] } = data
  const captured = payments.filter(({ status }) => status === 'captured')
  const total = details.totals.grand_total
  const capturedCents = captured.reduce((sum, { amount: cents }) => sum + cents, 0)
  // An invoice may be credited before it is paid. Its totals stay, so that only the payments tell what was paid.
  const valueCents = collection_mode === 'manual' && capturedCents > 0 ? Math.min(capturedCents, total) : total
  // It may be billed weeks before.
  const paidAt = Math.max(0, ...captured.map(({ captured_at }) => captured_at ?? 0))
  return {
    payment: {
      id: data.id,
      occurredAt: paidAt || (data.billed_at ?? occurred_at),
      paid: { valueCents, currency: data.currency_code },
      refunds: [],
    },
    references: referencesOf({ payment: data.id, subscription: data.subscription_id, customer: data.customer_id }),
    payer: payerOf([], [], data.custom_data),
    reportedAt: occurred_at,
  }
}

const AdjustmentEvent = z.object({
  occurred_at: instant,
  data: z.object({
    id,
    action: z.string(),
    status: z.string(),
    transaction_id: id,
    subscription_id: relatedId,
    customer_id: relatedId,
    currency_code: currency,
    created_at: optional(instant),
    totals: z.object({ total: amount }),
  }),
})

/** A chargeback that was won gets the status `reversed`, and another adjustment gives the money back. */
const signs = new Map([
  ['refund approved', 1],
  ['chargeback approved', 1],
  ['chargeback reversed', 1],
  ['chargeback_reverse approved', -1],
])

function readAdjustment({ occurred_at, data }: z.output<typeof AdjustmentEvent>) {
  const sign = signs.get(`${data.action} ${data.status}`)
  if (sign === undefined) return undefined
  const occurredAt = data.created_at ?? occurred_at
  // Paddle approves most refunds days after they were asked for.
  const times = { occurredAt, movedAt: occurred_at }
  const refund = { refund: data.id, valueCents: sign * data.totals.total, currency: data.currency_code, ...times }
  const { transaction_id: payment, subscription_id: subscription, customer_id: customer } = data
  return {
    payment: { id: payment, occurredAt, paid: undefined, refunds: [refund] },
    references: referencesOf({ payment, subscription, customer }),
    payer: {},
    reportedAt: occurred_at,
  }
}

const CustomerEvent = z.object({
  occurred_at: instant,
  data: z.object({ id, email: optional(z.string()), custom_data: ownData }),
})

function readCustomer({ occurred_at, data }: z.output<typeof CustomerEvent>) {
  return {
    references: referencesOf({ customer: data.id }),
    payer: payerOf([data.email], [], data.custom_data),
    reportedAt: occurred_at,
  }
}

const kind = z.object({ event_type: z.string() }).transform(({ event_type }) => event_type)
const adjustment = reader(AdjustmentEvent, readAdjustment)
const customer = reader(CustomerEvent, readCustomer)

export const readPaddle = readByKind(kind, {
  'transaction.completed': reader(TransactionEvent, readTransaction),
  'adjustment.created': adjustment,
  'adjustment.updated': adjustment,
  'customer.created': customer,
  'customer.updated': customer,
})

const simulatedEvent = z.object({ event_id: z.string().startsWith('ntfsimevt_') })

/** Paddle's webhook simulator moves no money. */
export const isPaddleSimulation = (event: unknown): boolean => simulatedEvent.safeParse(event).success
