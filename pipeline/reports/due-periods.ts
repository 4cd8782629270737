/** Which periods have a report at a moment, by local time, and which have none any more. Pure; test/unit/due-periods.test.ts. */
import type { DuePeriod } from '../../postgres/tables/messages/due-reports.ts'
import { reportLateMaxMs, reportLocalHour } from '../../schemas/limits/report-limits.ts'
import type { ReportKind } from '../../schemas/resources/report-recipient.ts'
import { mondayOf } from '../../schemas/time/time-range.ts'
import { dateOfDay, dayMs, hourMs, localDayAt, startOfLocalDay, wallToUtc } from '../../schemas/time/time-zone.ts'

/** The last periods where their reports are due and not too late. */
export function duePeriods(timezone: string, now: number): DuePeriod[] {
  return lastPeriods(timezone, now).filter((period) => period.sendAt <= now && now < tooLateAt(period))
}

/** The newest periods whose reports are too late. Those of earlier periods are, too. */
export function latePeriods(timezone: string, now: number): DuePeriod[] {
  return lastPeriods(timezone, now).filter((period) => tooLateAt(period) <= now)
}

/** When the report isn't sent any more. */
export function tooLateAt({ sendAt }: Pick<DuePeriod, 'sendAt'>): number {
  return sendAt + reportLateMaxMs
}

/** The last two weeks and months that are over; of each kind the newest is first. */
export function lastPeriods(timezone: string, now: number): DuePeriod[] {
  const today = localDayAt(now, timezone)
  const monday = mondayOf(today)
  const month = firstOfMonth(today)
  const before = firstOfMonth(month - 1)
  return [
    periodOf('weekly', monday - 7, monday, timezone),
    periodOf('weekly', monday - 14, monday - 7, timezone),
    periodOf('monthly', before, month, timezone),
    periodOf('monthly', firstOfMonth(before - 1), before, timezone),
  ]
}

/** @param next the day after the period */
function periodOf(every: ReportKind, first: number, next: number, timezone: string): DuePeriod {
  return {
    timezone,
    every,
    first: dateOfDay(first),
    last: dateOfDay(next - 1),
    sendAt: wallToUtc(next * dayMs + reportLocalHour * hourMs, timezone),
    end: startOfLocalDay(next, timezone),
  }
}

function firstOfMonth(day: number): number {
  return day - new Date(day * dayMs).getUTCDate() + 1
}
