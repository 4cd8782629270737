/** Builds: a workspace's derived rows for one timezone. Figures come from the current one. */
import type { Postgres, Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'

export type BuildPurpose = 'figures' | 'check'

export interface FigureBuild {
  readonly build: number
  readonly workspaceId: number
  readonly timezone: string
  readonly state: 'current' | 'building' | 'left'
  readonly purpose: BuildPurpose
  /** The last local day (since 1970) that has cells; null: none has. */
  readonly cellsThrough: number | null
  /** Days up to `cellsThrough` whose cells lack events that `sessions` has; ascending. */
  readonly staleDays: readonly number[]
  /** Grows when days are added to `staleDays`. */
  readonly cellsChanges: number
  /** Parts of the visitors in a build in progress, and how many of them are done. */
  readonly parts: number
  readonly partsDone: number
  /** Days that differ, after a check that is over. */
  readonly differences: number | null
}

/** A local day of a build. */
export type BuildDay = Pick<FigureBuild, 'build' | 'workspaceId' | 'timezone'> & { readonly day: number }

const columns = `build, workspace_id AS "workspaceId", timezone, state, purpose, cells_through AS "cellsThrough",
  ARRAY(SELECT day FROM stale_cells WHERE stale_cells.build = figure_builds.build ORDER BY day) AS "staleDays",
  cells_changes AS "cellsChanges", parts, parts_done AS "partsDone", differences`

/** The one that figures of a workspace come from; undefined before its first event is folded. */
export async function readCurrentBuild(q: Queryable, workspaceId: number): Promise<FigureBuild | undefined> {
  const [row] = await q.query<FigureBuild>(
    `SELECT ${columns} FROM figure_builds WHERE workspace_id = $1 AND state = 'current'`,
    [workspaceId],
  )
  return row
}

/** Those that folds write to: current ones and those in progress. */
export function listOpenBuilds(q: Queryable): Promise<FigureBuild[]> {
  return q.query<FigureBuild>(`SELECT ${columns} FROM figure_builds WHERE state != 'left' ORDER BY build`)
}

/** The same of some workspaces. */
export function listOpenBuildsOf(q: Queryable, workspaceIds: readonly number[]): Promise<FigureBuild[]> {
  return q.query<FigureBuild>(
    `SELECT ${columns} FROM figure_builds WHERE workspace_id = ANY ($1::int[]) AND state != 'left' ORDER BY build`,
    [workspaceIds],
  )
}

/** Timezones that figures come in. */
export async function listZonesOfFigures(q: Queryable): Promise<string[]> {
  const rows = await q.query<{ timezone: string }>(
    `SELECT DISTINCT timezone FROM figure_builds WHERE state = 'current'`,
  )
  return rows.map(({ timezone }) => timezone)
}

/** Current ones that lack cells of days up to the one named for their timezone. */
export function listBuildsToClose(q: Queryable, throughOf: ReadonlyMap<string, number>): Promise<FigureBuild[]> {
  return q.query<FigureBuild>(
    `SELECT ${columns} FROM figure_builds JOIN unnest($1::text[], $2::int[]) AS zone (name, through) ON name = timezone
     WHERE state = 'current' AND coalesce(cells_through, -1) < through ORDER BY build`,
    [[...throughOf.keys()], [...throughOf.values()]],
  )
}

/** The oldest in progress. @param except numbers of others */
export async function nextBuilding(q: Queryable, except: readonly number[]): Promise<FigureBuild | undefined> {
  const [row] = await q.query<FigureBuild>(
    `SELECT ${columns} FROM figure_builds WHERE state = 'building' AND build != ALL ($1::int[]) ORDER BY build LIMIT 1`,
    [except],
  )
  return row
}

export function readBuilds(q: Queryable, builds: readonly number[]): Promise<FigureBuild[]> {
  return q.query<FigureBuild>(`SELECT ${columns} FROM figure_builds WHERE build = ANY ($1::int[])`, [builds])
}

/** Makes the current build of workspaces that have none, by their timezone. */
export async function makeMissingBuilds(q: Queryable, workspaceIds: readonly number[]): Promise<void> {
  await q.query(
    `INSERT INTO figure_builds (build, workspace_id, timezone, state)
     SELECT nextval('figure_builds_numbers'), id, timezone, 'current' FROM workspaces
     WHERE id = ANY ($1::int[])
       AND NOT EXISTS (SELECT FROM figure_builds AS had WHERE had.workspace_id = workspaces.id AND had.state = 'current')
     ON CONFLICT DO NOTHING`,
    [workspaceIds],
  )
}

/** Begins a build of the workspace, in its timezone of now. @returns its number; undefined: the workspace is gone */
export async function beginBuild(
  q: Queryable,
  workspaceId: number,
  purpose: BuildPurpose,
): Promise<number | undefined> {
  const [row] = await q.query<{ build: number }>(
    `INSERT INTO figure_builds (build, workspace_id, timezone, state, purpose)
     SELECT nextval('figure_builds_numbers'), $1, coalesce(
       (SELECT timezone FROM figure_builds WHERE workspace_id = $1 AND state = 'current' AND $2 = 'check'), timezone), 'building', $2
     FROM workspaces WHERE id = $1 RETURNING build`,
    [workspaceId, purpose],
  )
  return row?.build
}

/** Begins one for each workspace whose timezone isn't that of its figures, nor of a build in progress. */
export async function beginMovedBuilds(q: Queryable): Promise<void> {
  await q.query(
    `INSERT INTO figure_builds (build, workspace_id, timezone, state)
     SELECT nextval('figure_builds_numbers'), id, workspaces.timezone, 'building'
     FROM workspaces JOIN figure_builds AS had ON had.workspace_id = id AND had.state = 'current'
     WHERE had.timezone != workspaces.timezone AND NOT EXISTS (
       SELECT FROM figure_builds AS begun WHERE begun.workspace_id = id AND begun.state = 'building'
         AND begun.timezone = workspaces.timezone AND begun.purpose = 'figures')`,
  )
}

/**
 * Parts that are done, the last of them under `version`. Where a later version was taken meanwhile, nothing is noted:
 * another process may have folded events of these visitors without their earlier days. The part is then done again.
 */
export async function noteParts(
  q: Queryable,
  build: number,
  { parts, partsDone, version }: Pick<FigureBuild, 'parts' | 'partsDone'> & { readonly version: number },
): Promise<void> {
  await q.query(
    `UPDATE figure_builds SET parts = $2, parts_done = $3, changed_at = now()
     WHERE build = $1 AND (SELECT last_value FROM fold_versions) = $4`,
    [build, parts, partsDone, version],
  )
}

/** From now on readers count these days from `sessions`. To be called before rows of theirs are written. */
export async function markCellsStale(q: Queryable, days: readonly BuildDay[]): Promise<void> {
  if (days.length === 0) return
  await q.query(
    `WITH marked AS (
       INSERT INTO stale_cells (build, day) SELECT * FROM unnest($1::int[], $2::int[]) ON CONFLICT DO NOTHING RETURNING build)
     UPDATE figure_builds SET cells_changes = cells_changes + 1 WHERE build IN (SELECT build FROM marked)`,
    [days.map(({ build }) => build), days.map(({ day }) => day)],
  )
}

/** Days with stale cells, of builds that folds write to: those that are so for longest. */
export function listStaleCells(q: Queryable, max: number): Promise<BuildDay[]> {
  return q.query<BuildDay>(
    `SELECT build, workspace_id AS "workspaceId", timezone, day FROM stale_cells JOIN figure_builds USING (build)
     WHERE state != 'left' ORDER BY since, build, day LIMIT $1`,
    [max],
  )
}

/** Puts days behind the others that are stale. */
export async function postponeStaleCells(q: Queryable, days: readonly BuildDay[]): Promise<void> {
  await q.query(
    'UPDATE stale_cells SET since = now() WHERE (build, day) IN (SELECT * FROM unnest($1::int[], $2::int[]))',
    [days.map(({ build }) => build), days.map(({ day }) => day)],
  )
}

/**
 * From now on readers go by the cells of these days, which were written under `version`.
 * @throws when a later version was taken: another has the lease, and may be writing these days
 */
export async function markCellsFresh(q: Queryable, days: readonly BuildDay[], version: number): Promise<void> {
  const rows = await q.query(
    `DELETE FROM stale_cells WHERE (build, day) IN (SELECT * FROM unnest($1::int[], $2::int[]))
       AND (SELECT last_value FROM fold_versions) = $3 RETURNING build`,
    [days.map(({ build }) => build), days.map(({ day }) => day), version],
  )
  if (rows.length < days.length) throw overtaken()
}

/**
 * From now on readers go by the cells of days up to `day`, which were written under `version`.
 * @throws when a later version was taken: another has the lease, and may be writing these days
 */
export async function raiseCellsThrough(
  q: Queryable,
  builds: readonly number[],
  { day, version }: { readonly day: number; readonly version: number },
): Promise<void> {
  const rows = await q.query(
    `UPDATE figure_builds SET cells_through = $2, changed_at = now()
     WHERE build = ANY ($1::int[]) AND (SELECT last_value FROM fold_versions) = $3 RETURNING build`,
    [builds, day, version],
  )
  if (rows.length < builds.length) throw overtaken()
}

function overtaken(): Error {
  return new Error('another process has taken a version of derived rows meanwhile')
}

/** A finished build takes the place of the current one. Nothing changes where another process has seen to its end. */
export function makeCurrent(pg: Postgres, { build, workspaceId }: Pick<FigureBuild, 'build' | 'workspaceId'>) {
  return pg.transaction(async (tx) => {
    await tx.query(
      `UPDATE figure_builds SET state = 'left', changed_at = now() WHERE workspace_id = $1 AND state = 'current'
         AND EXISTS (SELECT FROM figure_builds AS finished WHERE finished.build = $2 AND finished.state = 'building')`,
      [workspaceId, build],
    )
    await tx.query(
      `UPDATE figure_builds SET state = 'current', changed_at = now() WHERE build = $1 AND state = 'building'`,
      [build],
    )
  })
}

export async function leaveBuild(q: Queryable, build: number, differences: number | null = null): Promise<void> {
  await q.query(
    `UPDATE figure_builds SET state = 'left', differences = $2, changed_at = now() WHERE build = $1 AND state = 'building'`,
    [build, differences],
  )
}

/** Builds that were left at least `forMs` ago: no reader goes by them any more. */
export async function listLeftBuilds(q: Queryable, forMs: number): Promise<FigureBuild[]> {
  return q.query<FigureBuild>(
    `SELECT ${columns} FROM figure_builds WHERE state = 'left' AND changed_at <= now() - ${intervalOf('$1')}`,
    [forMs],
  )
}

/** To be called once their rows are deleted. */
export async function forgetBuilds(q: Queryable, builds: readonly number[]): Promise<void> {
  await q.query(`DELETE FROM figure_builds WHERE build = ANY ($1::int[]) AND state = 'left'`, [builds])
}
