import { clocksApartMaxMs } from '../schemas/limits/store-limits.ts'
import { intervalOf } from './clock.ts'

/** Which due rows a process leases, and for how long. Times come from the caller's clock. */
export interface Leasing {
  readonly now: Date
  /** Others may lease them from then on. */
  readonly until: Date
  readonly max: number
}

/**
 * SQL condition: the time in a column is past. A clock that ran ahead, and is right again, would have the row wait for as
 * long. So a time counts as past, too, that lies further ahead than any that a right clock sets.
 * @param now a parameter
 * @param furthestMs how far ahead of their clocks processes set it at most
 */
export function isPast(column: string, now: string, furthestMs: number): string {
  const tooFar = `${now}::timestamptz + ${intervalOf(String(furthestMs + clocksApartMaxMs))}`
  return `(${column} <= ${now} OR ${column} > ${tooFar})`
}
