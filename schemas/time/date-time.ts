/**
 * Date-times of requests: RFC 3339 with `T`, `t`, `_` or a blank between date and time. Seconds are optional, fractions are
 * cut to milliseconds, and there is an offset (`Z`, `z`, `+01:00`, `+0100`) or none. Without one they are local: the
 * caller knows where.
 *
 * Refusals have the texts of Pydantic, which names the fault of the date, and calls the rest extra characters. Held by
 * test/unit/date-time.test.ts.
 */

import {
  datetimeFromDateParsing,
  datetimeParsing,
  type Loc,
  type ValidationError,
} from '../errors/validation-errors.ts'
import { dayMs, wallToUtc } from './time-zone.ts'

export interface DateTimeText {
  /** The date and time as if they were UTC, in milliseconds since 1970. */
  readonly wallTime: number
  /** The offset that was written behind the time, or null: then the time is local. */
  readonly offsetMs: number | null
  /** A date alone, whose time is midnight. */
  readonly isDate: boolean
}

export type ParsedDateTime =
  | { readonly ok: true; readonly value: DateTimeText }
  | { readonly ok: false; readonly error: ValidationError }

/** A date-time or a date alone. */
export function parseDateTime(loc: Loc, text: string): ParsedDateTime {
  const date = readDate(text)
  if (typeof date === 'string') return { ok: false, error: datetimeFromDateParsing(loc, text, date) }
  if (text.startsWith('0000')) return { ok: false, error: datetimeParsing(loc, text, 'year 0 is out of range') }
  if (text.length === dateLength) return { ok: true, value: { wallTime: date, offsetMs: null, isDate: true } }
  const time = readTime(text)
  if (time === null) {
    return {
      ok: false,
      error: datetimeFromDateParsing(loc, text, 'unexpected extra characters at the end of the input'),
    }
  }
  return { ok: true, value: { wallTime: date + time.ms, offsetMs: time.offsetMs, isDate: false } }
}

/**
 * The time that an event carries, in milliseconds since 1970 UTC, read in `timeZone` where it has no offset. A date
 * alone says too little for an event.
 * @returns NaN where `text` is no date-time: `explainEventTime` says why
 */
export function parseEventTime(text: string, timeZone: string): number {
  const common = readCommonForm(text)
  if (!Number.isNaN(common)) return common
  const parsed = parseDateTime([], text)
  if (!parsed.ok || parsed.value.isDate) return Number.NaN
  return utcOf(parsed.value, timeZone)
}

/** In milliseconds since 1970 UTC. */
export function utcOf({ wallTime, offsetMs }: DateTimeText, timeZone: string): number {
  return offsetMs === null ? wallToUtc(wallTime, timeZone) : wallTime - offsetMs
}

/** The first moment of the year 1, before which no date can be written. */
export const firstMoment = Date.parse('0001-01-01T00:00:00Z')
/** The last moment whose year has four digits. */
export const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Why `parseEventTime` doesn't take `text`, or null where it does. */
export function explainEventTime(loc: Loc, text: string): ValidationError | null {
  const parsed = parseDateTime(loc, text)
  if (!parsed.ok) return parsed.error
  return parsed.value.isDate ? datetimeFromDateParsing(loc, text, 'input is too short') : null
}

const dateLength = 10
const minuteMs = 60_000

/** Reads the output of `toISOString`, `2026-11-20T12:34:56.789Z`, without a regular expression or a Date; else NaN. */
function readCommonForm(text: string): number {
  if (
    text.length !== 24 ||
    text.charCodeAt(23) !== 0x5a ||
    text.charCodeAt(10) !== 0x54 ||
    text.charCodeAt(4) !== 0x2d ||
    text.charCodeAt(7) !== 0x2d ||
    text.charCodeAt(13) !== 0x3a ||
    text.charCodeAt(16) !== 0x3a ||
    text.charCodeAt(19) !== 0x2e
  ) {
    return Number.NaN
  }
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  const ms = twoDigits(text, 20) * 10 + digit(text, 22)
  if (year < 1 || !isMonth(month) || day < 1 || day > daysIn(year, month)) return Number.NaN
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || ms < 0) return Number.NaN
  // Seconds of the day and milliseconds are small integers; only the last step needs more than 32 bits.
  return daysBefore(year, month, day) * dayMs + ((hour * 60 + minute) * 60 + second) * 1000 + ms
}

/** The first ten characters as a date in milliseconds, or their fault. */
function readDate(text: string): number | string {
  if (text.length < dateLength) return 'input is too short'
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  if (year < 0) return 'invalid character in year'
  if (text[4] !== '-') return 'invalid date separator, expected `-`'
  if (month < 0) return 'invalid character in month'
  if (text[7] !== '-') return 'invalid date separator, expected `-`'
  if (day < 0) return 'invalid character in day'
  if (!isMonth(month)) return 'month value is outside expected range of 1-12'
  if (day < 1 || day > daysIn(year, month)) return 'day value is outside expected range'
  return daysBefore(year, month, day) * dayMs
}

const timeShape = /^[Tt _](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?(?:([Zz])|([+\u2212-])(\d\d):?(\d\d))?$/

/** Reads the text behind the date. */
function readTime(text: string): { ms: number; offsetMs: number | null } | null {
  const match = timeShape.exec(text.slice(dateLength))
  if (match === null) return null
  const [, hour, minute, second = '0', fraction = '', utc, sign, offsetHour, offsetMinute] = match
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const ms =
    ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
  if (utc !== undefined) return { ms, offsetMs: 0 }
  if (sign === undefined) return { ms, offsetMs: null }
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * minuteMs
  return { ms, offsetMs: sign === '+' ? offset : -offset }
}

/** Stands for a character that is no digit: so far below zero that no sum with digits reaches zero. */
const noDigit = -1_000_000

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48
  return value >= 0 && value <= 9 ? value : noDigit
}

function twoDigits(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1)
}

function isMonth(month: number): boolean {
  return month >= 1 && month <= 12
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Days from 1970-01-01 to the date, of a year from 0 on. The year is taken to begin in March: its odd day comes last. */
function daysBefore(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1
  const dayOfYear = (((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) | 0) + day - 1
  // `>> 2` and `Math.floor` round down for the -1 of January of the year 0, too.
  const leapDays = (shifted >> 2) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return shifted * 365 + leapDays + dayOfYear - 719_468
}
