/** Writes the cells of local days that are over, and writes them again after late events. */

import { tuplesIn } from '../../clickhouse/bound-sql.ts'
import { composedStatement } from '../../clickhouse/queries/reader.ts'
import { writeCellsSql } from '../../clickhouse/rollups/cells.ts'
import { idsIn, isSample } from '../../clickhouse/rollups/event-sql.ts'
import {
  type BuildDay,
  type FigureBuild,
  listBuildsToClose,
  listStaleCells,
  listZonesOfFigures,
  markCellsFresh,
  postponeStaleCells,
  raiseCellsThrough,
} from '../../postgres/tables/figures/figure-builds.ts'
import { rangesOf, readFoldState, takeFoldVersion } from '../../postgres/tables/figures/folds.ts'
import { groupBy, inPortions } from '../../runtime/lists.ts'
import {
  cellDaysPerStatement,
  cellSessionsPerStatement,
  closeRetryMs,
  closingMaxMs,
  dayClosedAfterMs,
  foldDeadlineMs,
  renewedSessionsMax,
} from '../../schemas/limits/figure-limits.ts'
import { localDays } from '../../schemas/time/local-days.ts'
import { localDayAt, startOfLocalDay } from '../../schemas/time/time-zone.ts'
import type { DerivationOptions, LeasedStores } from './fold.ts'
import { groupReadTogether } from './groups.ts'

/** One block for each insert: readers see a day's new cells whole. */
const oneBlock = {
  max_insert_threads: 1,
  min_insert_block_size_rows: 10_000_000,
  min_insert_block_size_bytes: 0,
  insert_deduplicate: 0,
}

/** Writes the cells of these days anew. */
export async function writeCells(
  ch: LeasedStores['ch'],
  days: readonly BuildDay[],
  { version, visible }: DerivationOptions,
): Promise<void> {
  for (const group of groupReadTogether(days).flatMap((group) => inPortions(group, cellDaysPerStatement))) {
    const [from, to] = [Math.min(...group.map(({ day }) => day)), Math.max(...group.map(({ day }) => day))]
    const calendar = localDays(
      group[0]!.timezone,
      startOfLocalDay(from, group[0]!.timezone),
      startOfLocalDay(to, group[0]!.timezone),
    )
    const seen = idsIn(visible, 'visible')
    const chosen = `SELECT t.1 AS workspace_id, t.2 AS build, t.3 AS day
      FROM ${tuplesIn({ workspaces: 'UInt32', builds: 'UInt32', days: 'UInt16' })}`
    const events = `SELECT workspace_id, id, occurred_at, path, title, metric, metric_value,
        kind = 'pageview' AND title != '' AS is_titled, ${isSample} AS is_sample, transform(workspace_id, {workspaces:Array(UInt32)}, {builds:Array(UInt32)}, toUInt32(0)) AS build,
        transform(roundDown(toUnixTimestamp64Milli(occurred_at), {day_starts:Array(Int64)}), {day_starts:Array(Int64)}, {day_numbers:Array(UInt16)}, toUInt16(0)) AS day
      FROM events
      WHERE workspace_id IN {workspaces:Array(UInt32)} AND ${seen.sql} AND (workspace_id, build, day) IN (${chosen})
        AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND occurred_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`
    await ch.command(
      writeCellsSql(chosen, events),
      {
        ...seen.params,
        version,
        workspaces: group.map(({ workspaceId }) => workspaceId),
        builds: group.map(({ build }) => build),
        days: group.map(({ day }) => day),
        day_starts: calendar.starts,
        day_numbers: calendar.numbers,
        from: calendar.startOf(from),
        to: calendar.startOf(nextDay(calendar.numbers, to)),
      },
      { deadlineMs: foldDeadlineMs, settings: { ...composedStatement, ...oneBlock } },
    )
  }
}

/**
 * Writes the cells of days that ended since the last call, and marks those days closed. If a statement fails, it bisects the
 * workspaces, so that one costly day doesn't block the others. Folds wait meanwhile, so bisecting has a time limit.
 * @param now milliseconds since 1970
 * @param heldUntil by build, as `performance.now()`: it is left out until then, as its days couldn't be written
 * @throws {CellsError}
 */
export async function closeDays(
  work: LeasedStores,
  now: number,
  heldUntil: Map<number, number> = new Map(),
): Promise<void> {
  const zones = await listZonesOfFigures(work.pg)
  const open = await listBuildsToClose(work.pg, new Map(zones.map((zone) => [zone, lastClosedDay(zone, now)])))
  for (const [build, until] of heldUntil) if (until <= performance.now()) heldUntil.delete(build)
  const due = open.filter(({ build }) => !heldUntil.has(build))
  let failure: unknown
  const endAt = performance.now() + closingMaxMs
  const close = async (builds: readonly FigureBuild[], day: number): Promise<void> => {
    try {
      await closeDay(work, builds, day)
    } catch (error) {
      // A lost lease, or a ClickHouse that is away, is no workspace's fault.
      await work.ensureLease()
      if (!(error instanceof CellsError) || !(await work.ch.ping())) throw error
      failure = error
      if (builds.length === 1 || performance.now() > endAt) {
        // Staggered, so that the retries come in small groups.
        for (const [nth, { build }] of builds.entries())
          heldUntil.set(build, performance.now() + (closeRetryMs * (nth + 1)) / builds.length)
        return
      }
      const middle = Math.ceil(builds.length / 2)
      await close(builds.slice(0, middle), day)
      await close(builds.slice(middle), day)
    }
  }
  for (const [day, builds] of groupBy(due, ({ timezone }) => lastClosedDay(timezone, now))) await close(builds, day)
  if (failure !== undefined) throw failure
}

