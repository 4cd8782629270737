/** The outbox: events for webhooks, written in the transaction of the change. */
import { randomBytes } from 'node:crypto'
import type { WebhookEventType } from '../../../schemas/webhook-events.ts'
import type { Queryable } from '../../client.ts'

export interface OutboxRow {
  readonly workspaceId: number
  readonly type: WebhookEventType
  /** The resource as the API shows it. */
  readonly object: unknown
}

/** @returns the event's id */
export async function insertOutbox(
  tx: Queryable,
  workspaceId: number,
  type: WebhookEventType,
  object: unknown,
): Promise<string> {
  const [eventId] = await insertOutboxRows(tx, [{ workspaceId, type, object }])
  return eventId!
}

/** @returns the events' ids, in the same order */
export async function insertOutboxRows(tx: Queryable, rows: readonly OutboxRow[]): Promise<string[]> {
  const eventIds = rows.map(() => `evt_${randomBytes(16).toString('hex')}`)
  if (rows.length === 0) return eventIds
  await tx.query(
    `INSERT INTO outbox (workspace_id, event_id, type, object)
     SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::jsonb[])`,
    [
      rows.map(({ workspaceId }) => workspaceId),
      eventIds,
      rows.map(({ type }) => type),
      rows.map(({ object }) => JSON.stringify(object)),
    ],
  )
  return eventIds
}

/** SQL condition of `webhook_endpoints AS endpoint`: it is subscribed to events of this type (SQL). */
export function isSubscribedTo(type: string): string {
  return `endpoint.status = 'enabled' AND endpoint.deleted_at IS NULL AND (endpoint.events = '{}' OR ${type} = ANY (endpoint.events))`
}

/** Subscribed types among `types`, by workspace. Frequent events are written only if an endpoint subscribes to them. */
export async function readSubscribedTypes(
  q: Queryable,
  types: readonly WebhookEventType[],
  workspaceIds: readonly number[],
): Promise<Map<number, ReadonlySet<WebhookEventType>>> {
  const rows = await q.query<{ workspaceId: number; types: WebhookEventType[] }>(
    `SELECT endpoint.workspace_id AS "workspaceId", array_agg(DISTINCT wanted.type) AS types
     FROM webhook_endpoints AS endpoint CROSS JOIN unnest($1::text[]) AS wanted (type)
     WHERE ${isSubscribedTo('wanted.type')} AND endpoint.workspace_id = ANY ($2::int[])
     GROUP BY endpoint.workspace_id`,
    [types, workspaceIds],
  )
  return new Map(rows.map((row) => [row.workspaceId, new Set(row.types)]))
}

/**
 * Forgets what webhooks were to be told, and what receivers answered to it.
 * @param which condition of `outbox`, with parameters from $2 on
 */
export async function forgetOutbox(
  tx: Queryable,
  workspaceId: number,
  which: string,
  params: readonly unknown[],
): Promise<void> {
  // In one order, as attempts lock them that are being recorded (webhook-turns.ts): nobody waits in a circle.
  const gone = await tx.query<{ event_id: string }>(
    `WITH chosen AS (SELECT id FROM outbox WHERE workspace_id = $1 AND ${which} ORDER BY id FOR UPDATE)
     DELETE FROM outbox USING chosen WHERE outbox.id = chosen.id RETURNING event_id`,
    [workspaceId, ...params],
  )
  if (gone.length === 0) return
  // A statement of its own: it sees answers that were recorded while the other one waited.
  await tx.query(
    `UPDATE webhook_deliveries SET response_body = NULL
     WHERE workspace_id = $1 AND response_body IS NOT NULL AND event_id = ANY ($2::text[])`,
    [workspaceId, gone.map(({ event_id }) => event_id)],
  )
}
