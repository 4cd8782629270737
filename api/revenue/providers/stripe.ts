/**
 * Stripe. Charges, refunds that fail, and disputes move money; checkout sessions and invoices tell who pays. A payment is its payment intent, or a charge
 * without one. Newer versions of the interface name no charge in an invoice: then the customer leads to who pays.
 */
import { z } from 'zod'
import { type Money, type RevenueFacts, referencesOf } from '../../../schemas/revenue.ts'
import { cents, currency, id, optional, ownData, payerOf, relatedId } from './fields.ts'
import { readByKind, reader } from './provider.ts'

const seconds = z
  .int()
  .min(0)
  .max(1e11)
  .transform((at) => at * 1000)
const optionalText = optional(z.string())

/** Stripe counts these otherwise than ISO 4217 does: how many of its units are one of the currency's smallest. */
const stripeUnits: Readonly<Record<string, number>> = { ISK: 100, UGX: 100, MGA: 0.01 }

function moneyOf(amount: number, unit: string): Money {
  return { valueCents: Math.round(amount / (stripeUnits[unit] ?? 1)), currency: unit }
}

const Charge = z.object({
  id,
  created: seconds,
  currency,
  captured: optional(z.boolean()),
  amount: cents,
  amount_captured: optional(cents),
  amount_refunded: optional(cents),
  payment_intent: relatedId,
  invoice: relatedId,
  customer: relatedId,
  receipt_email: optionalText,
  billing_details: optional(z.object({ email: optionalText })),
  metadata: ownData,
})
const ChargeEvent = z.object({ type: z.string(), created: seconds, data: z.object({ object: Charge }) })

function readCharge({ type, created, data: { object: charge } }: z.output<typeof ChargeEvent>) {
  const isCaptured = charge.captured !== false
  const captured = charge.amount_captured ?? charge.amount
  // The part of an authorization that wasn't captured is in the refunded amount, and was never paid.
  const refunded = (charge.amount_refunded ?? 0) - Math.max(0, charge.amount - captured)
  const payment = charge.payment_intent ?? charge.id
  const { invoice, customer } = charge
  return {
    // An authorization moves no money before it is captured.
    ...(isCaptured && {
      payment: {
        id: payment,
        occurredAt: charge.created,
        // A debit or an authorization succeeds days after the charge was made.
        ...(type !== 'charge.refunded' && { movedAt: created }),
        paid: moneyOf(captured, charge.currency),
        refunds:
          refunded > 0
            ? [{ refund: undefined, canTotalFall: true, ...moneyOf(refunded, charge.currency), occurredAt: created }]
            : [],
      },
    }),
    references: referencesOf({ payment, charge: charge.id, invoice, customer }),
    payer: payerOf([charge.billing_details?.email, charge.receipt_email], [], charge.metadata),
    reportedAt: created,
  }
}

const RefundEvent = z.object({
  created: seconds,
  data: z.object({
    object: z.object({
      id,
      amount: cents,
      currency,
      status: optionalText,
      payment_intent: relatedId,
      charge: relatedId,
    }),
  }),
})

/** A bank may reject a refund days later. Its money comes back, and the charge's refunded amount falls. */
function readFailedRefund({ created, data: { object: refund } }: z.output<typeof RefundEvent>) {
  const { status, payment_intent, charge } = refund
  const payment = payment_intent ?? charge
  if (payment === undefined || (status !== 'failed' && status !== 'canceled')) return undefined
  const back = { refund: `${refund.id} failed`, ...moneyOf(-refund.amount, refund.currency), occurredAt: created }
  return {
    payment: { id: payment, occurredAt: created, paid: undefined, refunds: [back] },
    references: referencesOf({ payment, charge }),
    payer: {},
    reportedAt: created,
  }
}

const DisputeEvent = z.object({
  created: seconds,
  data: z.object({
    object: z.object({
      id,
      amount: cents,
      currency,
      balance_transactions: optional(z.array(z.object({ amount: z.int(), currency }))),
      payment_intent: relatedId,
      charge: relatedId,
    }),
  }),
})
type DisputeEvent = z.output<typeof DisputeEvent>

