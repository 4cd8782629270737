/** Numbers, times and changes as people read them, by the browser's locale. */
import { makeFigureTexts } from '../../../schemas/figure-texts.ts'
import { decimalsOf } from '../../../schemas/reference/currencies.ts'
import { calendarOfMonths } from './calendar-days.ts'

export { type ComparedName, change, changeOf, changeText } from '../../../schemas/figure-texts.ts'

const whole = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

export const { number, percent, duration, money } = makeFigureTexts()

/** At most four signs or so; the exact number belongs beside it. */
export function brief(value: number): string {
  return value < 10_000 ? whole.format(value) : short.format(value)
}

/** A time that may take days. */
export function span(seconds: number): string {
  const hours = Math.round(seconds / 3_600)
  return hours < 24 ? duration(seconds) : `${Math.floor(hours / 24)}d ${hours % 24}h`
}

/** Whole minutes without seconds, and whole hours without minutes. */
export function briefDuration(seconds: number): string {
  if (seconds >= 3_600 && seconds % 3_600 === 0) return `${seconds / 3_600}h`
  return seconds >= 60 && seconds % 60 === 0 ? `${seconds / 60}m` : duration(seconds)
}

/** At most eight signs or so, for places with little room. */
export function briefMoney(cents: number, currency: string): string {
  const amount = cents / 10 ** decimalsOf(currency)
  if (Math.abs(amount) < 10_000) return money(cents, currency)
  const shortened = { notation: 'compact', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, { style: 'currency', currency, ...shortened }).format(amount)
}

/** As it is where a card or a list has room for it; the exact amount belongs beside it. */
export function fittingMoney(cents: number, currency: string): string {
  const exact = money(cents, currency)
  return exact.length <= 10 ? exact : briefMoney(cents, currency)
}

interface Revenue {
  readonly revenue_cents: number | null
  readonly revenue_by_currency: Readonly<Record<string, number>> | null
}

/** With the amounts behind it that no exchange rate converts: a shop may be paid in these alone. */
export function revenueText({ revenue_cents: cents, revenue_by_currency }: Revenue, currency: string): string {
  if (cents === null) return '–'
  const apart = amountsText(revenue_by_currency ?? {})
  const own = cents !== 0 || apart === '' ? money(cents, currency) : ''
  return [own, apart].filter((text) => text !== '').join(', ')
}

/** Amounts that no exchange rate converts, by currency; '' where there are none. */
export function amountsText(byCurrency: Readonly<Record<string, number>>): string {
  return Object.entries(byCurrency)
    .map(([code, cents]) => money(cents, code))
    .join(', ')
}

/** Marks of a time axis. Where clocks are set back an hour comes twice: the second one has its offset. @param stepSeconds between them */
export function timeMarks(moments: readonly number[], stepSeconds: number, timeZone: string): string[] {
  const texts = moments.map((moment) => timeMark(moment, stepSeconds, timeZone))
  return texts.map((text, at) => (text === texts[at - 1] ? offsetAt(moments[at]!, timeZone) : text))
}

const daySeconds = 86_400
const hourMs = 3_600_000

function timeMark(moment: number, stepSeconds: number, timeZone: string): string {
  const isMidnight = localMoment(new Date(moment).toISOString(), timeZone).endsWith('T00:00')
  const isHours = stepSeconds < daySeconds && !isMidnight
  const isMonths = stepSeconds >= 28 * daySeconds
  const shown: Intl.DateTimeFormatOptions = isHours
    ? { hour: 'numeric', minute: '2-digit' }
    : isMonths
      ? { calendar: calendarOfMonths(), month: 'short', year: 'numeric' }
      : { month: 'short', day: 'numeric' }
  // The mark of a day whose first hour is skipped stands an hour before the day.
  const shownAt = isHours ? moment : moment + hourMs
  return new Intl.DateTimeFormat(undefined, { timeZone, ...shown }).format(shownAt)
}

interface LabelledTime {
  readonly label: string
  /** A moment, as the API has it. */
  readonly start: string
}

/** A bucket's label, told apart from another one's. */
export function bucketName(buckets: readonly LabelledTime[], at: number, timeZone: string): string {
  return buckets[at]!.label + offsetMark(buckets, at, timeZone)
}

/** Where clocks are set back two hours have the same label: their offsets tell them apart. Elsewhere it is empty. */
export function offsetMark(buckets: readonly LabelledTime[], at: number, timeZone: string): string {
  const { label, start } = buckets[at]!
  const isTwice = buckets[at - 1]?.label === label || buckets[at + 1]?.label === label
  return isTwice ? ` ${offsetAt(Date.parse(start), timeZone)}` : ''
}

/** `GMT+2` */
function offsetAt(moment: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' })
  return format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** In the workspace's timezone. */
export function time(moment: string, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(moment),
  )
}

/** That of the workspace; the browser's before it is known. */
let shownZone: string | undefined

export function showTimezone(zone: string): void {
  shownZone = zone
}

/** The time of day with seconds, in the timezone of the workspace that is shown. */
export function clockTime(moment: Date): string {
  return new Intl.DateTimeFormat(undefined, { timeZone: shownZone, timeStyle: 'medium' }).format(moment)
}

const clock = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', timeStyle: 'short' })

/** @param written `HH:MM`, as the API and inputs have it */
export function timeOfDay(written: string): string {
  return clock.format(Date.parse(`1970-01-01T${written}Z`))
}

/** Chosen days or moments, which have no timezone of their own here. */
export function daysInWords({ from, to }: { readonly from: string; readonly to: string }): string {
  const isMoments = from.includes('T')
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone: 'UTC',
    dateStyle: 'medium',
    ...(isMoments && { timeStyle: 'short' }),
  })
  const [first, last] = [from, to].map((text) => Date.parse(isMoments ? `${text}Z` : text))
  return format.formatRange(first!, last!)
}

/** In a timezone and without an offset, as inputs of date and time take it: `2030-03-01T09:00`. */
export function localMoment(moment: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return format.format(new Date(moment)).replace(' ', 'T')
}

/** The address of an owner who has set none. */
const noMailbox = /^owner@[0-9a-f-]{36}\.invalid$/

/** A member's name: the e-mail. */
export function accountName(email: string): string {
  return noMailbox.test(email) ? 'owner' : email
}
