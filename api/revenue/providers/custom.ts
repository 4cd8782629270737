/**
 * Events that a site sends itself. A refund that names its `payment_id` is one of several, told by its own `id`. Without one
 * `id` is the payment, and the value is all that was refunded of it so far.
 */
import { z } from 'zod'
import { referencesOf } from '../../../schemas/revenue.ts'
import { wallToUtc } from '../../../schemas/time/time-zone.ts'
import { writtenTime } from '../../../schemas/time/written-time.ts'
import { cents, currency, id, optional, payerOf } from './fields.ts'
import { type ReadProviderEvent, reader } from './provider.ts'

const CustomEvent = z.object({
  id,
  type: z.enum(['payment', 'refund']),
  payment_id: optional(id),
  value_cents: cents,
  currency,
  email: optional(z.string()),
  workspace_user_id: z.unknown().optional(),
  anonymous_id: optional(z.string()),
  occurred_at: writtenTime,
})

/** Names of the fields of an event. */
export const customFields: readonly string[] = Object.keys(CustomEvent.shape)

function readEvent(event: z.output<typeof CustomEvent>, timeZone: string) {
  const { type, value_cents: valueCents, currency: unit, occurred_at: at } = event
  const occurredAt = at.isLocal ? wallToUtc(at.time, timeZone) : at.time
  const isRefund = type === 'refund'
  const payment = isRefund ? (event.payment_id ?? event.id) : event.id
  const refund = { refund: event.payment_id && event.id, valueCents, currency: unit, occurredAt }
  return {
    payment: {
      id: payment,
      occurredAt,
      paid: isRefund ? undefined : { valueCents, currency: unit },
      refunds: isRefund ? [refund] : [],
    },
    references: referencesOf({ payment }),
    payer: payerOf([event.email], [event.workspace_user_id], { anonymous_id: event.anonymous_id }),
    reportedAt: occurredAt,
  }
}

export const readCustom: ReadProviderEvent = reader(CustomEvent, readEvent)
