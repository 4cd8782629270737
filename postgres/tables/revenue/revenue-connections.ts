/** Connections to payment providers, with the secrets that verify their events. */
import type { RevenueProvider } from '../../../schemas/revenue.ts'
import type { Queryable } from '../../client.ts'

export interface RevenueConnection {
  readonly id: number
  readonly workspace_id: number
  readonly provider: RevenueProvider
  readonly created_at: Date
}

const columns = 'id, workspace_id, provider, created_at'

/** @param secret encrypted */
export async function insertRevenueConnection(
  tx: Queryable,
  workspaceId: number,
  provider: RevenueProvider,
  secret: Buffer,
): Promise<RevenueConnection> {
  const [made] = await tx.query<RevenueConnection>(
    `INSERT INTO revenue_connections (workspace_id, provider, secret) VALUES ($1, $2, $3) RETURNING ${columns}`,
    [workspaceId, provider, secret],
  )
  return made!
}

/** Events signed with the former secret are refused from then on. @returns null where there is no such connection */
export async function replaceRevenueSecret(
  tx: Queryable,
  { id, workspaceId, provider }: { id: number; workspaceId: number; provider: RevenueProvider },
  secret: Buffer,
): Promise<RevenueConnection | null> {
  const [changed] = await tx.query<RevenueConnection>(
    `UPDATE revenue_connections SET secret = $4
     WHERE id = $1 AND workspace_id = $2 AND provider = $3 AND disconnected_at IS NULL RETURNING ${columns}`,
    [id, workspaceId, provider, secret],
  )
  return changed ?? null
}

/** Its secret is encrypted. @returns null where there is none, or it was disconnected */
export async function readRevenueConnection(
  q: Queryable,
  id: number,
  provider: RevenueProvider,
): Promise<(RevenueConnection & { readonly secret: Buffer }) | null> {
  const [connection] = await q.query<RevenueConnection & { secret: Buffer }>(
    `SELECT ${columns}, secret FROM revenue_connections WHERE id = $1 AND provider = $2 AND disconnected_at IS NULL`,
    [id, provider],
  )
  return connection ?? null
}

/** Those that aren't disconnected, newest first: `revenueConnectionsMax` bounds them. */
export function listRevenueConnections(q: Queryable, workspaceId: number): Promise<RevenueConnection[]> {
  return q.query<RevenueConnection>(
    `SELECT ${columns} FROM revenue_connections WHERE workspace_id = $1 AND disconnected_at IS NULL ORDER BY id DESC`,
    [workspaceId],
  )
}

/** @returns null where there is none that is connected */
export async function disconnectRevenue(tx: Queryable, id: number): Promise<RevenueConnection | null> {
  const [gone] = await tx.query<RevenueConnection>(
    `UPDATE revenue_connections SET disconnected_at = now() WHERE id = $1 AND disconnected_at IS NULL RETURNING ${columns}`,
    [id],
  )
  return gone ?? null
}
