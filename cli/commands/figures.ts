/** Rows that figures are made of: how far they are, whether they are right, and making them anew. */
import { countEvents } from '../../clickhouse/queries/event-span.ts'
import { readPostgresClock } from '../../postgres/clock.ts'
import { listOpenBuilds } from '../../postgres/tables/figures/figure-builds.ts'
import { rangesOf, readFoldedAsOf, readFoldProgress, readFoldState } from '../../postgres/tables/figures/folds.ts'
import { isErasing } from '../../postgres/tables/people/erasures.ts'
import { subtractRanges } from '../../schemas/event/id-ranges.ts'
import { marksBehindWarnMs } from '../../schemas/limits/doctor-limits.ts'
import { defineCommand, type Invocation } from '../command.ts'
import { countRowsAbove, findLeasesAboveMarks, type RowsAboveMark, remedyOf } from '../figures/rows-above-marks.ts'
import { runBuilds } from '../figures/run-builds.ts'
import { memberLines, table } from '../table.ts'

export const showFigures = defineCommand({
  name: 'figures status',
  summary: 'Say as of when the figures are, how many stored events they lack, and which builds are in progress.',
  options: {},
  async run({ installation }) {
    const pg = installation.postgres()
    // Alone: where Postgres hangs, the others would wait one behind another.
    const state = await readFoldState(pg)
    const [{ asOf }, progress, builds] = await Promise.all([
      readFoldedAsOf(pg),
      readFoldProgress(pg),
      listOpenBuilds(pg),
    ])
    const waiting = subtractRanges(rangesOf(state.shipped), rangesOf(state.folded))
    return {
      version: state.version,
      as_of: new Date(asOf).toISOString(),
      pending_events: waiting.length === 0 ? 0 : await countEvents(installation.clickhouse(), waiting),
      lag_seconds: progress.lagMs / 1000,
      repairs: state.repairs.length,
      workspaces: builds.filter((build) => build.state === 'current').length,
      builds_in_progress: builds.filter((build) => build.state === 'building').length,
    }
  },
  show: memberLines,
})

export const checkFigures = defineCommand({
  name: 'figures check',
  summary: 'Derive all rows that figures are made of anew from the events, and compare them with those in use.',
  options: { workspace: { value: 'ID', meaning: 'Only this workspace; all of them when left out.' } },
  async run(invocation) {
    const pg = invocation.installation.postgres()
    const begunAt = new Date(await readPostgresClock(pg))
    const builds = await runBuilds(invocation, 'check')
    const different = builds.filter(({ differences }) => differences !== 0)
    const erasing = new Set<number>()
    for (const { workspaceId } of different) {
      if (await isErasing(pg, workspaceId, begunAt)) erasing.add(workspaceId)
    }
    return {
      workspaces: builds.length,
      differences: different.map(({ workspaceId, differences }) => ({
        workspace_id: workspaceId,
        days: differences,
      })),
      // Days of theirs may differ until the person's events are removed from both.
      erasing: [...erasing],
      left_out: await findLeftOut(invocation),
    }
  },
  show: ({ workspaces, differences, erasing, left_out }) => {
    const leftOut = left_out.map(
      ({ lease, rows, workspaces: of, remedy }) =>
        `events of lease ${lease} in no figure: ${rows} (workspace ${of.join(', ')}): ${remedy}`,
    )
    const erased = erasing.map(
      (id) => `an erasure was open in workspace ${id} during the check: check again after its end (*)`,
    )
    const head = ['workspace', 'different days']
    const markOf = (id: number) => (erasing.includes(id) ? ' *' : '')
    const days = differences.map((one) => [String(one.workspace_id), `${one.days}${markOf(one.workspace_id)}`])
    const lines = [...(days.length > 0 ? [table(head, days)] : []), ...erased, ...leftOut]
    return lines.length > 0 ? lines.join('\n') : `all figures are right (workspaces: ${workspaces})`
  },
  exitCode: ({ differences, left_out }) => (differences.length + left_out.length === 0 ? 0 : 1),
})

/** Both the figures and the comparison end at the marks. Rows above a mark that doesn't move are in neither. */
async function findLeftOut({ installation, options }: Invocation): Promise<(RowsAboveMark & { remedy: string })[]> {
  const workspaceId = options.id('workspace')
  const now = await readPostgresClock(installation.postgres())
  const leases = await findLeasesAboveMarks(installation, workspaceId)
  const dead = leases.filter(({ heardAt }) => heardAt < now - marksBehindWarnMs)
  const left = await countRowsAbove(installation.clickhouse(), dead, workspaceId)
  const holders = new Map(dead.map(({ firstSegment, holder }) => [firstSegment, holder]))
  return left.map((row) => ({ ...row, remedy: remedyOf(holders.get(row.lease)!, row.workspaces) }))
}

export const rebuildFigures = defineCommand({
  name: 'figures rebuild',
  summary: 'Derive all rows that figures are made of anew from the events. Everything goes on meanwhile.',
  options: { workspace: { value: 'ID', meaning: 'Only this workspace; all of them when left out.' } },
  async run(invocation) {
    const builds = await runBuilds(invocation, 'figures')
    return { workspaces: builds.length }
  },
  show: ({ workspaces }) => `figures were built anew (workspaces: ${workspaces})`,
})
