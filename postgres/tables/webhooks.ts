/** Webhook endpoints and the deliveries to them. */
import type { Queryable } from '../client.ts'
import type { Page } from '../page.ts'

export interface WebhookEndpoint {
  readonly id: number
  readonly url: string
  /** Empty: all that there are. */
  readonly events: string[]
  readonly description: string
  readonly status: 'enabled' | 'disabled'
  readonly created_at: Date
  readonly updated_at: Date
}

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

const columns = 'id, url, events, description, status, created_at, updated_at'

export interface NewWebhookEndpoint {
  readonly workspaceId: number
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
  /** Encrypted. */
  readonly secret: Buffer
}

export async function insertWebhookEndpoint(tx: Queryable, made: NewWebhookEndpoint): Promise<WebhookEndpoint> {
  const [endpoint] = await tx.query<WebhookEndpoint>(
    `INSERT INTO webhook_endpoints (workspace_id, url, events, description, secret) VALUES ($1, $2, $3, $4, $5)
     RETURNING ${columns}`,
    [made.workspaceId, made.url, made.events, made.description, made.secret],
  )
  return endpoint!
}

/** Newest first. */
export function listWebhookEndpoints(
  q: Queryable,
  workspaceId: number,
  { limit, beforeId }: Page,
): Promise<WebhookEndpoint[]> {
  return q.query<WebhookEndpoint>(
    `SELECT ${columns} FROM webhook_endpoints
     WHERE workspace_id = $1 AND deleted_at IS NULL AND ($3::bigint IS NULL OR id < $3) ORDER BY id DESC LIMIT $2`,
    [workspaceId, limit, beforeId ?? null],
  )
}

export async function countWebhookEndpoints(q: Queryable, workspaceId: number): Promise<number> {
  const [row] = await q.query<{ count: number }>(
    'SELECT count(*) FROM webhook_endpoints WHERE workspace_id = $1 AND deleted_at IS NULL',
    [workspaceId],
  )
  return row!.count
}

/** Its deliveries stay. @returns null when there is no such endpoint */
export async function deleteWebhookEndpoint(
  tx: Queryable,
  workspaceId: number,
  id: number,
): Promise<WebhookEndpoint | null> {
  const [endpoint] = await tx.query<WebhookEndpoint>(
    `UPDATE webhook_endpoints SET deleted_at = now(), status = 'disabled', updated_at = now()
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING ${columns}`,
    [workspaceId, id],
  )
  return endpoint ?? null
}

/** Newest first. */
export function listWebhookDeliveries(
  q: Queryable,
  workspaceId: number,
  { limit, beforeId }: Page,
): Promise<WebhookDelivery[]> {
  return q.query<WebhookDelivery>(
    `SELECT id, webhook_endpoint_id, event_id, event_type, status, attempt_count, response_status, response_body, error,
       duration_ms, next_attempt_at, delivered_at, created_at
     FROM webhook_deliveries WHERE workspace_id = $1 AND ($3::bigint IS NULL OR id < $3) ORDER BY id DESC LIMIT $2`,
    [workspaceId, limit, beforeId ?? null],
  )
}
