/** Properties of Search Console that a workspace has connected: what pulls them is search-pulls.ts. Held by test/integration/search-terms.test.ts. */
import type { SearchSiteState, SearchSiteStatus } from '../../../schemas/resources/search-terms.ts'
import type { Queryable } from '../../client.ts'

export interface SearchSite {
  readonly id: number
  readonly workspace_id: number
  readonly site: string
  readonly account: string
  readonly status: SearchSiteStatus
  readonly pulled_at: Date | null
  /** `YYYY-MM-DD`. */
  readonly data_through: string | null
  /** `YYYY-MM-DD`: all days from it on were read. Null until the first pull is complete. */
  readonly data_from: string | null
  readonly last_error: string | null
  readonly created_at: Date
}

const columns = `id, workspace_id, site, account, status, pulled_at, data_through::text AS data_through,
  data_from::text AS data_from, last_error, created_at`

/** All of them, oldest first: `searchSitesMax` bounds them. Their keys are not among it. */
export function listSearchSites(q: Queryable, workspaceId: number): Promise<SearchSite[]> {
  return q.query<SearchSite>(`SELECT ${columns} FROM search_sites WHERE workspace_id = $1 ORDER BY id`, [workspaceId])
}

/** `loading` until the first pull is complete. */
export function searchStateOf({ status, pulled_at }: Pick<SearchSite, 'status' | 'pulled_at'>): SearchSiteState {
  return status === 'active' && pulled_at === null ? 'loading' : status
}

export interface ConnectedSite {
  readonly workspaceId: number
  readonly site: string
  readonly account: string
  /** The key, encrypted. */
  readonly sealed: Buffer
  readonly now: Date
}

/** Connects a site, or renews the connection of one that there is. It is pulled at once, by the new key. */
export async function connectSearchSite(
  tx: Queryable,
  { workspaceId, site, account, sealed, now }: ConnectedSite,
): Promise<SearchSite> {
  const [connected] = await tx.query<SearchSite>(
    `INSERT INTO search_sites (workspace_id, site, account, sealed, next_pull_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, site) DO UPDATE SET account = $3, sealed = $4, next_pull_at = $5, status = 'active',
       leased_until = NULL, last_error = NULL, failures = 0
     RETURNING ${columns}`,
    [workspaceId, site, account, sealed, now],
  )
  return connected!
}

/** Its key goes with it, and its figures are shown no more. @returns null where there is none */
export async function disconnectSearchSite(tx: Queryable, id: number): Promise<SearchSite | null> {
  const [gone] = await tx.query<SearchSite>(`DELETE FROM search_sites WHERE id = $1 RETURNING ${columns}`, [id])
  return gone ?? null
}

export interface KnownSites {
  readonly ids: readonly number[]
  /** The greatest number that was ever given. */
  readonly last: number
}

/** Waits for sites that are being connected: a number is given before its row can be seen. */
export async function readKnownSites(tx: Queryable): Promise<KnownSites> {
  await tx.query('LOCK TABLE search_sites IN SHARE MODE')
  const [known] = await tx.query<KnownSites>(
    `SELECT (SELECT coalesce(json_agg(id), '[]') FROM search_sites) AS ids,
       coalesce(pg_sequence_last_value(pg_get_serial_sequence('search_sites', 'id')), 0) AS last`,
  )
  return known!
}
