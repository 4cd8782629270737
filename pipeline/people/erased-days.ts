/** The local days that an erasure touches. Their cells are written anew, once each. */
import type { Postgres } from '../../postgres/client.ts'
import { type BuildDay, listOpenBuildsOf } from '../../postgres/tables/figures/figure-builds.ts'
import { rangesOf, readFoldState, takeFoldVersion } from '../../postgres/tables/figures/folds.ts'
import { type ErasedPlace, type Erasure, noteDaysLeft } from '../../postgres/tables/people/erasures.ts'
import { cellDaysPerStatement } from '../../schemas/limits/figure-limits.ts'
import { hourMs, localDayAt } from '../../schemas/time/time-zone.ts'
import type { LeasedStores } from '../fold/fold.ts'
import { lastClosedDay, renewDays, writeCells } from '../fold/write-cells.ts'

export interface TouchedDay extends BuildDay {
  /** False: a closing of days that died may have left cells behind `cellsThrough`. */
  readonly isRead: boolean
  readonly isStale: boolean
}

/** Days that may have cells. @param now milliseconds since 1970 */
export async function touchedDays(
  pg: Postgres,
  workspaceId: number,
  places: readonly ErasedPlace[],
  now: number,
): Promise<TouchedDay[]> {
  const builds = await listOpenBuildsOf(pg, [workspaceId])
  return builds.flatMap(({ build, timezone, cellsThrough, staleDays }) => {
    if (cellsThrough === null) return []
    const own = places.map(({ hour }) => localDayAt(hour * hourMs, timezone))
    // An hour may be of two days, where a timezone is half an hour off.
    const later = places.map(({ hour }) => localDayAt((hour + 1) * hourMs - 1, timezone))
    const over = Math.max(cellsThrough, lastClosedDay(timezone, now))
    const stale = new Set(staleDays)
    return [...new Set([...own, ...later])]
      .filter((day) => day <= over)
      .map((day) => ({ build, workspaceId, timezone, day, isRead: day <= cellsThrough, isStale: stale.has(day) }))
  })
}

/**
 * Writes cells of some days of a repaired erasure. A day that is fresh was written since the repair. One that late events
 * make stale again is no reason to wait: readers count it from `sessions`.
 * @param days those that the erasure touches
 * @returns false: all are written
 */
export async function writeSomeCells(
  work: LeasedStores,
  { id, daysLeft }: Pick<Erasure, 'id' | 'daysLeft'>,
  days: readonly TouchedDay[],
): Promise<boolean> {
  const nameOf = ({ build, day }: Pick<BuildDay, 'build' | 'day'>) => `${build} ${day}`
  const unwritten = new Set(daysLeft.map(nameOf))
  const left = days.filter((day) => day.isStale && unwritten.has(nameOf(day)))
  if (left.length > 0) {
    const written = new Set((await renewDays(work, left.slice(0, cellDaysPerStatement))).map(nameOf))
    await noteDaysLeft(
      work.pg,
      id,
      left.filter((day) => !written.has(nameOf(day))),
    )
    return true
  }
  const version = await takeFoldVersion(work.pg)
  const visible = rangesOf((await readFoldState(work.pg)).folded)
  await writeCells(
    work.ch,
    days.filter(({ isRead }) => !isRead),
    { version, visible },
  )
  return false
}
