/**
 * Looks at feeds. A process leases a due feed, reads it, and writes what came of it in one transaction, in which it locks the
 * feed. A process whose lease has ended writes nothing. Times come from the caller's clock. Held by test/integration/feeds.test.ts.
 */
import { feedAskedPauseMs, feedHoldMaxMs, feedLeaseMs } from '../../../schemas/limits/feed-limits.ts'
import type { FeedNews } from '../../../schemas/resources/feed.ts'
import type { Role } from '../../../schemas/roles.ts'
import type { Queryable } from '../../client.ts'
import { isPast, type Leasing } from '../../leasing.ts'
import { isInUse } from '../workspaces/is-in-use.ts'
import type { FeedSettings } from './feeds.ts'

export interface LeasedFeed extends FeedSettings {
  readonly id: number
  readonly url: string
  readonly posts_newest: boolean
  readonly etag: string | null
  readonly last_modified: string | null
  /** When its entries were last known, also by an answer that they are as they were. Null: never. */
  readonly read_at: Date | null
  readonly created_at: Date
  readonly failing_since: Date | null
  /** Looks in a row that failed. */
  readonly failures: number
  readonly leased_until: Date
  /** When the look was due. A later one is of somebody who asks for a look during this one. */
  readonly next_look_at: Date
  readonly workspace: { readonly id: number; readonly timezone: string }
  /** That of who chose the mode, as it is now; null: no member any more. */
  readonly role: Role | null
}

const ofFeed = `f.id, f.url, to_jsonb(f.social_account_ids) AS social_account_ids, f.mode, f.template, f.shortens_links,
  f.posts_newest, f.etag, f.last_modified, f.read_at, f.created_at, f.failing_since, f.failures, f.leased_until, f.next_look_at,
  json_build_object('id', w.id, 'timezone', w.timezone) AS workspace, m.role`
const itsWorkspace = `workspaces w ON w.id = f.workspace_id
  LEFT JOIN members m ON m.workspace_id = f.workspace_id AND m.owner_id = f.set_up_by`

/** Feeds that are due, those first that are due for longest. A workspace that is suspended or has no plan waits. */
export async function leaseFeeds(q: Queryable, { now, until, max }: Leasing): Promise<LeasedFeed[]> {
  return q.query<LeasedFeed>(
    `WITH due AS (
       SELECT f.id FROM feeds f JOIN workspaces w ON w.id = f.workspace_id JOIN owners o ON o.id = w.owner_id
       WHERE f.status = 'active' AND ${isPast('f.next_look_at', '$1', feedHoldMaxMs)}
         AND coalesce(${isPast('f.leased_until', '$1', feedLeaseMs)}, true)
         AND ${isInUse()}
       ORDER BY f.next_look_at, f.id LIMIT $3 FOR NO KEY UPDATE OF f SKIP LOCKED),
     leased AS (UPDATE feeds SET leased_until = $2 FROM due WHERE feeds.id = due.id RETURNING feeds.*)
     SELECT ${ofFeed} FROM leased f JOIN ${itsWorkspace}`,
    [now, until, max],
  )
}

/**
 * Locks the feed as it is now. @returns null where the lease has ended, the feed isn't active any more, or its workspace is
 * suspended or has no plan since
 */
export async function lockLeasedFeed(tx: Queryable, { id, leased_until }: LeasedFeed): Promise<LeasedFeed | null> {
  const locked = await tx.query(
    `SELECT 1 FROM feeds f JOIN workspaces w ON w.id = f.workspace_id JOIN owners o ON o.id = w.owner_id
     WHERE f.id = $1 AND f.leased_until = $2 AND f.status = 'active' AND ${isInUse()}
     FOR NO KEY UPDATE OF f`,
    [id, leased_until],
  )
  if (locked.length === 0) return null
  const [feed] = await tx.query<LeasedFeed>(`SELECT ${ofFeed} FROM feeds f JOIN ${itsWorkspace} WHERE f.id = $1`, [id])
  return feed ?? null
}

/** Notes that the feed has these entries. @returns those that it hasn't had before */
export async function noteEntries(
  tx: Queryable,
  feedId: number,
  entries: readonly Buffer[],
  now: Date,
): Promise<Buffer[]> {
  const rows = await tx.query<{ entry: Buffer; is_new: boolean }>(
    `INSERT INTO feed_entries (feed_id, entry, seen_at) SELECT $1, entry, $3 FROM unnest($2::bytea[]) AS given (entry)
     ON CONFLICT (feed_id, entry) DO UPDATE SET seen_at = excluded.seen_at RETURNING entry, xmax = 0 AS is_new`,
    [feedId, entries, now],
  )
  return rows.filter(({ is_new }) => is_new).map(({ entry }) => entry)
}

