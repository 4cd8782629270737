/** Links that are there before others are made: by their keys, and by where they lead. */
import type { Queryable } from '../client.ts'
import type { TrackedLink } from './links.ts'

type KeyedLink = Pick<TrackedLink, 'id' | 'attribution_key' | 'destination_url'> & { readonly workspace_id: number }

/** Links of these keys, whosever they are. */
export function linksOfKeys(q: Queryable, keys: readonly string[]): Promise<KeyedLink[]> {
  return q.query(
    'SELECT id, workspace_id, attribution_key, destination_url FROM links WHERE attribution_key = ANY($1::text[])',
    [keys],
  )
}

/** The workspace's links that lead to these destinations, the oldest first. */
export function linksOfDestinations(
  q: Queryable,
  workspaceId: number,
  destinations: readonly string[],
): Promise<Pick<TrackedLink, 'id' | 'label' | 'destination_url'>[]> {
  return q.query(
    `SELECT id, label, destination_url FROM links WHERE workspace_id = $1 AND destination_url = ANY($2::text[])
     ORDER BY id`,
    [workspaceId, destinations],
  )
}
