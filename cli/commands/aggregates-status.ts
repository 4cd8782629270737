import { countPending } from '../../pipeline/aggregate/pending.ts'
import { rangesOf, readAggregationState } from '../../postgres/tables/aggregates.ts'
import { aggregateRepairsMax } from '../../schemas/limits.ts'
import { defineCommand } from '../command.ts'

export const showAggregates = defineCommand({
  name: 'aggregates status',
  summary:
    'Say how far the aggregates are: events that they lack, generations that they consist of, hours to compute anew.',
  options: {},
  async run({ installation }) {
    const pg = installation.postgres()
    const state = await readAggregationState(pg, aggregateRepairsMax)
    const pending = await countPending(installation.clickhouse(), { ...state, aggregated: rangesOf(state.aggregated) })
    const days = new Set(state.generations.map(({ day }) => day))
    return {
      revision: state.revision,
      committed_at: new Date(state.committedAt).toISOString(),
      pending_rows: pending.rows,
      oldest_pending_seconds: pending.oldestAt === undefined ? 0 : Math.max(0, (state.now - pending.oldestAt) / 1000),
      days: days.size,
      whole_days: state.generations.filter(({ isWhole }) => isWhole).length,
      blocks: state.blocks.length,
      generations: state.generations.length,
      resets: state.resets.length,
      repairs: state.repairs.length,
    }
  },
  show: (status) =>
    Object.entries(status)
      .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`)
      .join('\n'),
})
