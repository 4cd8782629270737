/** Compares what readers see of the aggregates with what the raw rows give, hour by hour and as whole days. */
import { contributionsSql } from '../../clickhouse/aggregates/contributions.ts'
import { keyOfHour, keyOfHourSql, liveRowsIn } from '../../clickhouse/aggregates/live-rows.ts'
import { type HourSpan, hourMs, type RowScope, sessionHours } from '../../clickhouse/aggregates/row-scope.ts'
import { type AggregateName, type AggregateTable, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Queryable } from '../../postgres/client.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import type { AggregateSnapshot, LiveGeneration } from '../../schemas/aggregate-snapshot.ts'
import { aggregateDifferencesMax } from '../../schemas/limits.ts'
import { aggregateNames, heavyStatement } from './attempt.ts'
import { liveRowsOf } from './live.ts'
import { creditHours } from './recompute-plan.ts'

/** An hour of a workspace, or with `isDay` its UTC day from that hour on, of which a table says something else. */
export interface Difference {
  readonly table: AggregateName
  readonly workspaceId: number
  readonly hour: number
  readonly isDay: boolean
}

export interface CheckOptions {
  /** Undefined: all. */
  readonly workspaceIds?: readonly number[]
  /** By workspace, the moment before which its rows may have been deleted; milliseconds since 1970. */
  readonly keptFrom?: ReadonlyMap<number, number>
}

/**
 * The first differences of a UTC day that are there twice: what is committed, repaired or deleted while one comparison goes
 * on may look like one.
 */
export async function checkDayTwice(
  pg: Queryable,
  ch: ClickHouse,
  day: number,
  options: CheckOptions = {},
): Promise<Difference[]> {
  const check = async () => checkDays(ch, await readSnapshot(pg), { first: day, last: day }, options)
  const seen = new Set((await check()).map((one) => JSON.stringify(one)))
  return seen.size === 0 ? [] : (await check()).filter((one) => seen.has(JSON.stringify(one)))
}

/** The first differences of some UTC days. */
export async function checkDays(
  ch: ClickHouse,
  snapshot: AggregateSnapshot,
  days: { readonly first: number; readonly last: number },
  { workspaceIds, keptFrom = new Map() }: CheckOptions = {},
): Promise<Difference[]> {
  const found: Difference[] = []
  const hours = { start: days.first * 24, end: (days.last + 1) * 24 }
  const whole = snapshot.generations.filter(({ day, isWhole }) => isWhole && day >= days.first && day <= days.last)
  for (const name of aggregateNames) {
    found.push(...(await compare(ch, name, { snapshot, hours, workspaceIds, keptFrom })))
    if (whole.length > 0 && aggregateTables[name].hasDays) {
      found.push(...(await compare(ch, name, { snapshot, hours, workspaceIds, keptFrom, whole })))
    }
    if (found.length >= aggregateDifferencesMax) break
  }
  return found.slice(0, aggregateDifferencesMax)
}

interface Comparison {
  readonly snapshot: AggregateSnapshot
  readonly hours: HourSpan
  readonly workspaceIds: readonly number[] | undefined
  readonly keptFrom: ReadonlyMap<number, number>
  /** The generations with rows of whole days, to compare their days in place of hours. */
  readonly whole?: readonly LiveGeneration[]
}

