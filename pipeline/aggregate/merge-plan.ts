/**
 * Which generations of a day are to be merged. Small ones are merged by levels, so that a row is copied a few times only;
 * a day that is over becomes one generation, which also has the rows of the whole day.
 */
import type { AggregationState, StoredGeneration } from '../../postgres/tables/aggregates.ts'
import {
  aggregateDayGenerationsMax,
  aggregateDayOverMs,
  aggregateDayQuietMs,
  aggregateDayResetsMax,
  aggregateMergeWidth,
} from '../../schemas/limits.ts'
import { dayMs } from '../../schemas/time-zone.ts'

export interface Merge {
  readonly day: number
  readonly from: readonly StoredGeneration[]
  readonly level: number
  /** All of the day, with the rows of the whole day. */
  readonly isWhole: boolean
}

/** What to merge next; the present day comes first, because it is asked for most. Undefined: nothing. */
export function nextMerge({ generations, resets, now }: AggregationState, isAllTaken: boolean): Merge | undefined {
  const byDay = new Map<number, StoredGeneration[]>()
  for (const one of generations) byDay.set(one.day, [...(byDay.get(one.day) ?? []), one])
  const resetsOf = new Map<number, number>()
  for (const { hour } of resets) {
    const day = Math.floor(hour / 24)
    resetsOf.set(day, (resetsOf.get(day) ?? 0) + 1)
  }
  const days = [...byDay.keys()].sort((a, b) => b - a)
  for (const day of days) {
    const from = byDay.get(day)!
    const merge = (resetsOf.get(day) ?? 0) > aggregateDayResetsMax ? mergeAll(day, from) : mergeLevel(day, from)
    if (merge !== undefined) return merge
  }
  // While rows of an outage or an import are still being taken up, days would be made whole again and again.
  if (!isAllTaken) return undefined
  const day = days.find((one) => isDue(one, byDay.get(one)!, now))
  return day === undefined ? undefined : wholeMerge(day, byDay.get(day)!)
}

/** Of all generations of a day one, with the rows of the whole day. */
export function wholeMerge(day: number, from: readonly StoredGeneration[]): Merge {
  return { ...mergeAll(day, from), isWhole: true }
}

/**
 * The newest are left as they are, for a while: readers add what is new to them to what they know of all before, and one that
 * holds both is as new to them as if they knew nothing.
 */
export const unmergedNewest = 3

function mergeLevel(day: number, generations: readonly StoredGeneration[]): Merge | undefined {
  const parts = generations.filter(({ isWhole }) => !isWhole).sort((a, b) => a.newest - b.newest)
  const settled = parts.slice(0, -unmergedNewest)
  for (const level of new Set(settled.map((one) => one.level))) {
    const from = settled.filter((one) => one.level === level)
    if (from.length >= aggregateMergeWidth) return { day, from, level: level + 1, isWhole: false }
  }
  return undefined
}

/** Stays whole if it was: a merge without the rows of the whole day would take them away. */
function mergeAll(day: number, from: readonly StoredGeneration[]): Merge {
  const level = Math.max(...from.map((one) => one.level)) + 1
  return { day, from, level, isWhole: from.some(({ isWhole }) => isWhole) }
}

function isDue(day: number, generations: readonly StoredGeneration[], now: number): boolean {
  if (now < (day + 1) * dayMs + aggregateDayOverMs) return false
  if (generations.every(({ isWhole }) => !isWhole)) return true
  if (generations.length < 2) return false
  const newest = Math.max(...generations.map(({ writtenAt }) => writtenAt))
  return now - newest >= aggregateDayQuietMs || generations.length > aggregateDayGenerationsMax
}
