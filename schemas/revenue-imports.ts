/** Lines of the files that `svc revenue import`, `svc revenue rates` and `svc ads import` read. */
import { z } from 'zod'
import { textFault } from './json-text.ts'
import { adNameLengthMax, providerIdLengthMax, revenueCentsMax } from './limits/revenue-limits.ts'
import { isCurrency, revenueProviders } from './revenue.ts'

/** Ids of other objects: texts that Postgres can hold. */
export const providerId = z
  .string()
  .min(1)
  .max(providerIdLengthMax)
  .superRefine((text, context) => {
    const build = textFault(text)
    if (build !== undefined) context.addIssue({ code: 'custom', params: { build } })
  })

export const cents = z.int().min(0).max(revenueCentsMax)

/** In upper case, however it was written. */
export const currencyCode = z
  .string()
  .transform((code) => code.toUpperCase())
  .refine(isCurrency, 'Input should be an ISO 4217 code')

/** Payments of a file that names no provider are told from those of webhooks by this one. */
const importProvider = 'import'

const tellsTotals: readonly string[] = ['stripe', 'lemonsqueezy']

/**
 * Beside the fields of a custom event. A refund is written as webhooks of its provider tell it: otherwise one that came by
 * both would count twice.
 */
export const RevenueLine = z
  .looseObject({
    provider: z.enum([importProvider, ...revenueProviders]).default(importProvider),
    id: z.string().optional(),
    type: z.string().optional(),
    payment_id: z.string().optional(),
  })
  .refine(({ provider, type, payment_id }) => type !== 'refund' || !payment_id || !tellsTotals.includes(provider), {
    path: ['payment_id'],
    message:
      "A refund of this provider has no payment_id: its id is the payment's, and its value all that was refunded so far",
  })
  .refine(
    ({ provider, type, payment_id }) => type !== 'refund' || payment_id || provider !== 'paddle',
    "A refund of this provider needs a payment_id: its own id is the adjustment's",
  )
  .refine(({ provider, id }) => provider !== 'stripe' || id === undefined || /^(pi|ch|py)_/.test(id), {
    path: ['id'],
    message: "An id of this provider is a payment intent's or a charge's, such as `pi_12` or `ch_12`",
  })
  // Orders and invoices are numbered apart. No webhook would be found to tell of a payment with another id.
  .refine(({ provider, id }) => provider !== 'lemonsqueezy' || id === undefined || /^(order|invoice) \d+$/.test(id), {
    path: ['id'],
    message: 'An id of this provider is such as `order 12` or `invoice 12`',
  })

const day = z
  .string()
  .refine((text) => /^\d{4}-\d\d-\d\d$/.test(text) && dayOf(text) === text, 'Input should be a day such as 2026-11-20')

export const RateLine = z.object({
  currency: currencyCode,
  rate: z
    .string()
    .refine(
      (text) => /^\d{1,12}(\.\d{1,12})?$/.test(text) && Number(text) > 0,
      'Input should be a number such as 1.08',
    ),
  day: day.optional(),
})
export type RateLine = z.output<typeof RateLine>

const adName = z.string().min(1).max(adNameLengthMax)

export const AdLine = z.object({
  day,
  source: adName,
  campaign: z.string().max(adNameLengthMax).default(''),
  currency: currencyCode,
  cost_cents: cents,
  clicks: cents.default(0),
})
export type AdLine = z.output<typeof AdLine>

function dayOf(text: string): string {
  const at = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(at) ? '' : new Date(at).toISOString().slice(0, 10)
}
