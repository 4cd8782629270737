/**
 * The snapshot of the aggregates that readers use: read from Postgres at most about twice a second, whatever the number of
 * requests. An older one gives the same figures, with more of them counted from raw rows, until what it names is deleted.
 */

import type { Queryable } from '../postgres/client.ts'
import { readSnapshot } from '../postgres/tables/aggregate-snapshot.ts'
import type { Clock } from '../runtime/clock.ts'
import { StoreUnavailable } from '../runtime/store-error.ts'
import type { AggregateSnapshot } from '../schemas/aggregate-snapshot.ts'
import { snapshotAgeMaxMs, snapshotRefreshMs } from '../schemas/limits.ts'

export type SnapshotSource = () => Promise<AggregateSnapshot>

/** @returns a function that throws StoreUnavailable when Postgres has been away for too long, or at the start */
export function makeSnapshots(pg: Queryable, clock: Clock): SnapshotSource {
  let held: { snapshot: AggregateSnapshot; at: number } | undefined
  let reading: Promise<AggregateSnapshot> | undefined

  function read(): Promise<AggregateSnapshot> {
    const at = clock.now()
    reading ??= readSnapshot(pg, held?.snapshot)
      .then((snapshot) => {
        held = { snapshot, at }
        return snapshot
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  return async () => {
    const age = held === undefined ? Number.POSITIVE_INFINITY : clock.now() - held.at
    if (age >= 0 && age < snapshotRefreshMs) return held!.snapshot
    try {
      return await read()
    } catch (error) {
      if (error instanceof StoreUnavailable && age < snapshotAgeMaxMs) return held!.snapshot
      throw error
    }
  }
}
