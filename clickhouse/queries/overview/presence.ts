/** Who is there now, and whether anybody ever was. */
import { liveWindowMs } from '../../../schemas/limits.ts'
import { moment } from '../../aggregates/row-scope.ts'
import { setFunction } from '../../aggregates/tables.ts'
import type { Reader } from './span.ts'

export interface Presence {
  /** Distinct visitors of the last minutes. */
  readonly liveVisitors: number
  /** Whether the workspace has any readable event. */
  readonly hasEvents: boolean
}

export async function readLiveVisitors(
  ch: Reader,
  { workspaceId, now, readableFrom }: { workspaceId: number; now: number; readableFrom: number },
): Promise<number> {
  const [row] = await ch.query<{ live: number }>(
    `SELECT ${setFunction('total', '')}(visitor) AS live FROM events WHERE workspace_id = {workspace:UInt32} AND visitor != 0
       AND occurred_at >= ${moment('live_from')} AND occurred_at <= ${moment('now')}`,
    { workspace: workspaceId, now, live_from: Math.max(readableFrom, now - liveWindowMs) },
  )
  return row?.live ?? 0
}

export async function hasEventsSince(ch: Reader, workspaceId: number, since: number): Promise<boolean> {
  const rows = await ch.query(
    `SELECT 1 FROM events WHERE workspace_id = {workspace:UInt32} AND occurred_at >= ${moment('since')} LIMIT 1`,
    { workspace: workspaceId, since },
  )
  return rows.length > 0
}
