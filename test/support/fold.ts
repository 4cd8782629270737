/** Folds in a test, as the pipeline does in its loop. */
import { fold, type LeasedStores } from '../../pipeline/fold/fold.ts'
import { closeDays, renewCells } from '../../pipeline/fold/write-cells.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { type EventLike, insertEventRows, makeEventRow } from './event-rows.ts'
import type { TestStores } from './stores.ts'

export function workOn({ pg, ch }: Pick<TestStores, 'pg' | 'ch'>): LeasedStores {
  return { pg, ch, ensureLease: async () => {} }
}

/** Folds until nothing waits. */
export async function foldAll(stores: Pick<TestStores, 'pg' | 'ch'>, eventsMax?: number): Promise<void> {
  while (!(await fold(workOn(stores), eventsMax)).isAllTaken);
}

/** Says that all events there are have been shipped, of whatever lease, and folds them. */
export async function foldWhatIsThere(stores: Pick<TestStores, 'pg' | 'ch'>): Promise<void> {
  await shipWhatIsThere(stores)
  await foldAll(stores)
}

/** Stores events of a workspace, and folds what is there. */
export async function addEvents(
  stores: Pick<TestStores, 'pg' | 'ch'>,
  workspace_id: number,
  events: readonly EventLike[],
): Promise<void> {
  await insertEventRows(
    stores.ch,
    events.map((event) => makeEventRow({ ...event, workspace_id })),
  )
  await foldWhatIsThere(stores)
}

/** Says that all events there are have been shipped, of whatever lease. */
export async function shipWhatIsThere({ pg, ch }: Pick<TestStores, 'pg' | 'ch'>): Promise<void> {
  const leases = await ch.query<{ lease: number; through: number }>(
    `SELECT intDiv(intDiv(id, ${segmentRowsMax}), ${segmentLeaseSize}) AS lease, max(id) AS through FROM events GROUP BY lease`,
  )
  for (const { lease, through } of leases) {
    await pg.query(
      `INSERT INTO segment_leases_taken AS had (first_segment, end_segment, shipped_through, updated_at)
       VALUES ($1, $2, $3, '-infinity')
       ON CONFLICT (first_segment) DO UPDATE SET shipped_through = greatest(had.shipped_through, $3)`,
      [lease * segmentLeaseSize, (lease + 1) * segmentLeaseSize, through],
    )
  }
}

/** Writes the cells of all days that are over at `now`, and all stale ones anew. */
export async function closeDaysAt(stores: Pick<TestStores, 'pg' | 'ch'>, now: number): Promise<void> {
  const work = workOn(stores)
  await closeDays(work, now)
  while (await renewCells(work));
}
