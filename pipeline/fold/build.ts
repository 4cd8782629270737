/**
 * Builds of a workspace's rows beside the current ones: for a rebuild, another timezone, or a check. A build goes through
 * the workspace's visitors in parts. Folds meanwhile write to it as well, so a part that is done stays right; and a part to
 * come computes its visitors anew. A finished build takes the current one's place, and nothing of the old one is changed.
 */
import { readMutations } from '../../clickhouse/mutations.ts'
import { readSpanOfEvents } from '../../clickhouse/queries/event-span.ts'
import { coverageRow } from '../../clickhouse/rollups/tables.ts'
import {
  beginMovedBuilds,
  type FigureBuild,
  forgetBuilds,
  leaveBuild,
  listLeftBuilds,
  makeCurrent,
  nextBuilding,
  noteParts,
  raiseCellsThrough,
  readCurrentBuild,
} from '../../postgres/tables/figures/figure-builds.ts'
import { rangesOf, readFoldState, takeFoldVersion } from '../../postgres/tables/figures/folds.ts'
import { listWorkspacesAmong, readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { buildPartEventsMax, leftBuildKeepMs } from '../../schemas/limits/figure-limits.ts'
import { localDays } from '../../schemas/time/local-days.ts'
import { localDayAt } from '../../schemas/time/time-zone.ts'
import { keptFromOf } from '../retention/retention.ts'
import { countDifferentDays } from './check.ts'
import { deleteRows, derivedTables } from './delete-rows.ts'
import { derivePart, type LeasedStores } from './fold.ts'
import { lastClosedDay, writeCellsOf } from './write-cells.ts'

/** A step of a build failed, for its `cause`; the next try writes its rows again. */
export class BuildError extends Error {
  constructor(
    readonly build: FigureBuild,
    cause: unknown,
  ) {
    super(`the build of figures of workspace ${build.workspaceId} fails`, { cause })
  }
}

const noBuilds: ReadonlySet<number> = new Set()

/**
 * Does a step of the oldest build in progress, after everything that is shipped was folded: a part, or its end.
 * @param now milliseconds since 1970
 * @param paused numbers of builds that are left out now
 * @returns false where there is none
 * @throws {BuildError}
 */
export async function buildNextPart(work: LeasedStores, now: number, paused = noBuilds): Promise<boolean> {
  const next = await nextBuilding(work.pg, [...paused])
  if (next === undefined) return false
  try {
    await doStep(work, next, now)
  } catch (error) {
    throw new BuildError(next, error)
  }
  return true
}

async function doStep(work: LeasedStores, build: FigureBuild, now: number): Promise<void> {
  const { pg, ch, ensureLease } = work
  const { workspaceId, partsDone } = build
  const { events, from, to } = await readSpanOfEvents(ch, workspaceId)
  const parts = build.parts || Math.max(1, Math.ceil(events / buildPartEventsMax))
  if (partsDone < parts) {
    const version = await takeFoldVersion(pg)
    const { folded, asOf } = await readFoldState(pg)
    const visible = rangesOf(folded)
    const days = localDays(build.timezone, from, to)
    const rows = await derivePart(work, build, { part: partsDone, parts }, days, { version, visible })
    await ensureLease()
    // After a restore of Postgres ClickHouse may have a coverage of a later version, which lacks events.
    await rows.insert(ch, coverageRow(version, visible, asOf))
    await noteParts(pg, build.build, { parts, partsDone: partsDone + 1, version })
  } else await finish(work, build, now)
}

async function finish(work: LeasedStores, build: FigureBuild, now: number): Promise<void> {
  const { pg } = work
  const current = await readCurrentBuild(pg, build.workspaceId)
  // A check is compared with the same days as the current build has.
  const through = build.purpose === 'check' ? (current?.cellsThrough ?? -1) : lastClosedDay(build.timezone, now)
  const version = await writeCellsOf(work, [build], () => through)
  await raiseCellsThrough(pg, [build.build], { day: through, version })
  const workspace = await readWorkspace(pg, build.workspaceId)
  // The timezone may have been changed again meanwhile.
  if (build.purpose === 'figures' && workspace?.timezone === build.timezone) await makeCurrent(pg, build)
  else if (build.purpose === 'figures') await leaveBuild(pg, build.build)
  else await leaveBuild(pg, build.build, current === undefined ? 0 : await compare(work, current, build, now))
}

async function compare(
  { pg, ch }: LeasedStores,
  current: FigureBuild,
  build: FigureBuild,
  now: number,
): Promise<number> {
  const keptFrom = keptFromOf(await listWorkspacesAmong(pg, [build.workspaceId]), now).get(build.workspaceId) ?? 0
  return countDifferentDays(ch, current, build, Math.max(0, localDayAt(keptFrom, build.timezone)))
}

/**
 * Begins builds for workspaces whose timezone was changed, and deletes the rows of builds that were left. Mutations are
 * begun only: folds go on, and a later call finds that no row is left.
 */
export async function beginAndDeleteBuilds({ pg, ch }: LeasedStores): Promise<void> {
  await beginMovedBuilds(pg)
  const left = await listLeftBuilds(pg, leftBuildKeepMs)
  if (left.length === 0 || (await readMutations(ch, derivedTables)).mutations > 0) return
  const builds = left.map(({ build }) => build)
  if ((await deleteRows(ch, 'build IN {builds:Array(UInt32)}', { builds }, { waits: false })) > 0) return
  await forgetBuilds(pg, builds)
}
