import { checkDayTwice } from '../../pipeline/aggregate/check.ts'
import { keptFromOf } from '../../pipeline/retention.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { listWorkspaces } from '../../postgres/tables/workspaces.ts'
import { aggregateDifferencesMax } from '../../schemas/limits.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import { defineCommand } from '../command.ts'
import { table } from '../table.ts'
import { dayOptions, daysWithin, readDaySpan, showDay } from './aggregates-days.ts'

export const checkAggregates = defineCommand({
  name: 'aggregates check',
  summary: 'Compare the aggregates with the events that they were counted from, hour by hour and day by day.',
  options: {
    workspace: { value: 'ID', meaning: 'Only this workspace; all of them when left out.' },
    ...dayOptions,
  },
  async run({ options, installation, progress, signal }) {
    const id = options.id('workspace')
    const span = readDaySpan(options)
    const pg = installation.postgres()
    const ch = installation.clickhouse()
    const workspaces = await listWorkspaces(pg)
    const keptFrom = keptFromOf(workspaces, Date.now())
    const workspaceIds = id === undefined ? undefined : [(await installation.workspace(id)).id]
    const days = await daysWithin(ch, await readSnapshot(pg), span)
    const differences = []
    for (const [at, day] of days.entries()) {
      signal.throwIfAborted()
      progress.running(`${showDay(day)}, ${at} of ${days.length} days, ${differences.length} differences`)
      differences.push(...(await checkDayTwice(pg, ch, day, { keptFrom, ...(workspaceIds && { workspaceIds }) })))
      if (differences.length >= aggregateDifferencesMax) break
    }
    return {
      days: days.length,
      differences: differences.slice(0, aggregateDifferencesMax).map(({ table: name, workspaceId, hour, isDay }) => ({
        table: name,
        workspace_id: workspaceId,
        from: new Date(hour * hourMs).toISOString(),
        of: isDay ? 'day' : 'hour',
      })),
    }
  },
  show: ({ days, differences }) =>
    differences.length === 0
      ? `${days} days are right`
      : table(
          ['table', 'workspace', 'from', 'of'],
          differences.map((one) => [one.table, String(one.workspace_id), one.from, one.of]),
        ),
  exitCode: ({ differences }) => (differences.length === 0 ? 0 : 1),
})
