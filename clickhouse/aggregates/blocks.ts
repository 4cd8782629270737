/** Blocks of days: generations with the rows of several whole days merged into one. */
import type { LiveBlock } from '../../schemas/aggregate-snapshot.ts'

/** The blocks, the largest first, that can stand for days: only ones that `isTaken`, none of them with a day of another's. */
export function chooseBlocks<Block extends LiveBlock>(
  blocks: readonly Block[],
  isTaken: (block: Block) => boolean,
): Block[] {
  const chosen: Block[] = []
  const covered = new Set<number>()
  for (const block of [...blocks].sort((a, b) => b.days - a.days || b.firstDay - a.firstDay)) {
    const days = daysOf(block)
    if (days.some((day) => covered.has(day)) || !isTaken(block)) continue
    chosen.push(block)
    for (const day of days) covered.add(day)
  }
  return chosen
}

/** UTC, since 1970. */
export function daysOf({ firstDay, days }: Pick<LiveBlock, 'firstDay' | 'days'>): number[] {
  return Array.from({ length: days }, (_, at) => firstDay + at)
}
