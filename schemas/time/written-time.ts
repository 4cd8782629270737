/**
 * Date-times in bodies, read as Pydantic's lax mode does. They are RFC 3339, a date alone (its midnight), or Unix time
 * as a number or its text, in seconds or, beyond 2·10^10, in milliseconds. A time without an offset is local to a
 * timezone that only the handler knows: it asks `momentOf`. Held by test/unit/written-time.test.ts.
 */
import { z } from 'zod'
import { invalid } from '../errors/problems.ts'
import { datetimeParsing, datetimeType, type Loc, type ValidationError } from '../errors/validation-errors.ts'
import type { Build } from '../errors/zod-errors.ts'
import { firstMoment, lastMoment, parseDateTime } from './date-time.ts'
import { wallToUtc } from './time-zone.ts'

export interface WrittenTime {
  /** As it was sent, for errors that are found later. */
  readonly sent: unknown
  /** Milliseconds since 1970 in UTC, or by the clock on the wall where `isLocal`. */
  readonly time: number
  readonly isLocal: boolean
  /** The time alone, so that retries are known as equal however they write it. */
  toJSON(): Read
}

type Read = Pick<WrittenTime, 'time' | 'isLocal'>

const schema = z.unknown().meta({
  type: 'string',
  format: 'date-time',
  description: "RFC 3339. Without an offset it is read in the workspace's timezone.",
})

export const writtenTime = schema.transform((sent, context): WrittenTime => {
  const read = readTime(sent)
  if (typeof read !== 'function') return { sent, ...read, toJSON: () => read }
  context.addIssue({ code: 'custom', params: { build: read } })
  return z.NEVER
})

/** @returns milliseconds since 1970 UTC, or the error: with its offset it lies outside the years 1 to 9999 */
export function momentOf(
  { sent, time, isLocal }: WrittenTime,
  timeZone: string,
  loc: Loc,
): { readonly moment: number } | { readonly error: ValidationError } {
  const moment = isLocal ? wallToUtc(time, timeZone) : time
  if (moment >= firstMoment && moment <= lastMoment) return { moment }
  return { error: datetimeParsing(loc, sent, moment > lastMoment ? tooLate : tooEarly) }
}

/** @throws Problem where no calendar has it */
export function requireDate(written: WrittenTime, timeZone: string, loc: Loc): Date {
  const time = momentOf(written, timeZone, loc)
  if ('error' in time) throw invalid([time.error])
  return new Date(time.moment)
}

const tooLate = 'dates after 9999 are not supported as unix timestamps'
const tooEarly = 'dates before 0000 are not supported as unix timestamps'

function readTime(sent: unknown): Read | Build {
  if (typeof sent === 'number') return readUnix(sent)
  if (typeof sent !== 'string') return datetimeType
  if (/^[+-]?\d{1,30}(?:\.\d{1,30})?$/.test(sent)) return readUnix(Number(sent))
  const parsed = parseDateTime([], sent)
  if (!parsed.ok) return (loc, input) => ({ ...parsed.error, loc, input })
  const { wallTime, offsetMs } = parsed.value
  return offsetMs === null ? { time: wallTime, isLocal: true } : { time: wallTime - offsetMs, isLocal: false }
}

/** Seconds up to here reach to 2603; a larger number must be milliseconds. */
const secondsMax = 2e10

function readUnix(value: number): Read | Build {
  const time = Math.floor(Math.abs(value) > secondsMax ? value : value * 1000)
  if (time > lastMoment) return (loc, input) => datetimeParsing(loc, finite(input), tooLate)
  if (time < firstMoment) return (loc, input) => datetimeParsing(loc, finite(input), tooEarly)
  return { time, isLocal: false }
}

/** A literal like `1e400` is no number that JSON can show again. */
function finite(input: unknown): unknown {
  return typeof input === 'number' && !Number.isFinite(input) ? String(input) : input
}
