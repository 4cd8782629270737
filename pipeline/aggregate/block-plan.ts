/** Which days are to be merged into a block next: a row of each key for several days, so that long ranges are few rows. */
import type { AggregationState } from '../../postgres/tables/aggregates.ts'
import type { LiveBlock } from '../../schemas/aggregate-snapshot.ts'
import { aggregateBlockDays, aggregateDayOverMs } from '../../schemas/limits.ts'

export interface Block extends Omit<LiveBlock, 'generation'> {
  /** Generations that together have the rows of all its days: those of smaller blocks, and of days. */
  readonly from: readonly number[]
}

const dayMs = 86_400_000

/** The smallest ones first, because the others are made of them; undefined: there is none to be made. */
export function nextBlock(state: AggregationState): Block | undefined {
  const days = [...new Set(state.generations.map(({ day }) => day))].sort((a, b) => b - a)
  for (const size of aggregateBlockDays) {
    for (const firstDay of new Set(days.map((day) => day - (day % size)))) {
      const block = { firstDay, days: size, from: sourcesOf(state, firstDay, size) }
      // A single generation is as good by itself.
      if (isDue(state, block) && block.from.length > 1) return block
    }
  }
  return undefined
}

function isDue(
  { generations, blocks, now }: AggregationState,
  { firstDay, days }: Omit<LiveBlock, 'generation'>,
): boolean {
  const end = firstDay + days
  if (now < end * dayMs + aggregateDayOverMs) return false
  if (blocks.some((one) => one.firstDay === firstDay && one.days === days)) return false
  const inside = generations.filter(({ day }) => day >= firstDay && day < end)
  const whole = new Set(inside.filter(({ isWhole }) => isWhole).map(({ day }) => day))
  return inside.every(({ day }) => whole.has(day))
}

function sourcesOf({ generations, blocks }: AggregationState, firstDay: number, days: number): number[] {
  const smaller = blocks.filter((one) => one.days < days && one.firstDay >= firstDay && one.firstDay < firstDay + days)
  const isWithin = (inner: LiveBlock, outer: LiveBlock) =>
    inner.days < outer.days && inner.firstDay >= outer.firstDay && inner.firstDay < outer.firstDay + outer.days
  const largest = smaller.filter((one) => !smaller.some((other) => isWithin(one, other)))
  const alone = generations.filter(
    ({ day, isWhole }) =>
      isWhole &&
      day >= firstDay &&
      day < firstDay + days &&
      !largest.some((one) => day >= one.firstDay && day < one.firstDay + one.days),
  )
  return [...largest, ...alone].map(({ generation }) => generation)
}
