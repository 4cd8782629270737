/** Fields that events of several providers have in common. */
import { z } from 'zod'
import { emailOf, identifierOf } from '../../../schemas/event/identifiers.ts'
import { textFault } from '../../../schemas/json-text.ts'
import { identifierLengthMax } from '../../../schemas/limits/event-limits.ts'
import type { Payer } from '../../../schemas/revenue.ts'
import { cents, currencyCode, providerId } from '../../../schemas/revenue-imports.ts'
import { writtenTime } from '../../../schemas/time/written-time.ts'

export const id = providerId

/** A field that may be missing or null. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

export { cents }
export const currency = currencyCode

/** Data that the site gave the provider to keep: texts count, and numbers as texts. No odd shape of it costs a payment. */
export const ownData = optional(z.record(z.string(), z.unknown())).catch(undefined)
type OwnData = z.output<typeof ownData>

/** Milliseconds since 1970; providers write their times with an offset. */
export const instant = writtenTime.transform(({ time }) => time)

/** The id of another object, which may be there as a whole, or be a number; anything else counts as missing. */
export const relatedId = z
  .unknown()
  .optional()
  .transform((value) => {
    const text = textOf(typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value)
    return text !== null && id.safeParse(text).success ? text : undefined
  })

/** Who paid: the first of each that is an identifier. */
export function payerOf(emails: readonly unknown[], userIds: readonly unknown[], own: OwnData): Payer {
  return {
    email: firstOf(emails.map((email) => emailOf(textOf(email)))),
    userId: firstOf([...userIds, own?.['workspace_user_id'], own?.['user_id']].map((one) => identifierOf(textOf(one)))),
    anonymousId: firstOf([own?.['anonymous_id']].map((one) => identifierOf(textOf(one)))),
  }
}

function firstOf(values: readonly (string | null)[]): string | undefined {
  return (
    values.find(
      (value) =>
        value !== null && value !== '' && value.length <= identifierLengthMax && textFault(value) === undefined,
    ) ?? undefined
  )
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null
}
