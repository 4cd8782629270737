/** Which periods have a report at a moment, by local time. Pure; test/unit/due-periods.test.ts. */
import type { DuePeriod } from '../../postgres/tables/report-recipients.ts'
import { reportLateMaxMs, reportLocalHour } from '../../schemas/limits/report-limits.ts'
import type { ReportKind } from '../../schemas/resources/report-recipient.ts'
import { mondayOf } from '../../schemas/time/time-range.ts'
import { dayMs, hourMs, localDayAt, startOfLocalDay, wallToUtc } from '../../schemas/time/time-zone.ts'

/** The week before this one's Monday, and the month before this one, where their reports are due and not too late. */
export function duePeriods(timezone: string, now: number): DuePeriod[] {
  const today = localDayAt(now, timezone)
  const monday = mondayOf(today)
  const month = firstOfMonth(today)
  const periods = [
    periodOf('weekly', monday - 7, monday, timezone),
    periodOf('monthly', firstOfMonth(month - 1), month, timezone),
  ]
  return periods.filter(({ sendAt }) => sendAt <= now && now < sendAt + reportLateMaxMs)
}

/** @param next the day after the period */
function periodOf(every: ReportKind, first: number, next: number, timezone: string): DuePeriod {
  return {
    ...{ timezone, every, first: dateOf(first), last: dateOf(next - 1) },
    sendAt: wallToUtc(next * dayMs + reportLocalHour * hourMs, timezone),
    end: startOfLocalDay(next, timezone),
  }
}

function firstOfMonth(day: number): number {
  return day - new Date(day * dayMs).getUTCDate() + 1
}

function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
