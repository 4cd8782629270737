/** Sets of event ids, as ranges: which rows are in the aggregates, and which aren't yet. */
import type { IdRange } from '../../schemas/aggregate-snapshot.ts'
import type { BoundSql } from '../bound-sql.ts'

/** Beyond every id (schemas/limits.ts: segmentNumberMax); exact as a number. */
export const idMax = 2 ** 53 - 1

/** Sorted, without overlaps; neighbours are one. Ranges that end before they begin are left out. */
export function uniteRanges(ranges: readonly IdRange[]): IdRange[] {
  const sorted = ranges.filter(({ from, through }) => from <= through).sort((a, b) => a.from - b.from)
  const united: { from: number; through: number }[] = []
  for (const { from, through } of sorted) {
    const last = united.at(-1)
    if (last !== undefined && from <= last.through + 1) last.through = Math.max(last.through, through)
    else united.push({ from, through })
  }
  return united
}

/** The ids of `ranges` that are in none of `without`. Both are united ranges. */
function subtractRanges(ranges: readonly IdRange[], without: readonly IdRange[]): IdRange[] {
  return without.reduce<IdRange[]>(
    (left, { from, through }) =>
      left.flatMap((range) =>
        from > range.through || through < range.from
          ? [range]
          : [
              { from: range.from, through: from - 1 },
              { from: through + 1, through: range.through },
            ].filter((part) => part.from <= part.through),
      ),
    [...ranges],
  )
}

/** All ids that are in none of `ranges`. */
export function complementOf(ranges: readonly IdRange[]): IdRange[] {
  return subtractRanges([{ from: 0, through: idMax }], ranges)
}

/** SQL condition: `id` is in `ranges`. `name` tells its parameters from those of other conditions of the statement. */
export function idsIn(ranges: readonly IdRange[], name: string): BoundSql {
  const params: Record<string, number> = {}
  const parts = ranges.map(({ from, through }, at) => {
    params[`${name}_from_${at}`] = from
    params[`${name}_through_${at}`] = through
    return `id BETWEEN {${name}_from_${at}:UInt64} AND {${name}_through_${at}:UInt64}`
  })
  return { sql: parts.length === 0 ? '0' : `(${parts.join(' OR ')})`, params }
}
