/** Webhook endpoints of a workspace. */
import type { Queryable } from '../../client.ts'
import type { Page } from '../../page.ts'

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

/** @returns null when there is no such endpoint */
export async function findWebhookEndpoint(
  q: Queryable,
  workspaceId: number,
  id: number,
): Promise<WebhookEndpoint | null> {
  const [endpoint] = await q.query<WebhookEndpoint>(
    `SELECT ${columns} FROM webhook_endpoints WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [workspaceId, id],
  )
  return endpoint ?? null
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
