/** Who is there now, and who was there last. Both see the events that figures reflect. */
import { liveWindowMs } from '../../schemas/limits/figure-limits.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { inWorkspace, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import type { Reader } from './reader.ts'

/** SQL condition: an event by which its visitor is live. Parameters: `live_from` and `now`. */
export const isLive = `visitor!=0 AND occurred_at>=${moment('live_from')} AND occurred_at<=${moment('now')}`

/** By workspace; those without a live visitor are missing. @param now milliseconds since 1970 UTC */
export async function countLiveVisitors(
  ch: Reader,
  workspaceIds: readonly number[],
  now: number,
): Promise<Map<number, number>> {
  // Not called `id`: conditions over the event's own id would read it.
  const rows = await ch.query<{ workspace: number; visitors: number }>(
    `WITH ${coverageSql} AS coverage
     SELECT workspace_id AS workspace, uniqExact(visitor) AS visitors FROM events
     WHERE workspace_id IN {workspaces:Array(UInt32)} AND ${isLive} AND ${isFolded} GROUP BY workspace_id`,
    { workspaces: workspaceIds, live_from: now - liveWindowMs, now },
  )
  return new Map(rows.map(({ workspace, visitors }) => [workspace, visitors]))
}

/** Time of the last event of a visitor within a span, both ends included; undefined without one. */
export async function readLastVisit(
  ch: Reader,
  { workspaceId, from, to }: { readonly workspaceId: number; readonly from: number; readonly to: number },
  deadlineMs: number,
): Promise<number | undefined> {
  const [row] = await ch.query<{ events: number; last: number }>(
    `WITH ${coverageSql} AS coverage
     SELECT count() AS events, max(${eventMs}) AS last FROM events
     WHERE ${inWorkspace} AND visitor!=0 AND occurred_at>=${moment('from')} AND occurred_at<=${moment('to')} AND ${isFolded}`,
    { workspace: workspaceId, from, to },
    { deadlineMs },
  )
  return row!.events === 0 ? undefined : row!.last
}
