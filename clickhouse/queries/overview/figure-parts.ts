/** Shared by the parts of the statement of figures: periods, their parameters, and how a part is written. */
import { cellKinds, type SumName, sumNames } from '../../rollups/appearance.ts'
import { moment } from '../../rollups/event-sql.ts'
import type { DaySpan, Pieces } from './pieces.ts'

const { all } = cellKinds

/** In the order in which they are answered. */
export const figureNames = [
  'visitors',
  'bucket_visitors',
  'sessions',
  'bucket_sessions',
  'pageviews',
  'events',
  'conversions',
  'begun',
  'bounces',
  'duration_ms',
  'samples',
  'is_cut',
] as const

export type FigureName = (typeof figureNames)[number]

/** SQL of a figure in the answered array. */
export function figure(name: FigureName): string {
  return `f[${figureNames.indexOf(name) + 1}]`
}

/** SQL condition: the rows of `sessions` reflect the event. */
export const isFolded = 'arrayExists(range->id>=range.1 AND id<=range.2,coverage.1)'

export const inWorkspace = 'workspace_id={workspace:UInt32}'

export const inBuild = `${inWorkspace} AND build={build:UInt32}`

export interface PeriodSql {
  /** Tells the periods of a statement apart. */
  readonly number: number
  readonly pieces: Pieces
  readonly wanted: 'all kinds' | 'totals'
  readonly cells: CellDays
  /** Whether kind `all` is divided into buckets of days, by the parameter `bucket_days`. */
  readonly hasDayBuckets: boolean
}

/** Local days whose cells have all that `sessions` has. */
export interface CellDays {
  /** The last one; -1: there is none. */
  readonly through: number
  /** Days up to it that aren't among them; ascending. */
  readonly stale: readonly number[]
}

/** Parameters of one period, named by its number. */
export function periodParams({ number, pieces, cells }: PeriodSql): Record<string, number | readonly number[]> {
  const { start, end, sinceDay, cutStart, days, cutEnd } = pieces
  const closed = closedDays(days, cells)
  const open = openDays(days, cells)
  const values = {
    start,
    end,
    since: sinceDay,
    closed_from: closed.from,
    closed_to: Math.max(0, closed.to),
    open_from: open.from,
    open_to: Math.max(0, open.to),
    stale: staleDays(days, cells),
    sessions_from: countedFromSessions(pieces, cells) ?? 0,
    cut_start_end: cutStart?.end ?? start,
    cut_end_start: cutEnd?.start ?? end,
    cut_end_day: cutEnd?.day ?? 0,
    last_day: Math.max(days.to, cutEnd?.day ?? 0),
  }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${name}_${number}`, value]))
}

/** Days that have cells, stale ones included. */
export function closedDays({ from, to }: DaySpan, { through }: CellDays): DaySpan {
  return { from, to: Math.min(to, through) }
}

export function staleDays(days: DaySpan, cells: CellDays): number[] {
  const { from, to } = closedDays(days, cells)
  return cells.stale.filter((day) => day >= from && day <= to)
}

export function openDays({ from, to }: DaySpan, { through }: CellDays): DaySpan {
  return { from: Math.max(from, through + 1), to }
}

/** The first day that is counted from `sessions`; undefined: none is. */
export function countedFromSessions({ days, cutEnd }: Pieces, cells: CellDays): number | undefined {
  const open = openDays(days, cells)
  return staleDays(days, cells)[0] ?? (isSome(open) ? open.from : cutEnd?.day)
}

export const isSome = ({ from, to }: DaySpan) => from <= to

/** One part of the statement: a SELECT of some figures, which add up over all parts. */
export function part(
  period: number | string,
  keys: string,
  figures: Partial<Record<FigureName, string>>,
  source: string,
): string {
  return `SELECT ${period} AS period,${keys},${figureNames.map((name) => `${figures[name] ?? '0'} AS ${name}`).join(',')} ${source}`
}

/** SQL of names that a part uses, for its period: parameters, and the first local day of a day's bucket. */
export function termsOf({ number, hasDayBuckets }: PeriodSql) {
  const value = (name: string, type: string) => `{${name}_${number}:${type}}`
  const day = (name: string) => value(name, 'UInt16')
  const at = (name: string) => moment(`${name}_${number}`)
  const bucket = 'roundDown(day,{bucket_days:Array(UInt16)})'
  return {
    day,
    at,
    value,
    since: day('since'),
    /** Kind `all` alone is divided. */
    bucket: hasDayBuckets ? `if(kind=${all},${bucket},0)` : '0',
    /** Who was seen since then isn't new to the bucket. */
    bucketSince: `greatest(${bucket},${day('since')})`,
  }
}

/** Figures that are a sum of `seen` as it is. */
export const plainSums: Partial<Record<FigureName & SumName, string>> = Object.fromEntries(
  sumNames.filter((name) => name !== 'sessions' && name !== 'fresh').map((name) => [name, `seen.${name}`]),
)

/** Figures of a bucket, where the period is divided into buckets of days. */
export function ofBucket(
  { hasDayBuckets }: PeriodSql,
  visitors: string,
  sessions: string,
): Partial<Record<FigureName, string>> {
  return hasDayBuckets ? { bucket_visitors: visitors, bucket_sessions: sessions } : {}
}

/** The rows of hour buckets count for the series alone, and that of the coverage for nothing. */
export const seriesPeriod = 2
