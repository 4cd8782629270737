/** Short domains as an operator sees them, whosever they are. */
import type { Queryable } from '../../client.ts'
import { removeDomain, type StoredDomain } from './short-domains.ts'

export interface OperatorDomain extends Pick<StoredDomain, 'id' | 'host' | 'verified_at'> {
  readonly workspace_id: number
  /** Links under it that aren't archived. */
  readonly active_links: number
}

const columns = `id, host, workspace_id, verified_at,
  (SELECT count(*)::int FROM links WHERE domain_id = d.id AND archived_at IS NULL) AS active_links`

/** By host, the verified one first. @param workspaceId undefined: of all workspaces */
export function listAllDomains(q: Queryable, workspaceId: number | undefined): Promise<OperatorDomain[]> {
  return q.query(
    `SELECT ${columns} FROM short_domains d WHERE removed_at IS NULL AND ($1::int IS NULL OR workspace_id = $1)
     ORDER BY host, verified_at, id`,
    [workspaceId ?? null],
  )
}

/**
 * Removes the domain from the workspace that has proven the host. Its links stay, and lead nowhere.
 * @returns the domain as it was; null where no workspace has proven the host
 */
export async function releaseHost(tx: Queryable, host: string): Promise<OperatorDomain | null> {
  const [domain] = await tx.query<OperatorDomain>(
    `SELECT ${columns} FROM short_domains d WHERE host = $1 AND verified_at IS NOT NULL FOR UPDATE`,
    [host],
  )
  if (domain === undefined) return null
  await removeDomain(tx, domain.id)
  return domain
}