async function compare(
  ch: ClickHouse,
  name: AggregateName,
  { snapshot, hours, workspaceIds, keptFrom, whole }: Comparison,
): Promise<Difference[]> {
  const table = aggregateTables[name]
  const scope: RowScope = {
    visible: snapshot.aggregated,
    uncounted: 'everything',
    hours,
    ...(workspaceIds === undefined ? {} : { workspaceIds }),
  }
  const computed = contributionsSql(name, scope, {
    touches: liveRowsOf(snapshot, hours.start - creditHours - 1, hours.end),
    conversions: undefined,
  })
  const live = liveRowsIn(liveRowsOf(snapshot, hours.start, hours.end), 'stored')
  const ofWorkspaces = workspaceIds === undefined ? '1' : 'workspace_id IN {workspaces:Array(UInt32)}'
  const isDay = whole !== undefined
  const hour = isDay ? 'intDiv(hour, 24) * 24' : 'hour'
  const ofDays = isDay
    ? `intDiv(hour, 24) IN {whole_days:Array(UInt32)} AND ${keyOfHourSql(hour)} NOT IN {recomputed:Array(UInt64)}`
    : '1'
  // What began in rows that are deleted by now looks different from those that are left, and no reader takes it from here.
  const isWhole = ['agg_sessions', 'agg_conversions'].includes(name)
    ? `toInt64(intDiv(hour, 24) * 24) * ${hourMs} >= ${keptFromSql} + ${2 * sessionHours * hourMs}`
    : `toInt64(${hour}) * ${hourMs} >= ${keptFromSql}`
  const rows = isDay ? 'is_day = (generation IN {whole:Array(UInt64)})' : 'is_day = 0'
  // As texts: the same value may have one type in the table and another where it is computed.
  const keys = ['workspace_id', hour, ...(name === 'agg_conversions' ? creditKeys(table.keys) : table.keys)]
  const names = keys.map((_, at) => `key_${at}`).join(', ')
  const { exact, floats } = shownColumns(table)
  const side = (source: string, sign: number) =>
    `SELECT ${keys.map((key, at) => `toString(${key}) AS key_${at}`).join(', ')}, ${sign} AS side,
       toString(tuple(${exact.map(({ sql }) => sql).join(', ')})) AS exact,
       [${floats.join(', ')}]::Array(Float64) AS floats
     FROM (${source}) WHERE ${ofDays} AND ${isWhole} GROUP BY ${names} HAVING ${hasAnything(exact)}`
  const stored = `SELECT * FROM ${name} WHERE ${live.sql} AND ${rows} AND ${ofWorkspaces}
    AND hour >= {hour_start:UInt32} AND hour < {hour_end:UInt32}`
  const differing = await ch.query<{ workspaceId: number; hour: number }>(
    `SELECT DISTINCT toUInt32(key_0) AS workspaceId, toUInt32(key_1) AS hour FROM (
       SELECT ${names} FROM (${side(stored, 1)} UNION ALL ${side(computed.sql, -1)})
       GROUP BY ${names}
       HAVING count() != 2 OR uniqExact(exact) != 1
         OR arrayExists((now, all) -> abs(now) > 1e-6 + 1e-9 * all,
              sumForEach(arrayMap(value -> value * side, floats)), sumForEach(arrayMap(value -> abs(value), floats)))
     ) ORDER BY workspaceId, hour LIMIT {limit:UInt32}`,
    {
      ...computed.params,
      ...live.params,
      ...(workspaceIds === undefined ? {} : { workspaces: workspaceIds }),
      ...(isDay ? daysWithRows(snapshot, whole) : {}),
      kept_workspaces: [...keptFrom.keys()],
      kept_from: [...keptFrom.values()],
      hour_start: hours.start,
      hour_end: hours.end,
      limit: aggregateDifferencesMax,
    },
    heavyStatement,
  )
  return differing.map((key) => ({ table: name, ...key, isDay }))
}

/** SQL of the moment before which rows of `workspace_id` may have been deleted. */
const keptFromSql = 'transform(workspace_id, {kept_workspaces:Array(UInt32)}, {kept_from:Array(Int64)}, toInt64(0))'

/** A touch that may have been deleted counts for no reader. */
function creditKeys(keys: readonly string[]): string[] {
  const isReadable = `toUnixTimestamp64Milli(touched_at) >= ${keptFromSql}`
  return keys.map((key) =>
    key === 'touched_at'
      ? `if(${isReadable}, toUnixTimestamp64Milli(touched_at), 0)`
      : key === 'source' || key === 'medium'
        ? `if(${isReadable}, ${key}, '')`
        : key,
  )
}

/** Day rows of a workspace say nothing any more once an hour of the day was computed anew: readers take its hours. */
function daysWithRows({ resets }: AggregateSnapshot, whole: readonly LiveGeneration[]): Record<string, number[]> {
  const wholeOf = new Map(whole.map(({ day, generation }) => [day, generation]))
  return {
    whole: whole.map(({ generation }) => generation),
    whole_days: whole.map(({ day }) => day),
    recomputed: resets
      .map(({ workspaceId, hour, generation }) => ({ workspaceId, day: Math.floor(hour / 24), generation }))
      .filter(({ day, generation }) => generation > (wholeOf.get(day) ?? Number.POSITIVE_INFINITY))
      .map(({ workspaceId, day }) => keyOfHour({ workspaceId, hour: day * 24 })),
  }
}

interface Shown {
  readonly sql: string
  /** Whether a 0 of it says nothing. */
  readonly isCount: boolean
}

/** Sums of floats depend on their order in the last digits, and are compared apart. */
function shownColumns({ columns }: AggregateTable): { exact: Shown[]; floats: string[] } {
  const exact: Shown[] = []
  const floats: string[] = []
  for (const [name, { merge, shown }] of Object.entries(columns)) {
    const sql = shown.replaceAll('?', name)
    if (name.endsWith('_total')) floats.push(merge.replaceAll('?', name))
    else exact.push({ sql, isCount: !shown.startsWith('max') })
  }
  return { exact, floats }
}

/** Rows that came to nothing are as good as none. */
function hasAnything(exact: readonly Shown[]): string {
  const counts = exact.filter(({ isCount }) => isCount)
  return counts.length === 0 ? '1' : counts.map(({ sql }) => `${sql} != 0`).join(' OR ')
}
