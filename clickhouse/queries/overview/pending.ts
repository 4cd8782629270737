/** The raw rows around a range that the aggregates of a snapshot don't have yet: mostly those of the last seconds. */
import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import { complementOf, idsIn } from '../../aggregates/id-ranges.ts'
import { hourMs } from '../../aggregates/row-scope.ts'
import type { PendingRows } from './composition.ts'
import { moment, type Reader } from './span.ts'

/** @returns undefined when the aggregates have all of the workspace's rows from `from` to just before `to` */
export async function readPending(
  ch: Reader,
  snapshot: AggregateSnapshot,
  { workspaceId, from, to }: { workspaceId: number; from: number; to: number },
): Promise<PendingRows | undefined> {
  const ids = complementOf(snapshot.aggregated)
  const pending = idsIn(ids, 'pending')
  const [row] = await ch.query<{ rows: number; first: number; last: number }>(
    `SELECT count() AS rows, toUnixTimestamp64Milli(min(occurred_at)) AS first, toUnixTimestamp64Milli(max(occurred_at)) AS last
     FROM events
     WHERE workspace_id = {workspace:UInt32} AND occurred_at >= ${moment('from')} AND occurred_at < ${moment('to')}
       AND ${pending.sql}`,
    { ...pending.params, workspace: workspaceId, from, to },
  )
  if (row === undefined || row.rows === 0) return undefined
  return {
    ids,
    rows: row.rows,
    hours: { start: Math.floor(row.first / hourMs), end: Math.floor(row.last / hourMs) + 1 },
  }
}