/** Forgets the entries that the feed hasn't had for longest, but for `kept` that it doesn't have now. */
export async function forgetEntries(tx: Queryable, feedId: number, now: Date, kept: number): Promise<void> {
  await tx.query(
    `DELETE FROM feed_entries WHERE feed_id = $1 AND entry IN (
       SELECT entry FROM feed_entries WHERE feed_id = $1 AND seen_at < $2 ORDER BY seen_at DESC OFFSET $3)`,
    [feedId, now, kept],
  )
}

/** Posts that the feed has made since. */
export async function countPosts(tx: Queryable, feedId: number, since: Date): Promise<number> {
  const [counted] = await tx.query<{ posts: number }>(
    'SELECT count(*)::integer AS posts FROM posts WHERE feed_id = $1 AND created_at > $2',
    [feedId, since],
  )
  return counted!.posts
}

export interface FeedLook {
  readonly lookedAt: Date
  readonly nextLookAt: Date
}

/** SQL. Whoever asked for a look during this one may have meant what it read too early for: another follows soon. */
const nextLook = 'CASE WHEN next_look_at > $5 THEN least($4, greatest(next_look_at, $6)) ELSE $4 END'
const nextLookOf = (feed: LeasedFeed, { lookedAt, nextLookAt }: FeedLook) => [
  nextLookAt,
  feed.next_look_at,
  new Date(lookedAt.getTime() + feedAskedPauseMs),
]

/** Whether an answer can be asked for again by: null where the feed's server gives nothing. */
export interface Validators {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** The feed could be read. @param feed as it was leased @param read undefined: it is as it was */
export async function endLook(
  tx: Queryable,
  feed: LeasedFeed,
  look: FeedLook,
  read?: Validators & { readonly url: string; readonly title: string; readonly news: FeedNews | null },
): Promise<void> {
  await tx.query(
    `UPDATE feeds SET looked_at = $3, next_look_at = ${nextLook}, leased_until = NULL, last_error = NULL, failing_since = NULL,
       failures = 0, read_at = $3, title = CASE WHEN $7 THEN $8 ELSE title END,
       etag = CASE WHEN $7 THEN $9 ELSE etag END, last_modified = CASE WHEN $7 THEN $10 ELSE last_modified END,
       last_news = coalesce($11, last_news), url = coalesce($12, url)
     WHERE id = $1 AND leased_until = $2`,
    [
      feed.id,
      feed.leased_until,
      look.lookedAt,
      ...nextLookOf(feed, look),
      read !== undefined,
      read?.title ?? '',
      read?.etag ?? null,
      read?.lastModified ?? null,
      read?.news ? JSON.stringify(read.news) : null,
      read?.url ?? null,
    ],
  )
}

/** Whether the workspace has a feed of the URL. Nobody adds one while the workspace is locked. */
export async function isFeedKnown(tx: Queryable, workspaceId: number, url: string): Promise<boolean> {
  const rows = await tx.query('SELECT 1 FROM feeds WHERE workspace_id = $1 AND url = $2', [workspaceId, url])
  return rows.length > 0
}

/** The feed could not be read. @param isOver it is turned off @returns false where the lease has ended */
export async function failLook(
  tx: Queryable,
  feed: LeasedFeed,
  look: FeedLook,
  { message, isOver }: { readonly message: string; readonly isOver: boolean },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE feeds SET looked_at = $3, next_look_at = ${nextLook}, leased_until = NULL, last_error = $7, failures = failures + 1,
       failing_since = coalesce(failing_since, $3), status = CASE WHEN $8 THEN 'failed' ELSE status END
     WHERE id = $1 AND leased_until = $2 AND status = 'active' RETURNING 1`,
    [feed.id, feed.leased_until, look.lookedAt, ...nextLookOf(feed, look), message, isOver],
  )
  return rows.length > 0
}

/** Ends a look that was broken off: the feed is as due as it was. */
export async function releaseLook(q: Queryable, { id, leased_until }: LeasedFeed): Promise<void> {
  await q.query('UPDATE feeds SET leased_until = NULL WHERE id = $1 AND leased_until = $2', [id, leased_until])
}

/** Names the feed on a post that it made. */
export async function setPostFeed(tx: Queryable, postId: number, feedId: number): Promise<void> {
  await tx.query('UPDATE posts SET feed_id = $2 WHERE id = $1', [postId, feedId])
}
