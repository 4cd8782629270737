/** Local days of a timezone over a span of time: their numbers (since 1970) and where they begin. */
import { localDayAt, startOfLocalDay } from './time-zone.ts'

export interface LocalDays {
  /** Begins of the days, ascending, in milliseconds. One more than there are days: the last is the end. */
  readonly starts: readonly number[]
  /** The day's number at the same place. */
  readonly numbers: readonly number[]
  /** The number of the day that holds a moment of the span. */
  dayOf(ms: number): number
  /** Where a day of the span begins. */
  startOf(day: number): number
}

/**
 * The days that hold the moments from `from` to `to`, with two days before and one after. A date that the timezone skipped
 * is no day.
 */
export function localDays(timezone: string, from: number, to: number): LocalDays {
  const starts: number[] = []
  const numbers: number[] = []
  const end = localDayAt(to, timezone) + 2
  for (let day = localDayAt(from, timezone) - 2; day <= end; day++) {
    const start = startOfLocalDay(day, timezone)
    if (starts.at(-1) === start) numbers[numbers.length - 1] = day
    else {
      starts.push(start)
      numbers.push(day)
    }
  }
  const placeOf = (ms: number) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (starts[middle]! <= ms) low = middle
      else high = middle - 1
    }
    return low
  }
  const placeOfDay = new Map(numbers.map((day, place) => [day, place]))
  return {
    starts,
    numbers,
    dayOf: (ms) => numbers[placeOf(ms)]!,
    startOf: (day) => starts[placeOfDay.get(day)!]!,
  }
}
