/** The range that a query asks for, the period before it, and its buckets. Instants are milliseconds since 1970 UTC. */
import { day, hour, minute, type OracleWorkspace, type OverviewQuery } from './facts.ts'
import { instantOf, localAt, localDay, offsetAt, startOfDay } from './local-time.ts'

export interface Span {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

export interface Bucket extends Span {
  readonly label: string
}

export type BucketSize = NonNullable<OverviewQuery['interval']>

const dateOnly = /^(\d{4})-(\d{2})-(\d{2})$/
const dateTime = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})?$/i

/** Undefined where the query must be refused. */
export function resolveRange(query: OverviewQuery, workspace: OracleWorkspace, now: number): Span | undefined {
  const span = askedSpan(query, workspace.timezone, now)
  const isTooLong = span.end > localDaysAfter(span.start, 366, workspace.timezone)
  const hasTooManyBuckets = query.interval === 'hour' && span.end - span.start > 2000 * hour
  return span.start >= span.end || isTooLong || hasTooManyBuckets ? undefined : span
}

/** The same local time so many local days later. */
function localDaysAfter(instant: number, days: number, timezone: string): number {
  return instantOf(timezone, localAt(timezone, instant) + days * day)
}

function askedSpan(query: OverviewQuery, timezone: string, now: number): Span {
  const { days = 30, hours } = query
  const daysBefore = (end: number) => startOfDay(timezone, localDay(timezone, end - 1) - (days - 1) * day)
  if (query.start !== undefined) {
    return {
      start: parseEdge(query.start, timezone).asStart,
      end: query.end === undefined ? now : parseEdge(query.end, timezone).asEnd,
    }
  }
  if (query.end !== undefined) {
    const end = parseEdge(query.end, timezone).asEnd
    return { start: daysBefore(end), end }
  }
  if (hours !== undefined) return { start: now - hours * hour, end: now }
  return { start: daysBefore(now), end: now }
}

/** Reads an edge as `start` and as the exclusive `end`. */
function parseEdge(text: string, timezone: string): { asStart: number; asEnd: number } {
  const wholeDay = dateOnly.exec(text)
  if (wholeDay) {
    const date = Date.UTC(Number(wholeDay[1]), Number(wholeDay[2]) - 1, Number(wholeDay[3]))
    return { asStart: startOfDay(timezone, date), asEnd: startOfDay(timezone, date + day) }
  }
  const [, year, month, dayOfMonth, hours, minutes, seconds = '0', fraction = '0', offset] = dateTime.exec(text)!
  const shown =
    Date.UTC(Number(year), Number(month) - 1, Number(dayOfMonth), Number(hours), Number(minutes), Number(seconds)) +
    Number(fraction.padEnd(3, '0').slice(0, 3))
  const instant = offset === undefined ? instantOf(timezone, shown) : shown - parseOffset(offset)
  return { asStart: instant, asEnd: instant }
}

function parseOffset(text: string): number {
  if (/^z$/i.test(text)) return 0
  const [hours, minutes] = text.slice(1).split(':')
  return (text[0] === '-' ? -1 : 1) * (Number(hours) * hour + Number(minutes) * minute)
}

/**
 * For `compare=year` the same local dates and times of the year before. For `days` the same local days and time of day so many
 * days earlier; else as long a period just before.
 */
export function previousOf({ start, end }: Span, query: OverviewQuery, timezone: string): Span {
  const { days = 30 } = query
  if (query.compare === 'year') {
    const from = instantOf(timezone, aYearBeforeLocal(localAt(timezone, start)))
    // An end at midnight is that of the day before it.
    const lastDay = localDay(timezone, end - 1)
    const endsWithDay = localDay(timezone, end) > lastDay
    const to = endsWithDay
      ? startOfDay(timezone, aYearBeforeLocal(lastDay) + day)
      : instantOf(timezone, aYearBeforeLocal(localAt(timezone, end)))
    return { start: from, end: Math.max(from, Math.min(to, start)) }
  }
  const isDays = query.start === undefined && query.end === undefined && query.hours === undefined
  if (!isDays) return { start: start - (end - start), end: start }
  return {
    start: startOfDay(timezone, localDay(timezone, start) - days * day),
    end: Math.min(localDaysAfter(end, -days, timezone), start),
  }
}

function aYearBeforeLocal(time: number): number {
  const local = new Date(time)
  if (local.toISOString().slice(5, 10) === '02-29') local.setUTCDate(28)
  return local.setUTCFullYear(local.getUTCFullYear() - 1)
}

