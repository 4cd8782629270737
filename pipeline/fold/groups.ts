/** Groups of rows, days and builds that are worked on together. */
import type { FigureBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { groupBy } from '../../runtime/lists.ts'
import { sharedLookUpDaysMax, sharedLookUpVisitorsMax } from '../../schemas/limits/figure-limits.ts'

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

/** Groups builds, or days of them, that one statement can read for: they share a timezone, and each workspace has one build. */
export function groupReadTogether<T extends Pick<FigureBuild, 'workspaceId' | 'build' | 'timezone'>>(
  items: readonly T[],
): T[][] {
  const groups: { items: T[]; timezone: string; builds: Map<number, number> }[] = []
  for (const item of items) {
    const { timezone, workspaceId, build } = item
    const group = groups.find((each) => each.timezone === timezone && (each.builds.get(workspaceId) ?? build) === build)
    if (group === undefined) groups.push({ items: [item], timezone, builds: new Map([[workspaceId, build]]) })
    else {
      group.items.push(item)
      group.builds.set(workspaceId, build)
    }
  }
  return groups.map((group) => group.items)
}
