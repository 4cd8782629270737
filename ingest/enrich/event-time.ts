/**
 * When an event happened: the sender's `occurred_at`, corrected by the difference between the sender's clock
 * (`sent_at`) and ours. It is never later than now, and not older than 72 hours. Held by
 * test/unit/enrich-place-and-time.test.ts.
 */

import { type Loc, type ValidationError, valueError } from '../../schemas/errors/validation-errors.ts'
import { clockSkewMaxMs, eventAgeMaxMs } from '../../schemas/limits/event-limits.ts'
import { explainEventTime, parseEventTime } from '../../schemas/time/date-time.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'

export interface Timed {
  readonly occurred_at?: string | null | undefined
  readonly sent_at?: string | null | undefined
}

/**
 * Milliseconds since 1970 UTC; `receivedAt` where the event says nothing.
 * @returns NaN where the event is to be refused: `explainTime` says why
 */
export function timeOf(event: Timed, receivedAt: number, timezone: string): number {
  const { occurred_at: occurredAt, sent_at: sentAt } = event
  const sent = sentAt ? parseEventTime(sentAt, timezone) : receivedAt
  if (Number.isNaN(sent)) return Number.NaN
  if (!occurredAt) return receivedAt
  const occurred = parseEventTime(occurredAt, timezone)
  const age = sent - occurred
  // A clock that is off by days still tells an event's age, unless it was set in between. An impossible age shows that.
  const isAge = Math.abs(receivedAt - sent) <= clockSkewMaxMs || (age >= 0 && age <= eventAgeMaxMs)
  const time = isAge ? receivedAt - age : occurred
  if (time >= receivedAt) return receivedAt
  // False for NaN, too.
  return time >= receivedAt - eventAgeMaxMs ? time : Number.NaN
}

/** Why `timeOf` refuses the event, at `loc`. */
export function explainTime(event: Timed, loc: Loc): ValidationError[] {
  const errors: ValidationError[] = []
  for (const field of ['occurred_at', 'sent_at'] as const) {
    const text = event[field]
    const error = text ? explainEventTime([...loc, field], text) : null
    if (error !== null) errors.push(error)
  }
  if (errors.length > 0) return errors
  const hours = eventAgeMaxMs / hourMs
  return [valueError([...loc, 'occurred_at'], event.occurred_at, `the event should not be older than ${hours} hours`)]
}
