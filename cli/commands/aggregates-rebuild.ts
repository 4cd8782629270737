import { whileClaimed } from '../../pipeline/aggregate/claim.ts'
import { rebuildDay } from '../../pipeline/aggregate/rebuild.ts'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { recordRepairs } from '../../postgres/tables/aggregate-repairs.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { defineCommand, type Invocation } from '../command.ts'
import { dayOptions, daysWithin, readDaySpan, showDay } from './aggregates-days.ts'

export const rebuildAggregates = defineCommand({
  name: 'aggregates rebuild',
  summary:
    'Count the aggregates anew from the events. Figures stay the same, but for what was wrong; it may be interrupted.',
  options: {
    workspace: { value: 'ID', meaning: 'Only this workspace; all of them when left out.' },
    ...dayOptions,
  },
  async run(invocation) {
    const { options, installation } = invocation
    const id = options.id('workspace')
    const span = readDaySpan(options)
    const workspace = id === undefined ? undefined : await installation.workspace(id)
    const days = await daysWithin(installation.clickhouse(), await readSnapshot(installation.postgres()), span)
    await (workspace === undefined ? rebuildDays(invocation, days) : rebuildWorkspace(invocation, workspace.id, days))
    return { days: days.length, workspace_id: workspace?.id ?? null }
  },
  show: ({ days, workspace_id }) =>
    `${days} days were counted anew${workspace_id === null ? '' : ` for workspace ${workspace_id}`}`,
})

/** The earliest first: touches of a day count for conversions of later ones. */
async function rebuildDays({ installation, progress, signal }: Invocation, days: readonly number[]): Promise<void> {
  for (const [at, day] of days.entries()) {
    progress.running(`${showDay(day)}, ${at} of ${days.length} days`)
    await whileClaimed(installation.postgres(), installation.clickhouse(), signal, (work) => rebuildDay(work, day))
  }
}

/** As repairs, which whoever aggregates next makes, should this be interrupted. One makes a day around its hour. */
async function rebuildWorkspace(
  { installation, progress, signal }: Invocation,
  workspaceId: number,
  days: readonly number[],
): Promise<void> {
  const pg = installation.postgres()
  await recordRepairs(
    pg,
    days.map((day) => ({ workspaceId, hour: day * 24 + 12 })),
  )
  progress.running(`${days.length} days`)
  let isDone = false
  while (!isDone) {
    const { isAllTaken } = await whileClaimed(pg, installation.clickhouse(), signal, aggregate)
    isDone = isAllTaken
  }
}
