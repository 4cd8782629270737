/** The UTC days that `aggregates check` and `aggregates rebuild` are about. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { AggregateSnapshot } from '../../schemas/aggregate-snapshot.ts'
import { dayMs } from '../../schemas/time-zone.ts'
import { type Option, type OptionValues, UsageError } from '../command.ts'

export const dayOptions: Readonly<Record<string, Option>> = {
  from: {
    value: 'DAY',
    meaning: 'The first UTC day, YYYY-MM-DD; the first that has events or aggregates when left out.',
  },
  to: { value: 'DAY', meaning: 'The last one; the last that has events or aggregates when left out.' },
}

/** Both ends belong to it; days since 1970. */
export interface DaySpan {
  readonly first: number
  readonly last: number
}

/** @throws UsageError naming the option that isn't a day, or is before the other one */
export function readDaySpan(options: OptionValues): DaySpan {
  const first = readDay(options, 'from') ?? 0
  const last = readDay(options, 'to') ?? Number.MAX_SAFE_INTEGER
  if (first > last) throw new UsageError('--from must not be after --to')
  return { first, last }
}

function readDay(options: OptionValues, name: string): number | undefined {
  const text = options.text(name)
  if (text === undefined) return undefined
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (time >= 0 && showDay(time / dayMs) === text) return time / dayMs
  throw new UsageError(`--${name} must be a day such as 2030-01-31, got \`${text}\``)
}

export function showDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** Days of the span of which there are raw rows or aggregates, ascending. */
export async function daysWithin(
  ch: ClickHouse,
  { generations }: AggregateSnapshot,
  { first, last }: DaySpan,
): Promise<number[]> {
  const stored = await ch.query<{ day: number }>(
    `SELECT DISTINCT toUInt32(toDate(partition)) AS day FROM system.parts
     WHERE database = currentDatabase() AND table = 'events' AND active`,
  )
  const days = new Set([...stored, ...generations].map(({ day }) => day))
  return [...days].filter((day) => day >= first && day <= last).sort((a, b) => a - b)
}
