/**
 * The range that an analytics request asks for, and the buckets of its series. docs/metrics.md ("Range") has the rules;
 * test/unit/time-range.test.ts and test/property/overview.test.ts hold them.
 */

import { type ValidationError, valueError } from '../errors/validation-errors.ts'
import { dayBucketsDaysMax, hourBucketsSpanMs, overviewRangeDaysMax } from '../limits/overview-limits.ts'
import { bucketsMax } from '../limits/series-limits.ts'
import { type DateTimeText, firstMoment, lastMoment, parseDateTime, utcOf } from './date-time.ts'
import {
  addLocalDays,
  dayMs,
  hourMs,
  localDayAt,
  nextLocalHour,
  startOfLocalDay,
  wallTime,
  wallTimeAt,
} from './time-zone.ts'

export const bucketKinds = ['hour', 'day', 'week', 'month'] as const
export type BucketKind = (typeof bucketKinds)[number]

/** A range is compared with the period before it, the same days a year earlier, or nothing. */
export const comparisons = ['previous', 'year', 'none'] as const
type Comparison = (typeof comparisons)[number]

/** Milliseconds since 1970 UTC; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface TimeRange extends Span {
  readonly timeZone: string
  readonly bucket: BucketKind
  /** The range that this one is compared with; see `previousOf`. */
  readonly previous: Span
  readonly isCompared: boolean
  /** No `end` was given, so the range reaches to the present. */
  readonly endsNow: boolean
}

export interface Bucket extends Span {
  readonly label: string
}

/** The parameters as they stand in the query; `start` and `end` unparsed. */
export interface RangeQuery {
  readonly days: number
  readonly hours?: number | undefined
  readonly start?: string | undefined
  readonly end?: string | undefined
  /** By the length of the range, where it isn't said. */
  readonly interval?: BucketKind | undefined
  readonly compare?: Comparison | undefined
}

export type ResolvedRange =
  | { readonly ok: true; readonly range: TimeRange }
  | { readonly ok: false; readonly errors: readonly ValidationError[] }

/** `start` and `end` win over `hours`, and `hours` over `days`. */
export function resolveTimeRange(query: RangeQuery, timeZone: string, now: number): ResolvedRange {
  const errors: ValidationError[] = []
  const given = {
    start: readMoment('start', query.start, timeZone, errors),
    end: readMoment('end', query.end, timeZone, errors),
  }
  if (errors.length > 0) return { ok: false, errors }

  const end = Math.min(given.end ?? now, lastMoment)
  const start = given.start ?? defaultStart(query, given.end, end, timeZone)
  const problem = refusal({ start, end }, timeZone)
  if (problem !== null) return { ok: false, errors: [valueError(['query', 'start'], query.start ?? null, problem)] }
  const span = { start, end }
  const bucket = query.interval ?? bucketKind(span, timeZone)
  if (bucket === 'hour' && hasTooManyHours(span, timeZone)) {
    return {
      ok: false,
      errors: [valueError(['query', 'interval'], bucket, `a range has at most ${bucketsMax} buckets`)],
    }
  }
  const previous = query.compare === 'year' ? aYearBefore(span, timeZone) : previousOf(span, query, timeZone)
  const isCompared = query.compare !== 'none'
  return { ok: true, range: { ...span, timeZone, bucket, previous, isCompared, endsNow: given.end === undefined } }
}

/** The buckets of a range in order: they cover it without gap or overlap, the first and the last cut at its ends. */
export function bucketsOf(range: TimeRange): Bucket[] {
  const { bucket, timeZone } = range
  const buckets: Bucket[] = []
  for (let start = range.start; start < range.end; ) {
    const end = Math.min(nextBucket(start, bucket, timeZone), range.end)
    buckets.push({ label: bucketLabel(start, bucket, timeZone), start, end })
    start = end
  }
  return buckets
}

/** The local day on which a bucket begins: the one that is `back` buckets before that of `moment`. */
export function bucketDay(moment: number, kind: Exclude<BucketKind, 'hour'>, timeZone: string, back = 0): number {
  const today = localDayAt(moment, timeZone)
  if (kind === 'week') return mondayOf(today) - 7 * back
  return kind === 'month' ? firstOfMonth(today, -back) : today - back
}

function readMoment(
  name: 'start' | 'end',
  text: string | undefined,
  timeZone: string,
  errors: ValidationError[],
): number | undefined {
  if (text === undefined) return undefined
  const read = parseDateTime(['query', name], text)
  if (!read.ok) {
    errors.push(read.error)
    return undefined
  }
  return momentOf(read.value, name, timeZone)
}

/** A date alone is a whole local day: it begins at its start and, as `end`, ends where the next day begins. */
function momentOf(value: DateTimeText, name: 'start' | 'end', timeZone: string): number {
  if (value.isDate) return startOfLocalDay(value.wallTime / dayMs + (name === 'end' ? 1 : 0), timeZone)
  return utcOf(value, timeZone)
}

