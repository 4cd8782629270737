/** Compares what readers see of the aggregates with what the raw rows give, hour by hour and as whole days. */
import { contributionsSql } from '../../clickhouse/aggregates/contributions.ts'
import { liveRowsIn } from '../../clickhouse/aggregates/live-rows.ts'
import type { RowScope } from '../../clickhouse/aggregates/row-scope.ts'
import { type AggregateName, type AggregateTable, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { AggregateSnapshot } from '../../schemas/aggregate-snapshot.ts'
import { aggregateDifferencesMax } from '../../schemas/limits.ts'
import { aggregateNames, heavyStatement } from './attempt.ts'
import { creditHours, liveRowsOf } from './delta.ts'

/** An hour of a workspace, or with `isDay` its UTC day from that hour on, of which a table says something else. */
export interface Difference {
  readonly table: AggregateName
  readonly workspaceId: number
  readonly hour: number
  readonly isDay: boolean
}

/**
 * The first differences of a UTC day.
 * @param workspaceIds undefined: of all
 */
export async function checkDay(
  ch: ClickHouse,
  snapshot: AggregateSnapshot,
  day: number,
  workspaceIds?: readonly number[],
): Promise<Difference[]> {
  const found: Difference[] = []
  const whole = snapshot.generations.find((one) => one.day === day && one.isWhole)
  for (const name of aggregateNames) {
    found.push(...(await compare(ch, name, { snapshot, day, workspaceIds })))
    if (whole !== undefined && aggregateTables[name].hasDays) {
      found.push(...(await compare(ch, name, { snapshot, day, workspaceIds, whole: whole.generation })))
    }
    if (found.length >= aggregateDifferencesMax) break
  }
  return found.slice(0, aggregateDifferencesMax)
}

interface Comparison {
  readonly snapshot: AggregateSnapshot
  readonly day: number
  readonly workspaceIds: readonly number[] | undefined
  /** The generation with the rows of the whole day, to compare days in place of hours. */
  readonly whole?: number
}

async function compare(
  ch: ClickHouse,
  name: AggregateName,
  { snapshot, day, workspaceIds, whole }: Comparison,
): Promise<Difference[]> {
  const table = aggregateTables[name]
  const hours = { start: day * 24, end: (day + 1) * 24 }
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
  const isDay = whole !== undefined
  const ofWorkspaces = workspaceIds === undefined ? '1' : 'workspace_id IN {workspaces:Array(UInt32)}'
  // Day rows stand for the hours of their generation; hours computed anew since then are told from them no more.
  const rows = isDay
    ? `is_day = (generation = {whole:UInt64}) AND workspace_id NOT IN {recomputed:Array(UInt32)}`
    : 'is_day = 0'
  // As texts: the same value may have one type in the table and another where it is computed.
  const keys = ['workspace_id', ...(isDay ? [] : ['hour']), ...table.keys]
  const names = keys.map((_, at) => `key_${at}`).join(', ')
  const { exact, floats } = shownColumns(table)
  const side = (from: string, sign: number) =>
    `SELECT ${keys.map((key, at) => `toString(${key}) AS key_${at}`).join(', ')}, ${sign} AS side,
       toString(tuple(${exact.map(({ sql }) => sql).join(', ')})) AS exact,
       [${floats.join(', ')}]::Array(Float64) AS floats
     FROM (${from}) GROUP BY ${names} HAVING ${hasAnything(exact)}`
  const recomputed = isDay
    ? snapshot.resets.filter(({ hour, generation }) => Math.floor(hour / 24) === day && generation > whole)
    : []
  const differing = await ch.query<{ workspaceId: number; hour: number }>(
    `SELECT DISTINCT toUInt32(key_0) AS workspaceId, toUInt32(${isDay ? '{hour_start:UInt32}' : 'key_1'}) AS hour FROM (
       SELECT ${names} FROM (
         ${side(
           `SELECT * FROM ${name} WHERE ${live.sql} AND ${rows} AND ${ofWorkspaces}
           AND hour >= {hour_start:UInt32} AND hour < {hour_end:UInt32}`,
           1,
         )}
         UNION ALL
         ${side(`SELECT * FROM (${computed.sql})${isDay ? ' WHERE workspace_id NOT IN {recomputed:Array(UInt32)}' : ''}`, -1)}
       )
       GROUP BY ${names}
       HAVING count() != 2 OR uniqExact(exact) != 1
         OR arrayExists((now, all) -> abs(now) > 1e-6 + 1e-9 * all,
              sumForEach(arrayMap(value -> value * side, floats)), sumForEach(arrayMap(value -> abs(value), floats)))
     ) ORDER BY workspaceId, hour LIMIT {limit:UInt32}`,
    {
      ...computed.params,
      ...live.params,
      ...(workspaceIds === undefined ? {} : { workspaces: workspaceIds }),
      ...(isDay ? { whole, recomputed: recomputed.map(({ workspaceId }) => workspaceId) } : {}),
      hour_start: hours.start,
      hour_end: hours.end,
      limit: aggregateDifferencesMax,
    },
    heavyStatement,
  )
  return differing.map((key) => ({ table: name, ...key, isDay }))
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
