/** Figures held against the events that they are made of, in tests that don't care how they came about. */
import { idsIn } from '../../clickhouse/rollups/event-sql.ts'
import { buildNextPart } from '../../pipeline/fold/build.ts'
import { fold } from '../../pipeline/fold/fold.ts'
import { whileLeased } from '../../pipeline/fold/lease.ts'
import { closeDays } from '../../pipeline/fold/write-cells.ts'
import { beginBuild, readBuilds } from '../../postgres/tables/figures/figure-builds.ts'
import { rangesOf, readFoldState } from '../../postgres/tables/figures/folds.ts'
import { listWorkspaces } from '../../postgres/tables/workspaces/workspaces.ts'
import { sleep } from '../../runtime/retry.ts'
import type { TestStores } from './stores.ts'

export type FoldedStores = Pick<TestStores, 'pg' | 'ch'>

export interface FiguresVerdict {
  /** Local days whose rows aren't those that the events give; null where nobody has looked. */
  readonly differentDays: number | null
  /** Distinct ids of `events`, less the events that figures count. */
  readonly uncounted: number
  /** Rows of `events`, less their distinct ids. */
  readonly doubled: number
}

export const exactFigures: FiguresVerdict = { differentDays: 0, uncounted: 0, doubled: 0 }
/** Verdict of a short look. */
export const countedOnce: FiguresVerdict = { ...exactFigures, differentDays: null }

const foldedWithinMs = 120_000
const { signal } = new AbortController()

/**
 * Folds all events that are stored, beside a pipeline that may do it as well. Waits for ingest to say that they are.
 * @param workspaceId only this one's are waited for
 */
export async function foldStored({ pg, ch }: FoldedStores, workspaceId?: number): Promise<void> {
  const isWaitedFor = workspaceId === undefined ? '1' : `workspace_id = ${workspaceId}`
  const deadline = Date.now() + foldedWithinMs
  for (;;) {
    await whileLeased(pg, ch, signal, async (work) => {
      while (!(await fold(work)).isAllTaken);
      await closeDays(work, Date.now())
    })
    const { folded, repairs } = await readFoldState(pg)
    const seen = idsIn(rangesOf(folded), 'folded')
    const [left] = await ch.query<{ events: number }>(
      `SELECT count() AS events FROM events WHERE ${isWaitedFor} AND NOT ${seen.sql}`,
      seen.params,
    )
    if (left!.events === 0 && repairs.length === 0) return
    if (Date.now() > deadline) throw new Error(`${left!.events} events and ${repairs.length} repairs wait for a fold`)
    await sleep(50)
  }
}

/**
 * To be called when nothing comes in any more.
 * @param derivedAnew workspaces whose rows are derived once more and compared, which takes seconds each; one by its id
 */
export async function judgeFigures(
  stores: FoldedStores,
  derivedAnew: 'all' | 'none' | number = 'all',
): Promise<FiguresVerdict> {
  await foldStored(stores)
  const [stored] = await stores.ch.query<{ rows: number; ids: number }>(
    'SELECT count() AS rows, uniqExact(id) AS ids FROM events',
  )
  return {
    differentDays: derivedAnew === 'none' ? null : await countDifferentDays(stores, derivedAnew),
    uncounted: stored!.ids - (await countEventsOfFigures(stores)),
    doubled: stored!.rows - stored!.ids,
  }
}

async function countDifferentDays({ pg, ch }: FoldedStores, which: 'all' | number): Promise<number> {
  const ids = which === 'all' ? (await listWorkspaces(pg)).map(({ id }) => id) : [which]
  const checks: number[] = []
  for (const id of ids) checks.push((await beginBuild(pg, id, 'check'))!)
  while ((await readBuilds(pg, checks)).some(({ state }) => state === 'building')) {
    await whileLeased(pg, ch, signal, async (work) => {
      if ((await fold(work)).isAllTaken) await buildNextPart(work, Date.now())
    })
  }
  const differences = (await readBuilds(pg, checks)).map((build) => build.differences ?? 0)
  return differences.reduce((days, more) => days + more, 0)
}

async function countEventsOfFigures({ pg, ch }: FoldedStores): Promise<number> {
  const current = await pg.query<{ build: number }>(`SELECT build FROM figure_builds WHERE state = 'current'`)
  const [counted] = await ch.query<{ events: number }>(
    'SELECT sum(seen.events) AS events FROM sessions FINAL ARRAY JOIN seen WHERE seen.kind = 0 AND build IN {builds:Array(UInt32)}',
    { builds: current.map(({ build }) => build) },
  )
  return counted!.events
}
