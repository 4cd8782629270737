import { clocksApartMaxMs } from '../limits/store-limits.ts'

/** Whether only a clock that ran ahead gives such a time. Both are milliseconds since 1970. In SQL it is `isTooFarAhead`. */
export function isFromAhead(time: number, now: number): boolean {
  return time > now + clocksApartMaxMs
}
