/**
 * Local time and UTC, by the time zone data of Intl.
 *
 * A *wall time* is the time on a wall clock, held as the milliseconds of that date and hour as if it were UTC. An
 * impossible wall time (the clock went forward over it) moves forward by the gap. An ambiguous one (the clock went
 * back) is the earlier of the two. A local day runs from its first midnight to that of the next day, so it has 23, 24
 * or 25 hours. Where midnight itself was skipped it begins with the first moment after.
 *
 * Held by test/unit/time-zone.test.ts and test/property/time-zone.test.ts.
 */

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** No zone had changed its clocks before: local mean time, constant. Intl's years before 1 would lack their era, too. */
const earliestMs = Date.UTC(1800, 0, 1)

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Whether `name` is a zone of the IANA database that this process knows; offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

/** Cached by second and zone. Intl takes 25 µs for one, and the same days are asked for with every question. */
const offsets = new Map<string, number>()
const offsetsMax = 20_000

/** Milliseconds from UTC to the wall time, at the moment `utc`. */
export function offsetAt(utc: number, timeZone: string): number {
  const second = Math.floor(Math.max(utc, earliestMs) / 1000) * 1000
  const name = `${second} ${timeZone}`
  const known = offsets.get(name)
  if (known !== undefined) return known
  if (offsets.size >= offsetsMax) offsets.clear()
  const offset = offsetFromIntl(second, timeZone)
  offsets.set(name, offset)
  return offset
}

function offsetFromIntl(second: number, timeZone: string): number {
  const shown = formatterOf(timeZone).format(second)
  const [month, day, year, hour, minute, seconds] = shown.split(/\D+/) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  return wallTime(+year, +month, +day, +hour, +minute, +seconds) - second
}

export function wallTimeAt(utc: number, timeZone: string): number {
  return utc + offsetAt(utc, timeZone)
}

/** A calendar date and hour as a wall time; `month` and `day` from 1. */
export function wallTime(year: number, month: number, day: number, hour = 0, minute = 0, second = 0, ms = 0): number {
  const time = Date.UTC(year, month - 1, day, hour, minute, second, ms)
  // Date.UTC takes the years 0–99 for 1900–1999.
  return year < 100 ? new Date(time).setUTCFullYear(year, month - 1, day) : time
}

/** The moment of a wall time; see the head of this file for impossible and ambiguous ones. */
export function wallToUtc(wall: number, timeZone: string): number {
  const { before, after, isInGap } = offsetsAround(wall, timeZone)
  // Behind a gap, the offset before it carries the wall time on by just the gap. Else: the greater offset is earlier.
  if (isInGap) return wall - before
  const earlier = wall - Math.max(before, after)
  return offsetAt(earlier, timeZone) === Math.max(before, after) ? earlier : wall - Math.min(before, after)
}

/** The number of the local day (0 = 1970-01-01) in which the moment `utc` lies. */
export function localDayAt(utc: number, timeZone: string): number {
  const day = Math.floor(wallTimeAt(utc, timeZone) / dayMs)
  // Clocks put back across midnight show yesterday again, after the first midnight has already begun today.
  return startOfLocalDay(day + 1, timeZone) <= utc ? day + 1 : day
}

/** @param day as `localDayAt` returns it @returns its date, as `2026-12-31` */
export function dateOfDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** The first moment of the local day of this number. */
export function startOfLocalDay(day: number, timeZone: string): number {
  const wall = day * dayMs
  const { before, after, isInGap } = offsetsAround(wall, timeZone)
  if (isInGap) return offsetChange(wall - after, wall - before, timeZone)
  return wallToUtc(wall, timeZone)
}

/** No event is of a later day than tomorrow: the moment after it. */
export function latestEventAt(timeZone: string, now: number): number {
  return startOfLocalDay(localDayAt(now, timeZone) + 2, timeZone)
}

/** The moment `days` days later at which the clock shows the same time. */
export function addLocalDays(utc: number, days: number, timeZone: string): number {
  return wallToUtc(wallTimeAt(utc, timeZone) + days * dayMs, timeZone)
}

/**
 * The next moment after `utc` at which a local hour begins: when the clock shows a full hour, or is changed. So an hour
 * that is repeated, or half of it, is an hour of its own.
 */
export function nextLocalHour(utc: number, timeZone: string): number {
  const offset = offsetAt(utc, timeZone)
  const next = (Math.floor((utc + offset) / hourMs) + 1) * hourMs - offset
  return offsetAt(next, timeZone) === offset ? next : offsetChange(utc, next, timeZone)
}

/** The offsets a day before and after a wall time, which no zone changes twice within, and whether the clock skips it. */
function offsetsAround(wall: number, timeZone: string): { before: number; after: number; isInGap: boolean } {
  const before = offsetAt(wall - dayMs, timeZone)
  const after = offsetAt(wall + dayMs, timeZone)
  const isInGap =
    before < after && offsetAt(wall - before, timeZone) !== before && offsetAt(wall - after, timeZone) !== after
  return { before, after, isInGap }
}

/** The first moment in (`from`, `to`] with the offset of `to`, where the offset of `from` is another. */
function offsetChange(from: number, to: number, timeZone: string): number {
  const old = offsetAt(from, timeZone)
  let low = Math.floor(from / 1000)
  let high = Math.ceil(to / 1000)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle * 1000, timeZone) === old) low = middle
    else high = middle
  }
  return high * 1000
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(timeZone, formatter)
  }
  return formatter
}
