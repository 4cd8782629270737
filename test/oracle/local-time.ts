/**
 * Local time by asking Intl what the clocks show, quarter hour by quarter hour. Every offset and every change of one
 * since 2012 lies on quarter hours of UTC.
 */
import { day, hour, minute } from './facts.ts'

const quarter = 15 * minute
const formats = new Map<string, Intl.DateTimeFormat>()
const knownOffsets = new Map<string, Map<number, number>>()

/** Milliseconds that the local clocks are ahead of UTC. */
export function offsetAt(timezone: string, instant: number): number {
  const at = Math.floor(instant / quarter) * quarter
  const known = knownOffsets.get(timezone) ?? new Map<number, number>()
  knownOffsets.set(timezone, known)
  const offset = known.get(at) ?? askOffset(timezone, at)
  known.set(at, offset)
  return offset
}

function askOffset(timezone: string, instant: number): number {
  let format = formats.get(timezone)
  if (!format) {
    const numeric = 'numeric'
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
    })
    formats.set(timezone, format)
  }
  const shown = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(shown['year']!, shown['month']! - 1, shown['day']!, shown['hour']!, shown['minute']!) - instant
}

/** The time on the local clocks, as if it were UTC. */
export function localAt(timezone: string, instant: number): number {
  return instant + offsetAt(timezone, instant)
}

/** The local day of an instant, as its UTC midnight. */
export function localDay(timezone: string, instant: number): number {
  return Math.floor(localAt(timezone, instant) / day) * day
}

/** The first instant at which the local calendar shows `date` (a UTC midnight) or, where it skips it, a later one. */
export function startOfDay(timezone: string, date: number): number {
  for (let instant = date - 16 * hour; ; instant += quarter) {
    if (localDay(timezone, instant) >= date) return instant
  }
}

/**
 * The instant at which the local clocks show `local` (given as if it were UTC). The first of two counts; a skipped time
 * is moved on by the length of the skip.
 */
export function instantOf(timezone: string, local: number): number {
  const instants: number[] = []
  for (let offset = -16 * hour; offset <= 16 * hour; offset += quarter) {
    if (localAt(timezone, local - offset) === local) instants.push(local - offset)
  }
  if (instants.length > 0) return Math.min(...instants)
  const offsetBefore = offsetAt(timezone, local - day)
  return local - offsetBefore
}