async function closeDay(work: LeasedStores, builds: readonly FigureBuild[], day: number): Promise<void> {
  const version = await writeCellsOf(work, builds, () => day).catch((error) => {
    throw new CellsError(error)
  })
  await work.ensureLease()
  await raiseCellsThrough(
    work.pg,
    builds.map(({ build }) => build),
    { day, version },
  )
}

/** Cells couldn't be written, for its `cause`. The next time others of the stale ones come first. */
export class CellsError extends Error {
  constructor(cause: unknown) {
    super('cells could not be written', { cause })
  }
}

/**
 * Writes stale cells anew: some days, those that are stale for longest first.
 * @returns whether there were any
 * @throws {CellsError}
 */
export async function renewCells(work: LeasedStores): Promise<boolean> {
  await work.ensureLease()
  const stale = await listStaleCells(work.pg, cellDaysPerStatement)
  if (stale.length > 0) await renewDays(work, stale)
  return stale.length > 0
}

/**
 * Writes the first of some days with stale cells anew.
 * @returns those that were written
 * @throws {CellsError}
 */
export async function renewDays(
  { pg, ch, ensureLease }: LeasedStores,
  stale: readonly BuildDay[],
): Promise<readonly BuildDay[]> {
  // Before the state is read: a later fold writes rows with a higher version.
  const version = await takeFoldVersion(pg)
  const visible = rangesOf((await readFoldState(pg)).folded)
  let days: readonly BuildDay[] = stale
  try {
    days = firstOf(stale, await countSessions(ch, stale))
    await writeCells(ch, days, { version, visible })
  } catch (error) {
    await postponeStaleCells(pg, days)
    throw new CellsError(error)
  }
  await ensureLease()
  await markCellsFresh(pg, days, version)
  return days
}

/** As many of the days as take about as long as is allowed; one at least. */
function firstOf(stale: readonly BuildDay[], sessions: ReadonlyMap<string, number>): BuildDay[] {
  let left = renewedSessionsMax
  return stale.filter(({ build, day }, at) => {
    left -= sessions.get(`${build} ${day}`) ?? 0
    return at === 0 || left >= 0
  })
}

/** @returns rows by build and day, roughly: versions of a row count as rows until they are merged */
async function countSessions(ch: LeasedStores['ch'], days: readonly BuildDay[]): Promise<Map<string, number>> {
  const rows = await ch.query<{ build: number; day: number; sessions: number }>(
    `SELECT build, day, count() AS sessions FROM sessions
     WHERE (workspace_id, build, day) IN (
       SELECT t.1, t.2, t.3 FROM ${tuplesIn({ workspaces: 'UInt32', builds: 'UInt32', days: 'UInt16' })})
     GROUP BY build, day`,
    {
      workspaces: days.map(({ workspaceId }) => workspaceId),
      builds: days.map(({ build }) => build),
      days: days.map(({ day }) => day),
    },
    { deadlineMs: foldDeadlineMs },
  )
  return new Map(rows.map(({ build, day, sessions }) => [`${build} ${day}`, sessions]))
}

/**
 * Writes the cells of all days of builds behind those that have some, through a day of each.
 * @returns their version
 */
export async function writeCellsOf(
  { pg, ch, ensureLease }: LeasedStores,
  builds: readonly FigureBuild[],
  throughOf: (build: FigureBuild) => number,
): Promise<number> {
  // Before the state is read: a later fold writes rows with a higher version.
  const version = await takeFoldVersion(pg)
  const visible = rangesOf((await readFoldState(pg)).folded)
  const byBuild = new Map(builds.map((build) => [build.build, build]))
  const days = await ch.query<{ build: number; day: number; sessions: number }>(
    `SELECT build, day, count() AS sessions FROM sessions
     WHERE (workspace_id, build) IN (SELECT t.1, t.2 FROM ${tuplesIn({ workspaces: 'UInt32', builds: 'UInt32' })})
       AND day > {after:Int32}
     GROUP BY build, day ORDER BY day, build`,
    {
      workspaces: builds.map(({ workspaceId }) => workspaceId),
      builds: builds.map(({ build }) => build),
      after: Math.min(...builds.map(({ cellsThrough }) => cellsThrough ?? -1)),
    },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
  const due = days.filter(({ build, day }) => {
    const { cellsThrough } = byBuild.get(build)!
    return day > (cellsThrough ?? -1) && day <= throughOf(byBuild.get(build)!)
  })
  for (let at = 0; at < due.length; ) {
    let sessions = 0
    const some: BuildDay[] = []
    for (; at < due.length && (some.length === 0 || sessions + due[at]!.sessions <= cellSessionsPerStatement); at++) {
      const { build, day } = due[at]!
      sessions += due[at]!.sessions
      some.push({ ...byBuild.get(build)!, day })
    }
    await ensureLease()
    await writeCells(ch, some, { version, visible })
  }
  return version
}

/** The last local day that is over for long enough. */
export function lastClosedDay(timezone: string, now: number): number {
  return localDayAt(now - dayClosedAfterMs, timezone) - 1
}

function nextDay(numbers: readonly number[], day: number): number {
  return numbers[numbers.indexOf(day) + 1]!
}
