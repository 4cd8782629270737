/** Statements that compare two computations of the same aggregates, key by key. */
import { contributionsSql } from '../../clickhouse/aggregates/contributions.ts'
import { findChangedConversions } from '../../clickhouse/aggregates/credits.ts'
import { keyOfHour, keyOfHourSql, liveRowsIn } from '../../clickhouse/aggregates/live-rows.ts'
import { type HourSpan, ofWorkspaces, type RowScope, sessionHours } from '../../clickhouse/aggregates/row-scope.ts'
import { type AggregateName, type AggregateTable, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { AggregateSnapshot, LiveBlock, LiveGeneration } from '../../schemas/aggregate-snapshot.ts'
import { aggregateDifferencesMax, foundConversionsMax } from '../../schemas/limits.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import { heavyStatement } from './attempt.ts'
import { liveRowsOf } from './live.ts'
import { creditHours } from './recompute-plan.ts'

export interface Comparison {
  readonly snapshot: AggregateSnapshot
  readonly hours: HourSpan
  /** Undefined: of all. */
  readonly workspaceIds: readonly number[] | undefined
  /** By workspace, the moment before which its rows may have been deleted; milliseconds since 1970. */
  readonly keptFrom: ReadonlyMap<number, number>
}

/** Of workspaces, the first hour of what differs: of the hour itself, or of its day. */
export interface DifferingHour {
  readonly workspaceId: number
  readonly hour: number
}

/** The rows of hours with what the raw rows give. */
export async function compareHours(
  ch: ClickHouse,
  name: AggregateName,
  comparison: Comparison,
): Promise<DifferingHour[]> {
  const { snapshot, hours, workspaceIds } = comparison
  const scope: RowScope = {
    visible: snapshot.aggregated,
    uncounted: 'everything',
    hours,
    ...(workspaceIds === undefined ? {} : { workspaceIds }),
  }
  const isConversions = name === 'agg_conversions'
  const computed = contributionsSql(name, scope, {
    touches: liveRowsOf(snapshot, hours.start - creditHours - 1, hours.end),
    conversions: undefined,
    found: isConversions ? await findChangedConversions(ch, scope, foundConversionsMax, heavyStatement) : undefined,
  })
  // What began in rows that are deleted by now looks different from those that are left, and no reader takes it from here.
  const isKept = ['agg_sessions', 'agg_conversions'].includes(name)
    ? `toInt64(intDiv(hour, 24) * 24) * ${hourMs} >= ${keptFromSql} + ${2 * sessionHours * hourMs}`
    : `toInt64(hour) * ${hourMs} >= ${keptFromSql}`
  return compare(ch, name, comparison, {
    hour: 'hour',
    left: `SELECT * FROM (${storedRows(name, comparison, 'is_day = 0')}) WHERE ${isKept}`,
    right: `SELECT * FROM (${computed.sql}) WHERE ${isKept}`,
    params: {
      ...computed.params,
      kept_workspaces: [...comparison.keptFrom.keys()],
      kept_from: [...comparison.keptFrom.values()],
    },
  })
}

/** The rows of whole days, with those of hours that came later, with the rows of all their hours. */
export function compareDays(
  ch: ClickHouse,
  name: AggregateName,
  comparison: Comparison,
  whole: readonly LiveGeneration[],
): Promise<DifferingHour[]> {
  const day = 'intDiv(hour, 24)'
  const isCompared = `${day} IN {whole_days:Array(UInt32)} AND ${keyOfHourSql(`${day} * 24`)} NOT IN {recomputed:Array(UInt64)}`
  const ofDays = `is_day = (generation IN {whole:Array(UInt64)}) AND ${isCompared}`
  return compare(ch, name, comparison, {
    hour: `${day} * 24`,
    left: storedRows(name, comparison, ofDays),
    right: storedRows(name, comparison, `is_day = 0 AND ${isCompared}`),
    params: daysWithRows(comparison.snapshot, whole),
  })
}

/** The rows of a block with those of its whole days. */
export function compareBlock(
  ch: ClickHouse,
  name: AggregateName,
  comparison: Comparison,
  { generation, firstDay, days }: LiveBlock,
): Promise<DifferingHour[]> {
  const whole = comparison.snapshot.generations.filter(
    ({ day, isWhole }) => isWhole && day >= firstDay && day < firstDay + days,
  )
  return compare(ch, name, comparison, {
    hour: '{first_hour:UInt32}',
    left: `SELECT * FROM ${name} WHERE is_day = 1 AND generation = {block:UInt64} AND ${ofWorkspaces(comparison)}`,
    right: `SELECT * FROM ${name} WHERE is_day = 1 AND generation IN {whole:Array(UInt64)} AND ${ofWorkspaces(comparison)}`,
    params: { block: generation, whole: whole.map((one) => one.generation), first_hour: firstDay * 24 },
  })
}

interface Sides {
  /** SQL of the hour by which rows are compared. */
  readonly hour: string
  /** SQL of rows with the columns of the table. */
  readonly left: string
  readonly right: string
  readonly params: Readonly<Record<string, unknown>>
}

async function compare(
  ch: ClickHouse,
  name: AggregateName,
  { snapshot, hours, workspaceIds }: Comparison,
  { hour, left, right, params }: Sides,
): Promise<DifferingHour[]> {
  const table = aggregateTables[name]
  // As texts: the same value may have one type in the table and another where it is computed.
  const keys = ['workspace_id', hour, ...(name === 'agg_conversions' ? creditKeys(table.keys) : table.keys)]
  const names = keys.map((_, at) => `key_${at}`).join(', ')
  const { exact, floats } = shownColumns(table)
  const side = (source: string, sign: number) =>
    `SELECT ${keys.map((key, at) => `toString(${key}) AS key_${at}`).join(', ')}, ${sign} AS side,
       toString(tuple(${exact.map(({ sql }) => sql).join(', ')})) AS exact,
       [${floats.join(', ')}]::Array(Float64) AS floats
     FROM (${source}) GROUP BY ${names} HAVING ${hasAnything(exact)}`
  return ch.query<DifferingHour>(
    `SELECT DISTINCT toUInt32(key_0) AS workspaceId, toUInt32(key_1) AS hour FROM (
       SELECT ${names} FROM (${side(left, 1)} UNION ALL ${side(right, -1)})
       GROUP BY ${names}
       HAVING count() != 2 OR uniqExact(exact) != 1
         OR arrayExists((now, all) -> abs(now) > 1e-6 + 1e-9 * all,
              sumForEach(arrayMap(value -> value * side, floats)), sumForEach(arrayMap(value -> abs(value), floats)))
     ) ORDER BY workspaceId, hour LIMIT {limit:UInt32}`,
    {
      ...params,
      ...liveRowsIn(liveRowsOf(snapshot, hours.start, hours.end), 'stored').params,
      ...(workspaceIds === undefined ? {} : { workspaces: workspaceIds }),
      hour_start: hours.start,
      hour_end: hours.end,
      limit: aggregateDifferencesMax,
    },
    heavyStatement,
  )
}

function storedRows(name: AggregateName, { snapshot, hours, workspaceIds }: Comparison, condition: string): string {
  const live = liveRowsIn(liveRowsOf(snapshot, hours.start, hours.end), 'stored')
  return `SELECT * FROM ${name} WHERE ${live.sql} AND ${condition} AND ${ofWorkspaces({ workspaceIds })}
    AND hour >= {hour_start:UInt32} AND hour < {hour_end:UInt32}`
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
