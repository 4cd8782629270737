/** Sets of event ids, as ranges: which events the derived rows reflect, and which are new. */

/** Ids of events; both ends belong to it. */
export interface IdRange {
  readonly from: number
  readonly through: number
}

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
export function subtractRanges(ranges: readonly IdRange[], without: readonly IdRange[]): IdRange[] {
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
