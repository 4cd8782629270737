/** Days of a calendar, as `YYYY-MM-DD`: no timezone moves them. Pure; test/unit/dashboard-calendar.test.ts. */

export const dayMs = 24 * 3_600_000

export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}

/** The same day of another month, or that month's last one. */
export function monthAfter(day: string, months: number): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  const last = new Date(Date.UTC(year, month + months, 0))
  return `${last.toISOString().slice(0, 8)}${String(Math.min(date, last.getUTCDate())).padStart(2, '0')}`
}

/** @param first the weekday that weeks begin with, 1 for Monday to 7 for Sunday */
export function weekOf(day: string, first: number): string[] {
  const weekday = new Date(day).getUTCDay()
  const start = dayAfter(day, -((weekday - first + 7) % 7))
  return Array.from({ length: 7 }, (_, at) => dayAfter(start, at))
}

/** The whole weeks that hold a day of its month. */
export function weeksOfMonth(day: string, first: number): string[][] {
  const month = day.slice(0, 7)
  const weeks: string[][] = []
  for (let week = weekOf(`${month}-01`, first); week.some((one) => one.startsWith(month)); ) {
    weeks.push(week)
    week = weekOf(dayAfter(week[6]!, 1), first)
  }
  return weeks
}

export type Span = 'month' | 'week'

/** All days of a calendar's page: whole weeks, as the browser's locale has them. */
export function daysOfSpan(span: Span, day: string): string[] {
  const first = firstWeekday()
  return span === 'month' ? weeksOfMonth(day, first).flat() : weekOf(day, first)
}

/** The locale's first weekday; Monday where the browser doesn't know. */
export function firstWeekday(): number {
  const locale = new Intl.Locale(new Intl.DateTimeFormat().resolvedOptions().locale) as Intl.Locale & {
    readonly weekInfo?: { readonly firstDay: number }
    getWeekInfo?(): { readonly firstDay: number }
  }
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1
}

/** @returns the day that a key leads to from another one; undefined for any other key */
export function dayByKey(key: string, day: string): string | undefined {
  if (key === 'ArrowLeft') return dayAfter(day, -1)
  if (key === 'ArrowRight') return dayAfter(day, 1)
  if (key === 'ArrowUp') return dayAfter(day, -7)
  if (key === 'ArrowDown') return dayAfter(day, 7)
  if (key === 'PageUp') return monthAfter(day, -1)
  if (key === 'PageDown') return monthAfter(day, 1)
  return undefined
}

/** Calendars with the months of ours, and other years. */
const sameMonths = ['gregory', 'buddhist', 'japanese', 'roc']

/** In whose months a month of ours is named: another calendar's, such as the Persian one, begins elsewhere. */
export function calendarOfMonths(own = new Intl.DateTimeFormat().resolvedOptions().calendar): string {
  return sameMonths.includes(own) ? own : 'gregory'
}

/** The month of a day in words, by the browser's locale. */
export function monthInWords(day: string): string {
  return dayInWords(day, { calendar: calendarOfMonths(), month: 'long', year: 'numeric' })
}

/** A day in words, by the browser's locale. */
export function dayInWords(day: string, options: Intl.DateTimeFormatOptions = { dateStyle: 'full' }): string {
  return new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', ...options }).format(Date.parse(day))
}