/** The first local midnight that is at most so many times 24 hours ago. */
export function readableFrom({ timezone, retentionDays }: OracleWorkspace, now: number): number {
  const oldest = now - retentionDays * day
  const midnights = [0, 1].map((later) => startOfDay(timezone, localDay(timezone, oldest) + later * day))
  return midnights.find((midnight) => midnight >= oldest)!
}

/** The part of a span at or after `from`. */
export function since(from: number, { start, end }: Span): Span {
  return { start: Math.max(start, from), end }
}

export function bucketSizeOf(span: Span, { interval }: OverviewQuery, timezone: string): BucketSize {
  if (interval !== undefined) return interval
  if (span.end - span.start <= 72 * hour) return 'hour'
  return span.end <= localDaysAfter(span.start, 120, timezone) ? 'day' : 'week'
}

export function bucketsOf(span: Span, query: OverviewQuery, timezone: string): Bucket[] {
  const size = bucketSizeOf(span, query, timezone)
  if (size === 'month') return monthsOf(span, timezone)
  if (size === 'week') return weeksOf(span, timezone)
  return size === 'day' ? daysOf(span, timezone) : hoursOf(span, timezone)
}

function monthsOf(span: Span, timezone: string): Bucket[] {
  const firstOf = (date: number, more: number) => {
    const month = new Date(date)
    return Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + more, 1)
  }
  const buckets: Bucket[] = []
  for (
    let date = firstOf(localDay(timezone, span.start), 0);
    startOfDay(timezone, date) < span.end;
    date = firstOf(date, 1)
  ) {
    const whole = { start: startOfDay(timezone, date), end: startOfDay(timezone, firstOf(date, 1)) }
    buckets.push({ label: new Date(date).toISOString().slice(0, 7), ...cut(whole, span) })
  }
  return buckets
}

function weeksOf(span: Span, timezone: string): Bucket[] {
  // 1970-01-05 was a Monday.
  const monday = 4 * day
  const first = Math.floor((localDay(timezone, span.start) - monday) / (7 * day)) * 7 * day + monday
  const buckets: Bucket[] = []
  for (let date = first; startOfDay(timezone, date) < span.end; date += 7 * day) {
    const whole = { start: startOfDay(timezone, date), end: startOfDay(timezone, date + 7 * day) }
    buckets.push({ label: weekLabel(date), ...cut(whole, span) })
  }
  return buckets
}

/** The ISO week of a Monday: the year is that of its Thursday. */
function weekLabel(monday: number): string {
  const thursday = monday + 3 * day
  const year = new Date(thursday).getUTCFullYear()
  const week = 1 + Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * day))
  return `${year}-W${String(week).padStart(2, '0')}`
}

function daysOf(span: Span, timezone: string): Bucket[] {
  const buckets: Bucket[] = []
  for (let date = localDay(timezone, span.start); ; date += day) {
    const [start, end] = [startOfDay(timezone, date), startOfDay(timezone, date + day)]
    if (start >= span.end) return buckets
    if (end > span.start && end > start) {
      buckets.push({ label: new Date(date).toISOString().slice(0, 10), ...cut({ start, end }, span) })
    }
  }
}

/** A new hour begins when the clocks show a full hour, and when they are changed. */
function hoursOf(span: Span, timezone: string): Bucket[] {
  const quarter = 15 * minute
  const starts: number[] = []
  const first = Math.floor(span.start / quarter) * quarter - 2 * hour
  for (let at = first; at < span.end; at += quarter) {
    const isFullHour = localAt(timezone, at) % hour === 0
    const isChanged = offsetAt(timezone, at) !== offsetAt(timezone, at - quarter)
    if (isFullHour || isChanged) starts.push(at)
  }
  return starts
    .map((start, index) => ({ start, end: starts[index + 1] ?? Number.POSITIVE_INFINITY }))
    .filter(({ end }) => end > span.start)
    .map((whole) => ({ label: hourLabel(localAt(timezone, whole.start)), ...cut(whole, span) }))
}

function hourLabel(local: number): string {
  return `${new Date(local).toISOString().slice(0, 13).replace('T', ' ')}:00`
}

function cut(bucket: Span, span: Span): Span {
  return { start: Math.max(bucket.start, span.start), end: Math.min(bucket.end, span.end) }
}
