/** Tracked links as `ingest` reads them: where each leads, and its preview. */
import { linkTableBytesMax } from '../../../schemas/limits/ingest-limits.ts'
import type { Queryable } from '../../client.ts'
import { readWithin, type TrackedLink } from './links.ts'

/** A link as a redirect needs it. One of a workspace that is being deleted isn't found by itself, and is among the listed. */
export interface Redirect
  extends Pick<
    TrackedLink,
    | 'id'
    | 'attribution_key'
    | 'post_id'
    | 'tracking_url'
    | 'tracking_params'
    | 'expires_at'
    | 'expired_url'
    | 'targets'
    | 'preview'
    | 'updated_at'
  > {
  readonly workspace_id: number
  readonly password_hash: string | null
  /** Null: under the installation's root. */
  readonly domain_id: number | null
}

// Parameters come only with targets, whose URLs get them.
const redirectColumns = `id, attribution_key, domain_id, workspace_id, post_id, tracking_url, expires_at, expired_url, targets, password_hash, preview,
  CASE WHEN targets = '[]' THEN '{}' ELSE tracking_params END AS tracking_params, updated_at`
const isKept = 'NOT EXISTS (SELECT FROM workspace_deletions d WHERE d.workspace_id = links.workspace_id)'

/**
 * Redirects of all workspaces, the last changed first; with a moment given, only those that changed since. The length
 * of their targets is bounded as well, so that nobody's long ones fill a node's memory.
 */
export async function listRedirects(
  q: Queryable,
  since: Date | null,
  limit: number,
  bytesMax = linkTableBytesMax,
): Promise<Redirect[]> {
  // `changed` has the microseconds, which a Date hasn't got.
  const redirects = await readWithin<Redirect & { readonly changed: string }>(limit, bytesMax, (rowsMax, last) =>
    q.query(
      `SELECT ${redirectColumns}, updated_at::text AS changed FROM links
       WHERE ($1::timestamptz IS NULL OR updated_at >= $1)
         AND ($2::timestamptz IS NULL OR (updated_at, id) < ($2::timestamptz, $3::bigint))
       ORDER BY updated_at DESC, id DESC LIMIT $4`,
      [since, last?.changed ?? null, last?.id ?? null, rowsMax],
    ),
  )
  return redirects.map(({ changed, ...redirect }) => redirect)
}

export async function findRedirectOfId(q: Queryable, id: number): Promise<Redirect | null> {
  const [row] = await q.query<Redirect>(`SELECT ${redirectColumns} FROM links WHERE id = $1 AND ${isKept}`, [id])
  return row ?? null
}

/** @param domainId null: the installation's root */
export async function findRedirect(q: Queryable, key: string, domainId: number | null): Promise<Redirect | null> {
  const [row] = await q.query<Redirect>(
    `SELECT ${redirectColumns} FROM links WHERE attribution_key = $1 AND domain_id IS NOT DISTINCT FROM $2 AND ${isKept}`,
    [key, domainId],
  )
  return row ?? null
}
