/**
 * Stripe. Charges move money; checkout sessions and invoices tell who pays. A payment is its payment intent, or a charge
 * without one. Newer versions of the interface name no charge in an invoice: then the customer leads to who pays.
 */
import { z } from 'zod'
import { referencesOf } from '../../../schemas/revenue.ts'
import { cents, currency, id, link, ownData, payerOf, told } from './fields.ts'
import { readByKind, reader } from './provider.ts'

const seconds = z
  .int()
  .min(0)
  .max(1e11)
  .transform((at) => at * 1000)
const text = told(z.string())

/** Stripe counts these otherwise than ISO 4217 does: how many of its units are one of the currency's smallest. */
const stripeUnits: Readonly<Record<string, number>> = { ISK: 100, UGX: 100, MGA: 0.01 }

const Charge = z.object({
  id,
  created: seconds,
  currency,
  captured: told(z.boolean()),
  amount: cents,
  amount_captured: told(cents),
  amount_refunded: told(cents),
  payment_intent: link,
  invoice: link,
  customer: link,
  receipt_email: text,
  billing_details: told(z.object({ email: text })),
  metadata: ownData,
})
const ChargeEvent = z.object({ created: seconds, data: z.object({ object: Charge }) })

function readCharge({ created, data: { object: charge } }: z.output<typeof ChargeEvent>) {
  const unit = stripeUnits[charge.currency] ?? 1
  const money = (value: number) => ({ valueCents: Math.round(value / unit), currency: charge.currency })
  const isCaptured = charge.captured !== false
  const refunded = charge.amount_refunded ?? 0
  const payment = charge.payment_intent ?? charge.id
  const { invoice, customer } = charge
  return {
    // An authorization moves no money before it is captured.
    ...(isCaptured && {
      payment: {
        id: payment,
        occurredAt: charge.created,
        paid: money(charge.amount_captured ?? charge.amount),
        refunds: refunded > 0 ? [{ refund: undefined, ...money(refunded), occurredAt: created }] : [],
      },
    }),
    references: referencesOf({ payment, charge: charge.id, invoice, customer }),
    payer: payerOf([charge.billing_details?.email, charge.receipt_email], [], charge.metadata),
    toldAt: created,
  }
}

const CheckoutEvent = z.object({
  created: seconds,
  data: z.object({
    object: z.object({
      payment_intent: link,
      invoice: link,
      subscription: link,
      customer: link,
      client_reference_id: text,
      customer_email: text,
      customer_details: told(z.object({ email: text })),
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
    toldAt: created,
  }
}

const InvoiceEvent = z.object({
  created: seconds,
  data: z.object({
    object: z.object({
      id,
      payment_intent: link,
      charge: link,
      subscription: link,
      customer: link,
      customer_email: text,
      parent: told(z.object({ subscription_details: told(z.object({ subscription: link, metadata: ownData })) })),
      metadata: ownData,
    }),
  }),
})

function readInvoice({ created, data: { object: invoice } }: z.output<typeof InvoiceEvent>) {
  const details = invoice.parent?.subscription_details
  const references = {
    ...{ payment: invoice.payment_intent, charge: invoice.charge, invoice: invoice.id },
    ...{ subscription: invoice.subscription ?? details?.subscription, customer: invoice.customer },
  }
  const own = { ...details?.metadata, ...invoice.metadata }
  return { references: referencesOf(references), payer: payerOf([invoice.customer_email], [], own), toldAt: created }
}

const kind = z.object({ type: z.string() }).transform(({ type }) => type)
const charge = reader(ChargeEvent, readCharge)

export const readStripe = readByKind(kind, {
  'charge.succeeded': charge,
  'charge.captured': charge,
  'charge.refunded': charge,
  'checkout.session.completed': reader(CheckoutEvent, readCheckout),
  'invoice.paid': reader(InvoiceEvent, readInvoice),
})
