/**
 * The queue of pulling search terms. A process leases a due site for a turn; one whose lease has ended changes nothing here.
 * Times come from the caller's clock. Held by test/integration/search-terms.test.ts.
 */
import { searchHoldMaxMs, searchLeaseMs } from '../../../schemas/limits/search-limits.ts'
import type { Queryable } from '../../client.ts'
import { isPast, type Leasing } from '../../leasing.ts'
import { isInUse } from '../workspaces/is-in-use.ts'
import type { Workspace } from '../workspaces/workspaces.ts'

export interface LeasedSite {
  readonly id: number
  readonly site: string
  /** The key, encrypted. */
  readonly sealed: Buffer
  readonly failures: number
  readonly leased_until: Date
  readonly workspace: Pick<Workspace, 'id' | 'timezone' | 'plan_key' | 'retention_days'>
  /** Retention ran up to here. */
  readonly deleted_before: Date | null
}

/** Sites that are due, those first that are due for longest. A workspace that is suspended or has no plan waits. */
export function leaseSearchSites(q: Queryable, { now, until, max }: Leasing): Promise<LeasedSite[]> {
  return q.query<LeasedSite>(
    `WITH due AS (
       SELECT s.id FROM search_sites s JOIN workspaces w ON w.id = s.workspace_id JOIN owners o ON o.id = w.owner_id
       WHERE s.status = 'active' AND ${isPast('s.next_pull_at', '$1', searchHoldMaxMs)}
         AND coalesce(${isPast('s.leased_until', '$1', searchLeaseMs)}, true)
         AND ${isInUse()}
       ORDER BY s.next_pull_at, s.id LIMIT $3 FOR NO KEY UPDATE OF s SKIP LOCKED),
     leased AS (UPDATE search_sites SET leased_until = $2 FROM due WHERE search_sites.id = due.id RETURNING search_sites.*)
     SELECT s.id, s.site, s.sealed, s.failures, s.leased_until, w.deleted_before,
       json_build_object('id', w.id, 'timezone', w.timezone, 'plan_key', o.plan_key, 'retention_days', w.retention_days) AS workspace
     FROM leased s JOIN workspaces w ON w.id = s.workspace_id JOIN owners o ON o.id = w.owner_id`,
    [now, until, max],
  )
}

/** A site that was connected anew, or is another's, keeps its state. */
const isLeased = `id = $1 AND leased_until = $2 AND status = 'active'`

export interface EndedPull {
  readonly nextAt: Date
  /** When all days were as Search Console has them; null: the pull goes on. */
  readonly pulledAt: Date | null
  /** Null: Search Console has no day. */
  readonly dataThrough: string | null
  /** The first day that was asked for. */
  readonly dataFrom: string
}

export async function endPull(
  q: Queryable,
  { id, leased_until }: LeasedSite,
  { nextAt, pulledAt, dataThrough, dataFrom }: EndedPull,
): Promise<void> {
  await q.query(
    `UPDATE search_sites SET next_pull_at = $3, pulled_at = coalesce($4, pulled_at), data_through = coalesce($5, data_through),
       data_from = CASE WHEN $4::timestamptz IS NULL THEN data_from ELSE least(data_from, $6::date) END,
       leased_until = NULL, last_error = NULL, failures = 0 WHERE ${isLeased}`,
    [id, leased_until, nextAt, pulledAt, dataThrough, dataFrom],
  )
}

/** A process that stops leaves the site to the next one. */
export async function releasePull(q: Queryable, { id, leased_until }: LeasedSite): Promise<void> {
  await q.query(`UPDATE search_sites SET leased_until = NULL WHERE ${isLeased}`, [id, leased_until])
}

/** @param nextAt null: its key is taken no more, and it waits until somebody connects it anew */
export async function failPull(
  q: Queryable,
  { id, leased_until }: LeasedSite,
  { message, nextAt }: { readonly message: string; readonly nextAt: Date | null },
): Promise<void> {
  await q.query(
    `UPDATE search_sites SET next_pull_at = coalesce($3, next_pull_at), last_error = $4, failures = failures + 1,
       leased_until = NULL, status = CASE WHEN $3::timestamptz IS NULL THEN 'needs_reconnecting' ELSE status END WHERE ${isLeased}`,
    [id, leased_until, nextAt, message],
  )
}
