/** Times of a local week as moments. Held by test/property/weekly-times.test.ts. */
import { dayMs, localDayAt, wallToUtc } from './time-zone.ts'

export interface WeeklyTime {
  /** By ISO 8601: 1 is Monday, 7 is Sunday. */
  readonly weekday: number
  /** Since midnight on the wall clock. */
  readonly minute: number
}

const minuteMs = 60_000

/**
 * The moments after `from` that the times name, on its local day and on `days` more. A time that the clocks skip moves
 * forward with them; one that they show twice is the earlier.
 * @param from in milliseconds since 1970 UTC, as the moments are
 * @returns ascending, each once
 */
export function weeklyMoments(
  times: readonly WeeklyTime[],
  { timeZone, from, days }: { readonly timeZone: string; readonly from: number; readonly days: number },
): number[] {
  const today = localDayAt(from, timeZone)
  const moments = new Set<number>()
  // Clocks that skip yesterday's last hour move its times into today.
  for (let day = today - 1; day <= today + days; day++) {
    for (const { weekday, minute } of times) {
      if (weekday === weekdayOf(day)) moments.add(wallToUtc(day * dayMs + minute * minuteMs, timeZone))
    }
  }
  return [...moments].filter((moment) => moment > from).sort((one, other) => one - other)
}

/** The day 0, 1970-01-01, was a Thursday. */
function weekdayOf(day: number): number {
  return ((day + 3) % 7) + 1
}
