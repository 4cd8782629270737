/** Who is there now, and whether anybody ever was. */
import { liveWindowMs } from '../../../schemas/limits.ts'
import { moment, type Reader } from './span.ts'

export interface Presence {
  /** Distinct visitors of the last minutes. */
  readonly liveVisitors: number
  /** Whether the workspace has any readable event. */
  readonly hasEvents: boolean
}

export async function readPresence(
  ch: Reader,
  { workspaceId, now, readableFrom }: { workspaceId: number; now: number; readableFrom: number },
): Promise<Presence> {
  const [row] = await ch.query<{ live: number; seen: number }>(
    `SELECT
       (SELECT uniqExact(visitor) FROM events WHERE workspace_id = {workspace:UInt32} AND visitor != 0
          AND occurred_at >= ${moment('live_from')} AND occurred_at <= ${moment('now')}) AS live,
       (SELECT count() FROM (SELECT 1 FROM events WHERE workspace_id = {workspace:UInt32}
          AND occurred_at >= ${moment('readable_from')} LIMIT 1)) AS seen`,
    { workspace: workspaceId, now, live_from: now - liveWindowMs, readable_from: readableFrom },
  )
  return { liveVisitors: row?.live ?? 0, hasEvents: (row?.seen ?? 0) > 0 }
}
