/** Recipients of reports by e-mail, as the dashboard shows them. */
import { z } from 'zod'
import { conversionNamesMax } from '../limits/alert-limits.ts'
import { eventNameLengthMax } from '../limits/event-limits.ts'
import { reportEmailLengthMax } from '../limits/report-limits.ts'
import { dateTime } from './date-time.ts'
import { plainLine } from './plain-line.ts'

export const reportKinds = ['weekly', 'monthly'] as const
export type ReportKind = (typeof reportKinds)[number]

const every = z.enum(reportKinds)

export const emailAddress = z
  .string()
  .min(1)
  .max(reportEmailLengthMax)
  .refine((text) => z.regexes.email.test(text), 'This is no e-mail address')

/** Whether the recipient gets traffic alerts too. */
const alerts = z.boolean()
/** Whether the recipient is told of posts that failed, and of accounts to be connected again. */
const failures = z.boolean()

/** Whether the recipient is told of conversions, and whether of payments and refunds. */
const conversions = z.boolean()
const payments = z.boolean()
/** The events whose conversions are told; empty: all. */
export const conversionNames = z.array(plainLine(eventNameLengthMax).min(1)).max(conversionNamesMax)

export const ReportRecipientCreate = z.object({
  email: emailAddress,
  every,
  alerts: alerts.default(false),
  failures: failures.default(false),
  conversions: conversions.default(false),
  conversion_names: conversionNames.default([]),
  payments: payments.default(false),
})

/** A field that is left out stays. */
export const ReportRecipientUpdate = z.strictObject({
  alerts: alerts.optional(),
  failures: failures.optional(),
  conversions: conversions.optional(),
  conversion_names: conversionNames.optional(),
  payments: payments.optional(),
})

/** How far the reports to an address or a channel are. */
export const reportState = {
  /** When the last report went out. */
  sent_at: dateTime.nullable(),
  /** The last report was given up. */
  has_failed: z.boolean(),
  /** The last report that the owner asked for. */
  asked: z
    .object({
      at: dateTime,
      state: z.enum(['waiting', 'sent', 'failed']),
      /** Why it failed, in words; null where it hasn't. */
      failure: z.string().nullable(),
    })
    .nullable(),
}

export const ReportRecipientResource = z.object({
  id: z.int(),
  email: z.string(),
  every,
  alerts,
  failures,
  conversions,
  conversion_names: z.array(z.string()),
  payments,
  created_at: dateTime,
  ...reportState,
})

/** Without `is_mail_set_up` nothing is sent. */
export const ReportRecipients = z.object({
  recipients: z.array(ReportRecipientResource),
  is_mail_set_up: z.boolean(),
})
