import { countEvents } from '../../clickhouse/queries/event-span.ts'
import { listOpenBuilds } from '../../postgres/tables/figure-builds.ts'
import { rangesOf, readFoldedAsOf, readFoldProgress, readFoldState } from '../../postgres/tables/folds.ts'
import { subtractRanges } from '../../schemas/event/id-ranges.ts'
import { defineCommand } from '../command.ts'

export const showFigures = defineCommand({
  name: 'figures status',
  summary: 'Say as of when the figures are, how many stored events they lack, and which builds are in progress.',
  options: {},
  async run({ installation }) {
    const pg = installation.postgres()
    const [state, { asOf }, progress, builds] = await Promise.all([
      readFoldState(pg),
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
  show: (status) =>
    Object.entries(status)
      .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`)
      .join('\n'),
})
