/** The time that a schedule request names. */
import { invalid } from '../../../schemas/problems.ts'
import { momentOf, type WrittenTime } from '../../../schemas/written-time.ts'

/** Milliseconds since 1970 UTC. @throws Problem where no calendar has it */
export function requireMoment(written: WrittenTime, timeZone: string): number {
  const time = momentOf(written, timeZone, ['body', 'scheduled_at'])
  if ('error' in time) throw invalid([time.error])
  return time.moment
}
