/** Links that are there before others are made: by their keys, and by where they lead. */
import type { Queryable } from '../client.ts'
import { takeNamedLock } from '../named-lock.ts'
import type { TrackedLink } from './links.ts'

type KeyedLink = Pick<TrackedLink, 'id' | 'attribution_key' | 'destination_url'> & { readonly workspace_id: number }

/** Links of these keys, whosever they are. */
export function linksOfKeys(q: Queryable, keys: readonly string[]): Promise<KeyedLink[]> {
  return q.query(
    'SELECT id, workspace_id, attribution_key, destination_url FROM links WHERE attribution_key = ANY($1::text[])',
    [keys],
  )
}

/** The workspace's oldest link for each of these pairs: many links may have one. */
export function linksOfDestinations(
  q: Queryable,
  workspaceId: number,
  wanted: readonly Pick<TrackedLink, 'label' | 'destination_url'>[],
): Promise<Pick<TrackedLink, 'id' | 'label' | 'destination_url'>[]> {
  return q.query(
    `SELECT DISTINCT ON (label, destination_url) id, label, destination_url
     FROM links JOIN unnest($2::text[], $3::text[]) AS wanted (label, destination_url) USING (label, destination_url)
     WHERE workspace_id = $1 ORDER BY label, destination_url, id`,
    [workspaceId, wanted.map(({ label }) => label), wanted.map(({ destination_url: url }) => url)],
  )
}

/** Waits until no other import of the workspace is under way: each finds the links that those before it made. */
export function holdLinkImports(tx: Queryable, workspaceId: number): Promise<void> {
  return takeNamedLock(tx, `import of links ${workspaceId}`)
}
