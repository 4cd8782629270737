/** Which generations and resets concern a span of hours. */
import { keyOfHour, type LiveRows } from '../../clickhouse/aggregates/live-rows.ts'
import type { AggregateReset } from '../../schemas/aggregate-snapshot.ts'

/** What a ledger lists, or would list after a commit. */
export interface Listed {
  readonly generations: readonly { readonly day: number; readonly generation: number }[]
  readonly resets: readonly AggregateReset[]
}

/** What counts of the hours from `start` until before `end`. */
export function liveRowsOf({ generations, resets }: Listed, start: number, end: number): LiveRows {
  return {
    generations: generations
      .filter(({ day }) => day * 24 < end && (day + 1) * 24 > start)
      .map(({ generation }) => generation),
    resets: resets.filter(({ hour }) => hour >= start && hour < end),
  }
}

/** A later reset takes the place of an earlier one of its hour. */
export function withResets(resets: readonly AggregateReset[], later: readonly AggregateReset[]): AggregateReset[] {
  return [...new Map([...resets, ...later].map((reset) => [keyOfHour(reset), reset])).values()]
}
