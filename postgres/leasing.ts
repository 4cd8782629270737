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
 * SQL condition: the time in a column is past, or further ahead than a right clock sets it. Else rows would wait for times
 * that were set by a clock that ran ahead.
 * @param now a parameter
 * @param furthestMs how far ahead of their clocks processes set it at most; or SQL of it
 */
export function isPast(column: string, now: string, furthestMs: number | string): string {
  return `(${column} <= ${now} OR ${isTooFarAhead(column, now, furthestMs)})`
}

/** SQL condition: only a clock that ran ahead sets such a time. Parameters as in `isPast`. */
export function isTooFarAhead(column: string, now: string, furthestMs: number | string): string {
  return `${column} > ${now}::timestamptz + ${intervalOf(`(${furthestMs} + ${clocksApartMaxMs})`)}`
}
