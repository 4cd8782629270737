/**
 * What is computed from scratch: hours of workspaces, or, where these are many, whole UTC days of all workspaces; and which
 * conversions of later hours are compared with what they are credited to now.
 */
import { keyOfHour } from '../../clickhouse/aggregates/live-rows.ts'
import { type HourSpan, sessionHours } from '../../clickhouse/aggregates/row-scope.ts'
import type { HourKey } from '../../postgres/tables/aggregate-repairs.ts'
import { aggregateStatementDaysMax, creditWindowMs } from '../../schemas/limits.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import type { WorkSizes } from './pieces.ts'

export const creditHours = creditWindowMs / hourMs

/** Hours that lie near each other, of some or all workspaces. */
export interface Unit {
  readonly hours: HourSpan
  /** Undefined: all workspaces and all hours. */
  readonly keys: readonly HourKey[] | undefined
}

export interface RecomputePlan {
  readonly units: readonly Unit[]
  /** UTC days of which everything is computed anew. */
  readonly wholeDays: readonly number[]
  readonly corrections: { readonly spans: readonly HourSpan[]; readonly workspaceIds: readonly number[] }
}

/**
 * @param retracted hours that a session has left, or is counted in as another visitor's
 * @param repairs hours whose rows were changed: a row changes sessions that start up to 24 hours before and after it, and
 *   may be a touch of conversions of the next 30 days
 */
export function planRecompute(
  retracted: readonly HourKey[],
  repairs: readonly HourKey[],
  { dayKeys }: Pick<WorkSizes, 'dayKeys'>,
): RecomputePlan {
  const widened = repairs.flatMap(({ workspaceId, hour }) =>
    Array.from({ length: 2 * sessionHours + 1 }, (_, at) => ({
      workspaceId,
      hour: Math.max(0, hour - sessionHours + at),
    })),
  )
  const keys = new Map([...retracted, ...widened].map((key) => [keyOfHour(key), key]))
  const byDay = new Map<number, HourKey[]>()
  for (const key of keys.values()) {
    const day = Math.floor(key.hour / 24)
    const ofDay = byDay.get(day)
    if (ofDay === undefined) byDay.set(day, [key])
    else ofDay.push(key)
  }
  const wholeDays = [...byDay].filter(([, ofDay]) => ofDay.length > dayKeys).map(([day]) => day)
  const whole = new Set(wholeDays)
  const single = [...byDay].flatMap(([day, ofDay]) => (whole.has(day) ? [] : ofDay))
  return {
    units: [...wholeDays.map(wholeDay), ...gather(single)],
    wholeDays,
    corrections: {
      spans: withoutDays(
        uniteSpans(
          repairs.map(({ hour }) => ({ start: Math.max(0, hour - sessionHours), end: hour + creditHours + 1 })),
        ),
        wholeDays,
      ),
      workspaceIds: [...new Set(repairs.map(({ workspaceId }) => workspaceId))],
    },
  }
}

/** Everything of a day, and nothing else. */
export function wholeDayPlan(day: number): RecomputePlan {
  return { units: [wholeDay(day)], wholeDays: [day], corrections: { spans: [], workspaceIds: [] } }
}

function wholeDay(day: number): Unit {
  return { hours: { start: day * 24, end: (day + 1) * 24 }, keys: undefined }
}

/** Keys whose hours lie within a day of each other are one unit: both would read the same rows. */
function gather(keys: readonly HourKey[]): Unit[] {
  const units: { hours: HourSpan; keys: HourKey[] }[] = []
  for (const key of [...keys].sort((a, b) => a.hour - b.hour)) {
    const open = units.at(-1)
    const isNear = open !== undefined && key.hour - open.hours.end <= sessionHours
    if (isNear && key.hour - open.hours.start < aggregateStatementDaysMax * 24) {
      open.keys.push(key)
      open.hours = { start: open.hours.start, end: key.hour + 1 }
    } else {
      units.push({ hours: { start: key.hour, end: key.hour + 1 }, keys: [key] })
    }
  }
  return units
}

function uniteSpans(spans: readonly HourSpan[]): HourSpan[] {
  const united: { start: number; end: number }[] = []
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = united.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else united.push({ start, end })
  }
  return united
}

function withoutDays(spans: readonly HourSpan[], days: readonly number[]): HourSpan[] {
  return days.reduce<HourSpan[]>(
    (left, day) =>
      left.flatMap(({ start, end }) =>
        [
          { start, end: Math.min(end, day * 24) },
          { start: Math.max(start, (day + 1) * 24), end },
        ].filter((span) => span.start < span.end),
      ),
    [...spans],
  )
}
