/** Short domains of workspaces. A verified host is one workspace's; any may claim it before. */
import type { DomainFailure } from '../../../schemas/short-domain.ts'
import type { Queryable } from '../../client.ts'
import { takeNamedLock } from '../../named-lock.ts'

export interface StoredDomain {
  readonly id: number
  readonly host: string
  readonly token: string
  readonly verified_at: Date | null
  readonly checked_at: Date | null
  readonly failure: DomainFailure | null
  readonly root_url: string | null
  readonly not_found_url: string | null
  readonly created_at: Date
}

type Addresses = Pick<StoredDomain, 'root_url' | 'not_found_url'>

const columns = 'id, host, token, verified_at, checked_at, failure, root_url, not_found_url, created_at'
const isThere = 'removed_at IS NULL'

/** By host. */
export function listDomains(q: Queryable, workspaceId: number): Promise<StoredDomain[]> {
  return q.query(`SELECT ${columns} FROM short_domains WHERE workspace_id = $1 AND ${isThere} ORDER BY host`, [
    workspaceId,
  ])
}

/**
 * Adds a host, or brings back one that was removed, with the links that it had.
 * @returns null where the workspace has it
 */
export async function insertDomain(
  tx: Queryable,
  workspaceId: number,
  { host, token, root_url, not_found_url }: Addresses & Pick<StoredDomain, 'host' | 'token'>,
): Promise<StoredDomain | null> {
  const [domain] = await tx.query<StoredDomain>(
    `INSERT INTO short_domains (workspace_id, host, token, root_url, not_found_url) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, host) DO UPDATE SET removed_at = NULL, token = excluded.token, root_url = excluded.root_url,
       not_found_url = excluded.not_found_url, checked_at = NULL, failure = NULL, created_at = now(), updated_at = now()
     WHERE short_domains.removed_at IS NOT NULL RETURNING ${columns}`,
    [workspaceId, host, token, root_url, not_found_url],
  )
  return domain ?? null
}

export function findDomain(q: Queryable, workspaceId: number, id: number): Promise<StoredDomain | null> {
  return readDomain(q, workspaceId, id)
}

/** The same, locked until the end of the transaction: no link is made under it meanwhile. */
export function lockDomain(tx: Queryable, workspaceId: number, id: number): Promise<StoredDomain | null> {
  return readDomain(tx, workspaceId, id, 'FOR UPDATE')
}

async function readDomain(q: Queryable, workspaceId: number, id: number, lock = ''): Promise<StoredDomain | null> {
  const [domain] = await q.query<StoredDomain>(
    `SELECT ${columns} FROM short_domains WHERE workspace_id = $1 AND id = $2 AND ${isThere} ${lock}`,
    [workspaceId, id],
  )
  return domain ?? null
}

export async function updateDomain(
  tx: Queryable,
  id: number,
  { root_url, not_found_url }: Addresses,
): Promise<StoredDomain> {
  const [domain] = await tx.query<StoredDomain>(
    `UPDATE short_domains SET root_url = $2, not_found_url = $3, updated_at = now() WHERE id = $1 RETURNING ${columns}`,
    [id, root_url, not_found_url],
  )
  return domain!
}

/**
 * Notes a check. A verified domain stays so where a later one fails: its links go on through a fault of the DNS.
 * @param failure null: the record is there
 */
export async function noteCheck(tx: Queryable, id: number, failure: DomainFailure | null): Promise<StoredDomain> {
  const [domain] = await tx.query<StoredDomain>(
    `UPDATE short_domains SET checked_at = now(), failure = $2, updated_at = now(),
       verified_at = CASE WHEN $2::text IS NULL THEN coalesce(verified_at, now()) ELSE verified_at END
     WHERE id = $1 RETURNING ${columns}`,
    [id, failure],
  )
  return domain!
}

/** Whether another workspace has proven the host. Until the end of the transaction nobody else proves it. */
export async function isHostOfOthers(tx: Queryable, workspaceId: number, host: string): Promise<boolean> {
  await takeNamedLock(tx, `proof of ${host}`)
  const found = await tx.query(
    'SELECT FROM short_domains WHERE host = $2 AND workspace_id <> $1 AND verified_at IS NOT NULL',
    [workspaceId, host],
  )
  return found.length > 0
}

/** Whether links that aren't archived stand under it. */
export async function hasActiveLinks(tx: Queryable, id: number): Promise<boolean> {
  const found = await tx.query('SELECT FROM links WHERE domain_id = $1 AND archived_at IS NULL LIMIT 1', [id])
  return found.length > 0
}

/** The host is anybody's then. Its row stays where archived links refer to it. */
export async function removeDomain(tx: Queryable, id: number): Promise<void> {
  const deleted = await tx.query(
    'DELETE FROM short_domains d WHERE id = $1 AND NOT EXISTS (SELECT FROM links WHERE domain_id = d.id) RETURNING 1',
    [id],
  )
  if (deleted.length > 0) return
  await tx.query(
    `UPDATE short_domains SET removed_at = now(), verified_at = NULL, root_url = NULL, not_found_url = NULL, updated_at = now()
     WHERE id = $1`,
    [id],
  )
}

/** Ids of the workspace's verified ones among these hosts. In a transaction they stay until its end. */
export async function domainsOfHosts(
  q: Queryable,
  workspaceId: number,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (hosts.length === 0) return new Map()
  const found = await q.query<Pick<StoredDomain, 'id' | 'host'>>(
    `SELECT id, host FROM short_domains WHERE workspace_id = $1 AND host = ANY($2::text[]) AND verified_at IS NOT NULL
     ORDER BY id FOR SHARE`,
    [workspaceId, hosts],
  )
  return new Map(found.map(({ id, host }) => [host, id]))
}

/** A verified domain as ingest needs it. */
export interface ServedDomain extends Addresses, Pick<StoredDomain, 'id' | 'host'> {}

/** The verified domains of all workspaces. */
export function listServedDomains(q: Queryable): Promise<ServedDomain[]> {
  return q.query(
    'SELECT id, host, root_url, not_found_url FROM short_domains WHERE verified_at IS NOT NULL ORDER BY host',
  )
}
