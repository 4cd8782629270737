/** Links that are there before others are made: by their keys, and by where they lead. */
import type { Queryable } from '../../client.ts'
import { takeNamedLock } from '../../named-lock.ts'
import type { TrackedLink } from './links.ts'

type KeyedLink = Pick<TrackedLink, 'id' | 'attribution_key' | 'destination_url' | 'expired_url' | 'targets'> & {
  readonly workspace_id: number
  readonly domain_id: number | null
}

/** A key, and the domain that it stands under; null: the installation's root. */
export interface KeyPlace {
  readonly key: string
  readonly domainId: number | null
}

/** Links of these keys, whosever they are. */
export function linksOfKeys(q: Queryable, places: readonly KeyPlace[]): Promise<KeyedLink[]> {
  return q.query(
    `SELECT id, workspace_id, attribution_key, domain_id, destination_url, expired_url, targets
     FROM links JOIN unnest($1::text[], $2::bigint[]) AS wanted (key, domain)
       ON attribution_key = wanted.key AND domain_id IS NOT DISTINCT FROM wanted.domain`,
    [places.map(({ key }) => key), places.map(({ domainId }) => domainId)],
  )
}

/** Label and destination of a link, and its domain. */
type NamedLink = Pick<TrackedLink, 'label' | 'destination_url'> & { readonly domain_id: number | null }

/** The workspace's oldest link for each of these: many links may have one. */
export function linksOfDestinations(
  q: Queryable,
  workspaceId: number,
  wanted: readonly NamedLink[],
): Promise<(NamedLink & Pick<TrackedLink, 'id'>)[]> {
  return q.query(
    `SELECT DISTINCT ON (label, destination_url, domain_id) id, label, destination_url, domain_id
     FROM links JOIN unnest($2::text[], $3::text[], $4::bigint[]) AS wanted (label, destination_url, domain)
       USING (label, destination_url)
     WHERE workspace_id = $1 AND domain_id IS NOT DISTINCT FROM wanted.domain
     ORDER BY label, destination_url, domain_id, id`,
    [
      workspaceId,
      wanted.map(({ label }) => label),
      wanted.map(({ destination_url: url }) => url),
      wanted.map(({ domain_id }) => domain_id),
    ],
  )
}

/** Waits until no other import of the workspace is under way: each finds the links that those before it made. */
export function lockLinkImports(tx: Queryable, workspaceId: number): Promise<void> {
  return takeNamedLock(tx, `import of links ${workspaceId}`)
}
