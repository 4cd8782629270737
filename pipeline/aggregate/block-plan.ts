/** Which days are to be merged into a block next: a row of each key for several days, so that long ranges are few rows. */
import { chooseBlocks, daysOf } from '../../clickhouse/aggregates/blocks.ts'
import type { AggregationState } from '../../postgres/tables/aggregates.ts'
import type { LiveBlock } from '../../schemas/aggregate-snapshot.ts'
import { aggregateBlockDays, aggregateDayOverMs, aggregateMonthDays } from '../../schemas/limits.ts'
import { dayMs } from '../../schemas/time-zone.ts'

type Days = Pick<LiveBlock, 'firstDay' | 'days'>

export interface Block extends Days {
  /** Generations that together have the rows of all its days: those of smaller blocks, and of days. */
  readonly from: readonly number[]
  /** Blocks that it takes the place of. */
  readonly replaced: readonly number[]
}

/**
 * The smallest ones first, because the others are made of them; undefined: there is none to be made. Beside those that
 * stay there is one of the last weeks, made anew each day: what dashboards ask for most is then one row of each key, and
 * today's.
 */
export function nextBlock(state: AggregationState): Block | undefined {
  const days = [...new Set(state.generations.map(({ day }) => day))].sort((a, b) => b - a)
  for (const size of aggregateBlockDays) {
    for (const firstDay of new Set(days.map((day) => day - (day % size)))) {
      const block = blockOf(state, { firstDay, days: size })
      if (block !== undefined) return block
    }
  }
  const firstDay = Math.floor((state.now - aggregateDayOverMs) / dayMs) - aggregateMonthDays
  const earlier = state.blocks.filter((one) => one.days === aggregateMonthDays && one.firstDay !== firstDay)
  const month = blockOf(state, { firstDay, days: aggregateMonthDays })
  return month && { ...month, replaced: earlier.map(({ generation }) => generation) }
}

/** Undefined when it is there, can't be made yet, or would be of a single generation, which is as good by itself. */
function blockOf({ generations, blocks, now }: AggregationState, { firstDay, days }: Days): Block | undefined {
  const end = firstDay + days
  const isThere = blocks.some((one) => one.firstDay === firstDay && one.days === days)
  if (isThere || now < end * dayMs + aggregateDayOverMs) return undefined
  const inside = generations.filter(({ day }) => day >= firstDay && day < end)
  const whole = inside.filter(({ isWhole }) => isWhole)
  const wholeDays = new Set(whole.map(({ day }) => day))
  if (!inside.every(({ day }) => wholeDays.has(day))) return undefined
  const smaller = chooseBlocks(blocks, (one) => one.firstDay >= firstDay && one.firstDay + one.days <= end)
  const covered = new Set(smaller.flatMap(daysOf))
  const sources = [...smaller, ...whole.filter(({ day }) => !covered.has(day))]
  if (sources.length < 2) return undefined
  return { firstDay, days, from: sources.map(({ generation }) => generation).sort((a, b) => a - b), replaced: [] }
}
