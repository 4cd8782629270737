/** The time that a body gives a post. */
import type { ValidationError } from '../../schemas/errors/validation-errors.ts'
import { momentOf, type WrittenTime } from '../../schemas/time/written-time.ts'

export interface GivenTime {
  /** Null where none is given, or no calendar has it. */
  readonly scheduledAt: Date | null
  readonly errors: readonly ValidationError[]
}

export function readGivenTime(written: WrittenTime | null | undefined, timeZone: string): GivenTime {
  if (!written) return { scheduledAt: null, errors: [] }
  const time = momentOf(written, timeZone, ['body', 'scheduled_at'])
  if ('error' in time) return { scheduledAt: null, errors: [time.error] }
  return { scheduledAt: new Date(time.moment), errors: [] }
}