/** The amount that the customer got back: fees and the account's own currency are in the balance alone. */
function readWithdrawn({ created, data: { object: dispute } }: DisputeEvent): RevenueFacts | undefined {
  const { payment_intent, charge } = dispute
  const payment = payment_intent ?? charge
  if (payment === undefined) return undefined
  const withdrawn = { refund: dispute.id, ...moneyOf(dispute.amount, dispute.currency), occurredAt: created }
  return {
    payment: { id: payment, occurredAt: created, paid: undefined, refunds: [withdrawn] },
    references: referencesOf({ payment, charge }),
    payer: {},
    reportedAt: created,
  }
}

/** It tells of the withdrawal too, whose own event may be lost. */
function readReinstated(event: DisputeEvent): RevenueFacts | undefined {
  const facts = readWithdrawn(event)
  if (facts?.payment === undefined) return undefined
  const { id: disputeId, amount, currency: unit, balance_transactions: transactions = [] } = event.data.object
  // Less than all comes back where the bank took what had been refunded already.
  const returned = transactions.flatMap((one) => (one.currency === unit && one.amount > 0 ? [one.amount] : []))
  const reinstated = returned.length === 0 ? amount : Math.min(amount, Math.max(...returned))
  const back = { refund: `${disputeId} reinstated`, ...moneyOf(-reinstated, unit), occurredAt: event.created }
  return { ...facts, payment: { ...facts.payment, refunds: [...facts.payment.refunds, back] } }
}

const CheckoutEvent = z.object({
  created: seconds,
  data: z.object({
    object: z.object({
      payment_intent: relatedId,
      invoice: relatedId,
      subscription: relatedId,
      customer: relatedId,
      client_reference_id: optionalText,
      customer_email: optionalText,
      customer_details: optional(z.object({ email: optionalText })),
      metadata: ownData,
    }),
  }),
})

function readCheckout({ created, data: { object: session } }: z.output<typeof CheckoutEvent>) {
  const { payment_intent: payment, invoice, subscription, customer } = session
  return {
    references: referencesOf({ payment, invoice, subscription, customer }),
    payer: payerOf(
      [session.customer_details?.email, session.customer_email],
      [session.client_reference_id],
      session.metadata,
    ),
    reportedAt: created,
  }
}

const subscriptionDetails = optional(z.object({ subscription: relatedId, metadata: ownData }))
const InvoiceEvent = z.object({
  created: seconds,
  data: z.object({
    object: z.object({
      id,
      payment_intent: relatedId,
      charge: relatedId,
      subscription: relatedId,
      customer: relatedId,
      customer_email: optionalText,
      parent: optional(z.object({ subscription_details: subscriptionDetails })),
      // Where versions of the interface before 2025-03-31 have it.
      subscription_details: subscriptionDetails,
      metadata: ownData,
    }),
  }),
})

function readInvoice({ created, data: { object: invoice } }: z.output<typeof InvoiceEvent>) {
  const details = invoice.parent?.subscription_details ?? invoice.subscription_details
  const references = {
    payment: invoice.payment_intent,
    charge: invoice.charge,
    invoice: invoice.id,
    subscription: invoice.subscription ?? details?.subscription,
    customer: invoice.customer,
  }
  const own = { ...details?.metadata, ...invoice.metadata }
  return {
    references: referencesOf(references),
    payer: payerOf([invoice.customer_email], [], own),
    reportedAt: created,
  }
}

const testEvent = z.object({ livemode: z.literal(false) })
const kind = z.object({ type: z.string() }).transform(({ type }) => type)
const charge = reader(ChargeEvent, readCharge)
const failed = reader(RefundEvent, readFailedRefund)

export const readStripe = readByKind(kind, {
  'charge.succeeded': charge,
  'charge.captured': charge,
  'charge.refunded': charge,
  // Each of them may tell of the failure: which, depends on the version of the interface.
  'charge.refund.updated': failed,
  'refund.updated': failed,
  'refund.failed': failed,
  'charge.dispute.funds_withdrawn': reader(DisputeEvent, readWithdrawn),
  'charge.dispute.funds_reinstated': reader(DisputeEvent, readReinstated),
  'checkout.session.completed': reader(CheckoutEvent, readCheckout),
  'invoice.paid': reader(InvoiceEvent, readInvoice),
})

/** Test mode moves no money. */
export const isStripeTest = (event: unknown): boolean => testEvent.safeParse(event).success
