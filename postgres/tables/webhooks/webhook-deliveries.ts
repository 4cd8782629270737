/** Records of deliveries to webhooks: what the API shows and asks for, and what becomes of them besides being sent. */
import type { Queryable } from '../../client.ts'
import type { Page } from '../../page.ts'
import { insertOutbox } from './outbox.ts'

export interface WebhookDelivery {
  readonly id: number
  readonly webhook_endpoint_id: number
  readonly event_id: string
  readonly event_type: string
  readonly status: 'pending' | 'delivered' | 'failed'
  readonly attempt_count: number
  readonly response_status: number | null
  readonly response_body: string | null
  readonly error: string | null
  readonly duration_ms: number | null
  readonly next_attempt_at: Date | null
  readonly delivered_at: Date | null
  readonly created_at: Date
}

const columns = `id, webhook_endpoint_id, event_id, event_type, status, attempt_count, response_status, response_body, error,
  duration_ms, next_attempt_at, delivered_at, created_at`

/** Newest first. */
export function listWebhookDeliveries(
  q: Queryable,
  workspaceId: number,
  { limit, beforeId }: Page,
): Promise<WebhookDelivery[]> {
  return q.query<WebhookDelivery>(
    `SELECT ${columns} FROM webhook_deliveries
     WHERE workspace_id = $1 AND ($3::bigint IS NULL OR id < $3) ORDER BY id DESC LIMIT $2`,
    [workspaceId, limit, beforeId ?? null],
  )
}

/** An event for one endpoint alone, due at once. @param object the endpoint as the API shows it */
export async function insertTestDelivery(
  tx: Queryable,
  workspaceId: number,
  endpointId: number,
  object: unknown,
): Promise<WebhookDelivery> {
  const eventId = await insertOutbox(tx, workspaceId, 'webhook.test', object)
  await tx.query('UPDATE outbox SET fanned_out_at = now() WHERE event_id = $1', [eventId])
  await letEndpointGo(tx, endpointId)
  const [delivery] = await tx.query<WebhookDelivery>(
    `INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, next_attempt_at, by_hand)
     VALUES ($1, $2, $3, 'webhook.test', now(), true) RETURNING ${columns}`,
    [workspaceId, endpointId, eventId],
  )
  return delivery!
}

export interface Redeliverable {
  readonly endpointId: number
  readonly isEndpointDeleted: boolean
  /** The event itself, which is kept as long as the record, if it isn't erased. */
  readonly hasEvent: boolean
}

/**
 * Locked until the end of the transaction, before its endpoint, as where an attempt is recorded.
 * @returns null when there is no such delivery
 */
export async function lockRedeliverable(tx: Queryable, workspaceId: number, id: number): Promise<Redeliverable | null> {
  const [found] = await tx.query<Redeliverable>(
    `SELECT endpoint.id AS "endpointId", endpoint.deleted_at IS NOT NULL AS "isEndpointDeleted",
       EXISTS (SELECT FROM outbox WHERE outbox.event_id = delivery.event_id) AS "hasEvent"
     FROM webhook_deliveries AS delivery JOIN webhook_endpoints AS endpoint ON endpoint.id = webhook_endpoint_id
     WHERE delivery.workspace_id = $1 AND delivery.id = $2 FOR NO KEY UPDATE OF delivery`,
    [workspaceId, id],
  )
  return found ?? null
}

/** Due at once, with all its retries before it; attempts go on being counted. The delivery is locked. */
export async function redeliver(tx: Queryable, endpointId: number, id: number): Promise<WebhookDelivery> {
  await letEndpointGo(tx, endpointId)
  const [delivery] = await tx.query<WebhookDelivery>(
    `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now(), delivered_at = NULL, retry_step = 0, by_hand = true
     WHERE id = $1 RETURNING ${columns}`,
    [id],
  )
  return delivery!
}

/** A delivery that somebody asks for by hand doesn't wait for a `Retry-After`. */
async function letEndpointGo(tx: Queryable, endpointId: number): Promise<void> {
  await tx.query('UPDATE webhook_endpoints SET held_until = NULL WHERE id = $1 AND held_until IS NOT NULL', [
    endpointId,
  ])
}

/** Stays pending and isn't sent, until it is retried. */
export async function pauseDelivery(tx: Queryable, id: number): Promise<void> {
  await tx.query(`UPDATE webhook_deliveries SET next_attempt_at = NULL WHERE id = $1 AND status = 'pending'`, [id])
}

export async function retryPausedDeliveries(q: Queryable, ids: readonly number[]): Promise<void> {
  await q.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now()
     WHERE id = ANY ($1) AND status = 'pending' AND next_attempt_at IS NULL`,
    [ids],
  )
}

/** Oldest first; what is pending stays, also what somebody has just asked for once more. @returns how many went */
export async function deleteOldDeliveries(q: Queryable, before: number, max: number): Promise<number> {
  const gone = await q.query(
    `DELETE FROM webhook_deliveries WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE created_at < to_timestamp($1::float8 / 1000) AND status <> 'pending'
       ORDER BY created_at LIMIT $2) AND status <> 'pending'
     RETURNING 1`,
    [before, max],
  )
  return gone.length
}

/**
 * Deletes events whose deliveries are all gone, but for those that are being forgotten. Looks for those of each event by index.
 * @returns how many went
 */
export async function deleteOldOutbox(q: Queryable, before: number, max: number): Promise<number> {
  const gone = await q.query(
    `DELETE FROM outbox WHERE id IN (
       SELECT id FROM outbox WHERE created_at < to_timestamp($1::float8 / 1000) AND fanned_out_at IS NOT NULL
         AND (SELECT true FROM webhook_deliveries AS delivery WHERE delivery.event_id = outbox.event_id LIMIT 1) IS NULL
       ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING 1`,
    [before, max],
  )
  return gone.length
}
