/** Numbers, times and changes as people read them, by the browser's locale. */
import { decimalsOf } from '../../schemas/reference/currencies.ts'

const whole = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

export function number(value: number): string {
  return whole.format(value)
}

/** At most four signs or so; the exact number belongs beside it. */
export function brief(value: number): string {
  return value < 10_000 ? whole.format(value) : short.format(value)
}

export function percent(value: number): string {
  return `${whole.format(Math.round(value * 10) / 10)} %`
}

export function duration(seconds: number): string {
  const rounded = Math.round(seconds)
  return rounded < 60 ? `${rounded}s` : `${Math.floor(rounded / 60)}m ${rounded % 60}s`
}

/** A time that may take days. */
export function span(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  const hours = Math.round(seconds / 3_600)
  if (minutes < 60) return duration(seconds)
  return hours < 24 ? `${Math.floor(minutes / 60)}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`
}

/** @param cents smallest units of the currency */
export function money(cents: number, currency: string): string {
  const decimals = decimalsOf(currency)
  // Said, as some are shown without decimals otherwise: then it would be another amount than the API's.
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  return new Intl.NumberFormat(undefined, { style: 'currency', currency, ...digits }).format(cents / 10 ** decimals)
}

/** At most eight signs or so, for places with little room. */
export function briefMoney(cents: number, currency: string): string {
  const amount = cents / 10 ** decimalsOf(currency)
  if (Math.abs(amount) < 10_000) return money(cents, currency)
  const shortened = { notation: 'compact', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, { style: 'currency', currency, ...shortened }).format(amount)
}

/** A mark of a time axis. @param stepSeconds to the next mark */
export function timeMark(moment: number, stepSeconds: number, timeZone: string): string {
  const daySeconds = 86_400
  const isMidnight = localMoment(new Date(moment).toISOString(), timeZone).endsWith('T00:00')
  const isHours = stepSeconds < daySeconds && !isMidnight
  const isMonths = stepSeconds >= 28 * daySeconds
  const shown: Intl.DateTimeFormatOptions = isHours
    ? { hour: '2-digit', minute: '2-digit' }
    : isMonths
      ? { month: 'short', year: 'numeric' }
      : { month: 'short', day: 'numeric' }
  return new Intl.DateTimeFormat(undefined, { timeZone, ...shown }).format(moment)
}

/** In the workspace's timezone. */
export function time(moment: string, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(moment),
  )
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

/** Fewer are no base for a change. */
const changeBaseMin = 30

/** The change in per cent; undefined where one side is too small to tell. @param base how many each side is counted from */
export function change(now: number, before: number | undefined, base: readonly [number, number]): number | undefined {
  if (before === undefined || before <= 0 || Math.min(...base) < changeBaseMin) return undefined
  return Math.round(((now - before) / before) * 100)
}
