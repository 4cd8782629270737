/** A moment in a workspace's local time, as messages write it. */
import { locale } from '../reports/describe-report.ts'

export function localTime(moment: Date, timezone: string): string {
  const format = new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'medium', timeStyle: 'short' })
  return `${format.format(moment).replace(/\s/g, ' ')} (${timezone})`
}