function defaultStart(query: RangeQuery, givenEnd: number | undefined, end: number, timeZone: string): number {
  if (givenEnd === undefined && query.hours !== undefined) return end - query.hours * hourMs
  // Counted from the last moment in range: an `end` at midnight ends the day before it, and begins none.
  return startOfLocalDay(localDayAt(end - 1, timeZone) - (query.days - 1), timeZone)
}

function refusal({ start, end }: Span, timeZone: string): string | null {
  if (start >= end) return 'start must be before end'
  if (start < firstMoment) return 'the range must not begin before the year 1'
  if (end > addLocalDays(start, overviewRangeDaysMax, timeZone)) {
    return `the range must not be longer than ${overviewRangeDaysMax} days`
  }
  return null
}

/** The range's ends, and changes of the clock, cut hours: fewer hours may be more buckets. */
function hasTooManyHours({ start, end }: Span, timeZone: string): boolean {
  if (end - start > bucketsMax * hourMs) return true
  let at = start
  for (let buckets = 0; buckets < bucketsMax && at < end; buckets++) at = nextLocalHour(at, timeZone)
  return at < end
}

/** `days=N` is compared with the same local days and time of day N days earlier, all else with as long a span before it. */
function previousOf({ start, end }: Span, query: RangeQuery, timeZone: string): Span {
  const isDays = query.start === undefined && query.end === undefined && query.hours === undefined
  if (!isDays) return { start: start - (end - start), end: start }
  const from = startOfLocalDay(localDayAt(start, timeZone) - query.days, timeZone)
  // A time that the clock skipped is later than it shows, and a repeated evening may lie before its day.
  const to = addLocalDays(end, -query.days, timeZone)
  return { start: from, end: Math.max(from, Math.min(to, start)) }
}

/**
 * The same local dates and times of the year before; 29 February is the 28th there. An end at a local midnight ends the
 * day before it: February has no 29th before a March that begins. Cut where the range begins.
 */
function aYearBefore({ start, end }: Span, timeZone: string): Span {
  const sameTime = (moment: number) => {
    const day = localDayAt(moment, timeZone)
    return addLocalDays(moment, dayAYearBefore(day) - day, timeZone)
  }
  const from = sameTime(start)
  const lastDay = localDayAt(end - 1, timeZone)
  const endsWithDay = lastDay < localDayAt(end, timeZone)
  const to = endsWithDay ? startOfLocalDay(dayAYearBefore(lastDay) + 1, timeZone) : sameTime(end)
  return { start: from, end: Math.max(from, Math.min(to, start)) }
}

/** The same date of the year before; 28 February for the 29th. Days since 1970. */
export function dayAYearBefore(day: number): number {
  const date = new Date(day * dayMs)
  const month = date.getUTCMonth()
  date.setUTCFullYear(date.getUTCFullYear() - 1)
  return (date.getUTCMonth() === month ? date.getTime() : date.setUTCDate(0)) / dayMs
}

function bucketKind({ start, end }: Span, timeZone: string): BucketKind {
  if (end - start <= hourBucketsSpanMs) return 'hour'
  return end <= addLocalDays(start, dayBucketsDaysMax, timeZone) ? 'day' : 'week'
}

/** Where the bucket that holds `moment` ends. */
function nextBucket(moment: number, kind: BucketKind, timeZone: string): number {
  if (kind === 'hour') return nextLocalHour(moment, timeZone)
  const today = localDayAt(moment, timeZone)
  if (kind === 'week') return startOfLocalDay(mondayOf(today) + 7, timeZone)
  if (kind === 'month') return startOfLocalDay(firstOfMonth(today, 1), timeZone)
  // A day that the date line took away has no moment.
  let day = today + 1
  while (startOfLocalDay(day, timeZone) <= moment) day++
  return startOfLocalDay(day, timeZone)
}

function bucketLabel(start: number, kind: BucketKind, timeZone: string): string {
  if (kind === 'week') return weekLabel(localDayAt(start, timeZone))
  if (kind !== 'hour') {
    const date = new Date(localDayAt(start, timeZone) * dayMs).toISOString()
    return kind === 'day' ? date.slice(0, 10) : date.slice(0, 7)
  }
  return `${new Date(wallTimeAt(start, timeZone)).toISOString().slice(0, 13).replace('T', ' ')}:00`
}

/** The first day of the month that is `later` months after a local day's. */
function firstOfMonth(day: number, later: number): number {
  const date = new Date(day * dayMs)
  return wallTime(date.getUTCFullYear(), date.getUTCMonth() + 1 + later, 1) / dayMs
}

/** The Monday at or before a local day, both as days since 1970-01-01, a Thursday. */
export function mondayOf(day: number): number {
  return Math.floor((day + 3) / 7) * 7 - 3
}

/** By ISO 8601: a week belongs to the year of its Thursday, and is counted from that year's first Thursday. */
function weekLabel(day: number): string {
  const thursday = new Date((mondayOf(day) + 3) * dayMs)
  const year = thursday.getUTCFullYear()
  const dayOfYear = (thursday.getTime() - new Date(thursday).setUTCMonth(0, 1)) / dayMs
  const week = Math.floor(dayOfYear / 7) + 1
  return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`
}
