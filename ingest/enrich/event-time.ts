/**
 * When an event happened, by what its sender says: `occurred_at`, corrected by the difference between the sender's clock
 * (`sent_at`) and ours, never later than now and not older than 72 hours.
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
  let skew = 0
  if (sentAt) {
    skew = receivedAt - parseEventTime(sentAt, timezone)
    if (Number.isNaN(skew)) return Number.NaN
    // A clock that is off by days says nothing of the time between two events.
    if (Math.abs(skew) > clockSkewMaxMs) skew = 0
  }
  if (!occurredAt) return receivedAt
  const time = parseEventTime(occurredAt, timezone) + skew
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
