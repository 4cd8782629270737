/** Moments in a workspace's local time, as messages write them. */
import { locale } from '../reports/describe-report.ts'

export function localTime(moment: Date, timezone: string): string {
  const format = new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'medium', timeStyle: 'short' })
  return `${format.format(moment).replace(/\s/g, ' ')} (${timezone})`
}

/** The time of day alone. */
export function localHour(moment: Date, timezone: string): string {
  return new Intl.DateTimeFormat(locale, { timeZone: timezone, timeStyle: 'short' }).format(moment).replace(/\s/g, ' ')
}
