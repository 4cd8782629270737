/**
 * Compares two builds of one workspace, of one moment, day by day. Where older events were deleted at the end of their
 * retention, a build of today can't know what came before: days that lie too near to it are left out, and appearances before
 * it count as none.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { sumNames } from '../../clickhouse/rollups/cells.ts'
import { creditColumns, sessionColumns, visitorColumns } from '../../clickhouse/rollups/tables.ts'
import type { FigureBuild } from '../../postgres/tables/figure-builds.ts'
import { creditWindowMs, foldDeadlineMs } from '../../schemas/limits.ts'
import { dayMs } from '../../schemas/time-zone.ts'

const ofBuild = ['workspace_id', 'build', 'version', 'folded']
const compared = (columns: readonly string[]) => columns.filter((name) => !ofBuild.includes(name)).map(comparedColumn)

function comparedColumn(name: string): string {
  if (name === 'keys') return 'arraySort(keys)'
  if (name === 'page_prev_day') return `arrayMap(prev -> ${isKept('prev')}, page_prev_day)`
  return name.endsWith('prev_day') ? isKept(name) : name
}

function isKept(prevDay: string): string {
  return `if(${prevDay} < {kept_from:UInt16}, 0, ${prevDay})`
}

/** By table, SQL of what is compared of a row; lists whose order says nothing are sorted. */
const rowsOf: Readonly<Record<string, readonly string[]>> = {
  sessions: compared(sessionColumns),
  visitors: compared(visitorColumns),
  credits: compared(creditColumns),
  cells: [
    ...['day', 'toUInt8(kind)', 'key', 'detail', ...sumNames, 'conversions', 'title', 'is_cut'],
    'arraySum((prev, n) -> if(prev < {kept_from:UInt16}, n, 0), prev_days, prev_counts)',
    'arraySort(arrayFilter(counted -> counted.1 >= {kept_from:UInt16}, arrayZip(prev_days, prev_counts)))',
    'arraySort(arrayZip(vital_metric, vital_value, vital_samples))',
    // Sums of floats differ in their last digits with the order of adding.
    'arraySort(arrayZip(metric_metric, arrayMap(total -> round(total, 3), metric_total), metric_latest))',
  ],
}

/** A credit looks back so many days, and one more for the hour of the day; a session one. */
const lookBackDays = creditWindowMs / dayMs + 2

/**
 * @param keptFrom the local day before which events are deleted
 * @returns how many local days have other rows in the one than in the other
 */
export async function countDifferentDays(
  ch: Pick<ClickHouse, 'query'>,
  one: Pick<FigureBuild, 'build' | 'workspaceId'>,
  other: Pick<FigureBuild, 'build'>,
  keptFrom: number,
): Promise<number> {
  const ofBuilds = { workspace: one.workspaceId, builds: [one.build, other.build] }
  const [first] = await ch.query<{ day: number }>(
    'SELECT min(day) AS day FROM sessions WHERE workspace_id = {workspace:UInt32} AND build IN {builds:Array(UInt32)}',
    ofBuilds,
  )
  // A workspace that began later has lost nothing.
  const isCut = first!.day <= keptFrom + 1
  const params = { ...ofBuilds, kept_from: isCut ? keptFrom + 1 : 0, from: isCut ? keptFrom + lookBackDays : 0 }
  const days = new Set<number>()
  for (const [table, columns] of Object.entries(rowsOf)) {
    // Cells of keys that a day doesn't have any more stay under an older version.
    const isNewest =
      table === 'cells'
        ? `AND (build, day, version) IN (SELECT build, day, max(version) FROM cells
            WHERE workspace_id = {workspace:UInt32} AND build IN {builds:Array(UInt32)} GROUP BY build, day)`
        : ''
    const rows = await ch.query<{ day: number }>(
      `SELECT day FROM (
         SELECT day, build, count() AS n, groupBitXor(cityHash64(${columns.join(', ')})) AS digest FROM ${table} FINAL
         WHERE workspace_id = {workspace:UInt32} AND build IN {builds:Array(UInt32)} AND day >= {from:UInt16} ${isNewest} GROUP BY day, build)
       GROUP BY day HAVING count() != 2 OR uniqExact(n, digest) != 1`,
      params,
      { deadlineMs: foldDeadlineMs },
    )
    for (const { day } of rows) days.add(day)
  }
  return days.size
}
