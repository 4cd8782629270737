/**
 * How far clicks on short links are reported to webhooks. A workspace has a row while an endpoint of it takes clicks. Times
 * come from the caller's clock. Held by test/integration/told-clicks.test.ts.
 */
import type { ArrivalMark } from '../../../schemas/event/arrival-mark.ts'
import { toldClicksEveryMs } from '../../../schemas/limits/webhook-limits.ts'
import type { Queryable } from '../../client.ts'
import { isPast, isTooFarAhead } from '../../leasing.ts'
import { isSubscribedTo } from '../webhooks/outbox.ts'

export interface ClickReading {
  readonly workspaceId: number
  readonly since: Date
  /** Up to which its clicks are told. */
  readonly marks: readonly ArrivalMark[]
  /** Until then it is this process's alone. */
  readonly leasedUntil: Date
}

/**
 * Gives each workspace with an endpoint for clicks a row, and takes those of others away. Clicks of before the endpoint aren't
 * told. An enabled endpoint was last changed when it was registered or enabled again. If a fast clock wrote that time,
 * its clicks are told from now on.
 */
export async function followClickSubscribers(q: Queryable, now: Date): Promise<void> {
  await q.query(`UPDATE told_clicks SET since = $1 WHERE ${isTooFarAhead('since', '$1', 0)}`, [now])
  await q.query(
    `WITH listening AS (
       SELECT workspace_id, min(CASE WHEN ${isTooFarAhead('updated_at', '$1', 0)} THEN $1 ELSE updated_at END) AS since FROM webhook_endpoints AS endpoint
       WHERE ${isSubscribedTo("'link.clicked'")} GROUP BY workspace_id
     ), gone AS (
       DELETE FROM told_clicks WHERE workspace_id NOT IN (SELECT workspace_id FROM listening)
     )
     INSERT INTO told_clicks (workspace_id, since, due_at)
     SELECT workspace_id, since, $1 FROM listening
     WHERE NOT EXISTS (SELECT FROM told_clicks AS had WHERE had.workspace_id = listening.workspace_id)
     ON CONFLICT DO NOTHING`,
    [now],
  )
}

/** Leases the readings that are due, those first that are due for longest. */
export function leaseClickReadings(q: Queryable, now: Date, until: Date, max: number): Promise<ClickReading[]> {
  return q.query<ClickReading>(
    `WITH due AS (
       SELECT workspace_id FROM told_clicks WHERE ${isPast('due_at', '$1', toldClicksEveryMs)} ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     UPDATE told_clicks SET due_at = $2 FROM due WHERE told_clicks.workspace_id = due.workspace_id
     RETURNING told_clicks.workspace_id AS "workspaceId", since, marks, due_at AS "leasedUntil"`,
    [now, until, max],
  )
}

/**
 * Moves the marks of a reading on, in the transaction that writes what it tells.
 * @returns false when the lease is another's by now, or the row is gone: nothing is to be told then
 */
export async function endClickReading(
  tx: Queryable,
  { workspaceId, leasedUntil }: Pick<ClickReading, 'workspaceId' | 'leasedUntil'>,
  marks: readonly ArrivalMark[],
  nextAt: Date,
): Promise<boolean> {
  const rows = await tx.query(
    'UPDATE told_clicks SET marks = $3, due_at = $4 WHERE workspace_id = $1 AND due_at = $2 RETURNING 1',
    [workspaceId, leasedUntil, JSON.stringify(marks), nextAt],
  )
  return rows.length > 0
}

/** By id of the link. */
export async function readLinkLabels(
  q: Queryable,
  workspaceId: number,
  linkIds: readonly number[],
): Promise<Map<number, string>> {
  const rows = await q.query<{ id: number; label: string }>(
    'SELECT id, label FROM links WHERE workspace_id = $1 AND id = ANY ($2::bigint[])',
    [workspaceId, linkIds],
  )
  return new Map(rows.map(({ id, label }) => [id, label]))
}
