/**
 * Lemon Squeezy. Orders and the later payments of subscriptions move money. The first payment of a subscription is its
 * order, so its own event is left aside.
 */
import { z } from 'zod'
import { referencesOf } from '../../../schemas/revenue.ts'
import { cents, currency, id, instant, optional, ownData, payerOf, relatedId } from './fields.ts'
import { readByKind, reader } from './provider.ts'

const PaymentEvent = z.object({
  meta: z.object({ event_name: z.string(), custom_data: ownData }),
  data: z.object({
    type: z.string(),
    id,
    attributes: z.object({
      status: z.string(),
      total: cents,
      currency,
      created_at: instant,
      updated_at: optional(instant),
      refunded_at: optional(instant),
      refunded_amount: optional(cents),
      billing_reason: optional(z.string()),
      customer_id: relatedId,
      subscription_id: relatedId,
      user_email: optional(z.string()),
    }),
  }),
})

const paidStatuses: readonly string[] = ['paid', 'refunded', 'partial_refund']

function readPayment({ meta, data: { type, id: number, attributes: of } }: z.output<typeof PaymentEvent>) {
  const reportedAt = of.updated_at ?? of.created_at
  const refundedAt = of.refunded_at ?? reportedAt
  // Without the amount all of it was refunded.
  const refunded = of.refunded_amount ?? (of.status === 'refunded' ? of.total : 0)
  const payment = `${type === 'orders' ? 'order' : 'invoice'} ${number}`
  return {
    ...(paidStatuses.includes(of.status) &&
      of.billing_reason !== 'initial' && {
        payment: {
          id: payment,
          occurredAt: of.created_at,
          // A renewal may be paid days after its invoice was made.
          ...(!meta.event_name.endsWith('refunded') && { movedAt: reportedAt }),
          paid: { valueCents: of.total, currency: of.currency },
          refunds:
            refunded > 0
              ? [{ refund: undefined, valueCents: refunded, currency: of.currency, occurredAt: refundedAt }]
              : [],
        },
      }),
    references: referencesOf({ payment, subscription: of.subscription_id, customer: of.customer_id }),
    payer: payerOf([of.user_email], [], meta.custom_data),
    reportedAt,
  }
}

const testEvent = z.object({ meta: z.object({ test_mode: z.literal(true) }) })
const kind = z
  .object({ meta: z.object({ event_name: z.string() }) })
  .transform(({ meta: { event_name } }) => event_name)
const payment = reader(PaymentEvent, readPayment)

export const readLemonSqueezy = readByKind(kind, {
  order_created: payment,
  order_refunded: payment,
  subscription_payment_success: payment,
  subscription_payment_refunded: payment,
})

/** Test mode moves no money. */
export const isLemonSqueezyTest = (event: unknown): boolean => testEvent.safeParse(event).success
