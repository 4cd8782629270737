/**
 * Compares two builds of one workspace, of one moment, day by day. After retention has deleted older events, a build of
 * today can't know about earlier appearances. So days that lie too near to that time are left out, and appearances
 * before it count as none. A visitor with more events than a fold reads is left out, and so are the cells of its days. The
 * fold keeps such a visitor's old rows, but a build counts all events. Held by test/integration/fold-limits.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { spillingStatement } from '../../clickhouse/queries/reader.ts'
import { sumNames } from '../../clickhouse/rollups/appearance.ts'
import { creditColumns, sessionColumns, visitorColumns } from '../../clickhouse/rollups/tables.ts'
import type { FigureBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { creditWindowMs, foldDeadlineMs, storedEventsPerVisitorMax } from '../../schemas/limits/figure-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'

const ofBuild = ['workspace_id', 'build', 'version', 'folded']
const compared = (columns: readonly string[]) => columns.filter((name) => !ofBuild.includes(name)).map(comparedColumn)

function comparedColumn(name: string): string {
  if (name === 'keys') return 'arraySort(keys)'
  return name === 'seen.prev_day' ? `arrayMap(prev -> ${isKept('prev')}, seen.prev_day)` : name
}

function isKept(prevDay: string): string {
  return `if(${prevDay} < {kept_from:UInt16}, 0, ${prevDay})`
}

const inBuilds = 'workspace_id = {workspace:UInt32} AND build IN {builds:Array(UInt32)} AND day >= {from:UInt16}'
/** Cells that are known to be stale are no difference. */
const inFreshCells = `${inBuilds} AND day NOT IN {stale:Array(UInt16)}`
const allOf = (table: string) =>
  `(SELECT * FROM ${table} FINAL WHERE ${inBuilds} AND toString(visitor) NOT IN {left_out:Array(String)})`
/** By previous day; the days that a build can't know about count as one. */
const histogram = `sumMap(arrayMap(prev -> ${isKept('prev')}, seen.prev_days), seen.visitors)`
const cellSums = sumNames.map((name) => `sum(seen.${name})`)

/** SQL of rows, and of each row's compared columns; lists whose order says nothing are sorted. */
const comparedRows: readonly (readonly [rows: string, columns: readonly string[]])[] = [
  [allOf('sessions'), compared(sessionColumns)],
  [allOf('visitors'), compared(visitorColumns)],
  [allOf('credits'), compared(creditColumns)],
  [
    `(SELECT build, day, kind, seen.key AS seen_key, seen.detail AS detail, ${histogram} AS visitors, [${cellSums.join(', ')}] AS sums
      FROM cells FINAL ARRAY JOIN seen WHERE ${inFreshCells} GROUP BY build, day, kind, seen_key, detail)`,
    ['day', 'kind', 'seen_key', 'detail', 'visitors', 'sums'],
  ],
  [
    // A day that lost all its events has cells of nothing, where a new build has none.
    `(SELECT * FROM cells FINAL WHERE ${inFreshCells} AND (notEmpty(seen.key) OR notEmpty(sample.metric)))`,
    ['day', 'kind', 'key', 'is_cut', `arraySort(arrayZip(sample.metric, sample.values, sample.counts, sample.latest))`],
  ],
]

/**
 * SQL of days whose totals differ. Sums of floats do so in their last digits with the order of adding, and rounding
 * would tell apart those beside a half.
 */
const daysOfOtherTotals = `SELECT DISTINCT day FROM (
    SELECT day, min(sample.total) AS least, max(sample.total) AS most FROM cells FINAL ARRAY JOIN sample
    WHERE ${inFreshCells} GROUP BY day, kind, key, sample.metric)
  WHERE most - least > 1e-6 * greatest(most, 1)`

/** A credit looks back for its window of days, and one more for the hour of the day; a session looks back one day. */
const lookBackDays = creditWindowMs / dayMs + 2

/**
 * @param keptFrom the local day before which events are deleted
 * @param eventsMax visitors with more events aren't compared
 * @returns how many local days have other rows in the one than in the other
 */
export async function countDifferentDays(
  ch: Pick<ClickHouse, 'query'>,
  one: Pick<FigureBuild, 'build' | 'workspaceId' | 'staleDays'>,
  other: Pick<FigureBuild, 'build' | 'staleDays'>,
  keptFrom: number,
  eventsMax: number = storedEventsPerVisitorMax,
): Promise<number> {
  const ofBuilds = { workspace: one.workspaceId, builds: [one.build, other.build] }
  const [first] = await ch.query<{ day: number }>(
    'SELECT min(day) AS day FROM sessions WHERE workspace_id = {workspace:UInt32} AND build IN {builds:Array(UInt32)}',
    ofBuilds,
  )
  // A workspace that began later has lost nothing.
  const isCut = first!.day <= keptFrom + 1
  const leftOut = await readLargestVisitors(ch, ofBuilds, eventsMax)
  const params = {
    ...ofBuilds,
    left_out: leftOut.visitors,
    stale: [...one.staleDays, ...other.staleDays, ...leftOut.days],
    kept_from: isCut ? keptFrom + 1 : 0,
    from: isCut ? keptFrom + lookBackDays : 0,
  }
  const days = new Set<number>()
  const statements = comparedRows.map(
    ([rowsSql, columns]) =>
      `SELECT day FROM (
         SELECT day, build, count() AS n, groupBitXor(cityHash64(${columns.join(', ')})) AS digest FROM ${rowsSql} GROUP BY day, build)
       GROUP BY day HAVING count() != 2 OR uniqExact(n, digest) != 1`,
  )
  for (const sql of [...statements, daysOfOtherTotals]) {
    const rows = await ch.query<{ day: number }>(sql, params, { deadlineMs: foldDeadlineMs })
    for (const { day } of rows) days.add(day)
  }
  return days.size
}

/** Visitors with more than `eventsMax` events, and the days on which they have rows. */
async function readLargestVisitors(
  ch: Pick<ClickHouse, 'query'>,
  ofBuilds: { readonly workspace: number; readonly builds: readonly number[] },
  eventsMax: number,
): Promise<{ readonly visitors: string[]; readonly days: number[] }> {
  const options = { isLong: true, deadlineMs: foldDeadlineMs } as const
  const largest = await ch.query<{ whose: string }>(
    `SELECT toString(visitor) AS whose FROM events WHERE workspace_id = {workspace:UInt32} AND visitor != 0
     GROUP BY visitor HAVING count() > {max:UInt64}`,
    { ...ofBuilds, max: eventsMax },
    // A workspace may have very many visitors.
    { ...options, settings: spillingStatement },
  )
  const visitors = largest.map(({ whose }) => whose)
  if (visitors.length === 0) return { visitors, days: [] }
  const days = await ch.query<{ day: number }>(
    `SELECT DISTINCT day FROM visitors WHERE workspace_id = {workspace:UInt32} AND build IN {builds:Array(UInt32)}
       AND visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))`,
    { ...ofBuilds, visitors },
    options,
  )
  return { visitors, days: days.map(({ day }) => day) }
}
