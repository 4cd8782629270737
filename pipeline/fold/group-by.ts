import { sharedLookUpDaysMax, sharedLookUpVisitorsMax } from '../../schemas/limits/figure-limits.ts'

/** Items by a key, in the order in which keys and items come. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** At most `size` at a time, in order. */
export function inPortions<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))
}

/**
 * Items by a local day. Groups of few items are joined where their days are near each other: then they share the earliest
 * of these days.
 */
export function groupByDay<T>(items: readonly T[], dayOf: (item: T) => number): { fromDay: number; all: T[] }[] {
  const groups: { fromDay: number; all: T[] }[] = []
  for (const [day, ofDay] of [...groupBy(items, dayOf)].sort(([one], [other]) => one - other)) {
    const last = groups.at(-1)
    const isShared =
      last !== undefined &&
      day - last.fromDay <= sharedLookUpDaysMax &&
      last.all.length + ofDay.length <= sharedLookUpVisitorsMax
    if (isShared) last.all.push(...ofDay)
    else groups.push({ fromDay: day, all: ofDay })
  }
  return groups
}
