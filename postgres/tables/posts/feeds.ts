/** Feeds of a workspace, as the API shows and changes them: what looks at them is feed-looks.ts. Held by test/integration/feeds.test.ts. */
import type { FeedMode, FeedNews, FeedStatus } from '../../../schemas/resources/feed.ts'
import type { Queryable } from '../../client.ts'
import { rowsById } from '../rows-by-id.ts'

/** The part that somebody chooses. */
export interface FeedSettings {
  readonly social_account_ids: number[]
  readonly mode: FeedMode
  readonly template: string
  readonly shortens_links: boolean
}

export interface StoredFeed extends FeedSettings {
  readonly id: number
  readonly url: string
  readonly title: string
  readonly posts_newest: boolean
  readonly status: FeedStatus
  readonly looked_at: Date | null
  readonly next_look_at: Date
  readonly last_error: string | null
  readonly failing_since: Date | null
  readonly last_news: FeedNews | null
  readonly created_at: Date
}

const columns = `id, url, title, to_jsonb(social_account_ids) AS social_account_ids, mode, template, shortens_links,
  posts_newest, status, looked_at, next_look_at, last_error, failing_since, last_news, created_at`

export const { lock: lockFeed } = rowsById<StoredFeed>('feeds', columns)

/** All of them, newest first: there are few. */
export function listFeeds(q: Queryable, workspaceId: number): Promise<StoredFeed[]> {
  return q.query<StoredFeed>(`SELECT ${columns} FROM feeds WHERE workspace_id = $1 ORDER BY id DESC`, [workspaceId])
}

export interface NewFeed extends FeedSettings {
  readonly url: string
  readonly posts_newest: boolean
  /** The account of the member who sets it up. */
  readonly setUpBy: number
  readonly now: Date
}

/** It is looked at at once. @returns null where the workspace has a feed of this URL */
export async function insertFeed(tx: Queryable, workspaceId: number, feed: NewFeed): Promise<StoredFeed | null> {
  const { url, social_account_ids, mode, template, shortens_links, posts_newest, setUpBy, now } = feed
  const [made] = await tx.query<StoredFeed>(
    `INSERT INTO feeds (workspace_id, url, social_account_ids, mode, template, shortens_links, posts_newest, set_up_by, next_look_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [workspaceId, url, social_account_ids, mode, template, shortens_links, posts_newest, setUpBy, now],
  )
  return made ?? null
}

export interface FeedChange extends FeedSettings {
  readonly id: number
  readonly status: FeedStatus
  readonly setUpBy: number
  /** The next look, where the feed begins anew: then it has no failures. */
  readonly beginsAt: Date | null
}

export async function updateFeed(tx: Queryable, workspaceId: number, change: FeedChange): Promise<StoredFeed> {
  const { id, social_account_ids, mode, template, shortens_links, status, setUpBy, beginsAt } = change
  const [feed] = await tx.query<StoredFeed>(
    `UPDATE feeds SET social_account_ids = $3, mode = $4, template = $5, shortens_links = $6, status = $7, set_up_by = $8,
       next_look_at = coalesce($9, next_look_at), failures = CASE WHEN $9 IS NULL THEN failures ELSE 0 END,
       failing_since = CASE WHEN $9 IS NULL THEN failing_since END, last_error = CASE WHEN $9 IS NULL THEN last_error END
     WHERE workspace_id = $1 AND id = $2 RETURNING ${columns}`,
    [workspaceId, id, social_account_ids, mode, template, shortens_links, status, setUpBy, beginsAt],
  )
  return feed!
}

/** It is looked at from then on, not only at its next time. A look that is under way may have read it already, so another follows. */
export async function hastenLook(
  tx: Queryable,
  workspaceId: number,
  id: number,
  { now, at }: { readonly now: Date; readonly at: Date },
): Promise<StoredFeed> {
  const [feed] = await tx.query<StoredFeed>(
    `UPDATE feeds SET next_look_at = CASE WHEN leased_until > $4 THEN $3 ELSE least(next_look_at, $3) END
     WHERE workspace_id = $1 AND id = $2 RETURNING ${columns}`,
    [workspaceId, id, at, now],
  )
  return feed!
}

/** Its posts stay, and name no feed any more. The feed is locked. */
export async function deleteFeed(tx: Queryable, id: number): Promise<void> {
  // In the order in which others lock several posts.
  await tx.query(
    `UPDATE posts SET feed_id = NULL, updated_at = clock_timestamp()
     WHERE id IN (SELECT id FROM posts WHERE feed_id = $1 ORDER BY id FOR UPDATE)`,
    [id],
  )
  await tx.query('DELETE FROM feed_entries WHERE feed_id = $1', [id])
  await tx.query('DELETE FROM feeds WHERE id = $1', [id])
}

/** Account of the key's member; null if the key is deleted or revoked. A removed member's keys are revoked and go to the owner. */
export async function readKeyOwner(q: Queryable, keyId: number): Promise<number | null> {
  const sql = 'SELECT owner_id FROM api_keys WHERE id = $1 AND revoked_at IS NULL'
  const [key] = await q.query<{ owner_id: number }>(sql, [keyId])
  return key?.owner_id ?? null
}
