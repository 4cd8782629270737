/**
 * Posts with their media and targets. Every change locks the post's row first (`lockPost`), so the state that was read is
 * the state that is changed. Held by test/integration/post-schedule.test.ts.
 */
import { postsListedBytesMax } from '../../../schemas/limits/api-limits.ts'
import type { PostStatus, ReviewStatus, TargetStatus } from '../../../schemas/resources/post.ts'
import type { Queryable } from '../../client.ts'
import type { Page } from '../../page.ts'
import type { Review } from './post-reviews.ts'

export interface PostTarget {
  readonly id: number
  readonly social_account_id: number
  readonly platform: string
  readonly caption_override: string | null
  readonly status: TargetStatus
  /** With `parts` once a part of a thread is published. */
  readonly publish_result: Record<string, unknown>
}

/** A part of a thread that follows the caption. */
export interface ThreadPart {
  readonly text: string
  /** In their order. */
  readonly media_ids: number[]
  /** In place of its text, by platform. */
  readonly platform_captions: Record<string, string>
}

export interface Post {
  readonly id: number
  readonly title: string
  readonly base_caption: string
  readonly thread: ThreadPart[]
  readonly first_comment: string | null
  readonly scheduled_at: Date | null
  readonly status: PostStatus
  readonly review: Review | null
  readonly tags: string[]
  readonly media_ids: number[]
  readonly targets: PostTarget[]
  /** The feed that made it; null where it was written, or its feed is deleted. */
  readonly feed_id: number | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** As the platform and its readers know the published parts of a thread. */
const partsSql = `(SELECT jsonb_agg(jsonb_build_object('external_id', part->'external_id', 'url', part->'url',
    'published_at', part->'published_at') ORDER BY place)
  FROM jsonb_array_elements(t.sent_parts) WITH ORDINALITY AS sent (part, place))`

/** The media of a part of the post: 0 is its caption. */
const mediaSql = (part: string) => `(SELECT coalesce(jsonb_agg(m.media_id ORDER BY m.place), '[]')
  FROM post_media m WHERE m.post_id = p.id AND m.part = ${part})`

/** With media and targets in their order, in one statement however many posts: ids are JSON, so that they are numbers. */
const columns = `p.id, p.title, p.base_caption, p.first_comment, p.scheduled_at, p.status, p.review, p.tags, p.feed_id, p.created_at, p.updated_at,
  ${mediaSql('0')} AS media_ids,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('text', text, 'media_ids', ${mediaSql('of_thread.part')},
      'platform_captions', coalesce(p.thread_captions->(part::int - 1), '{}')) ORDER BY part), '[]')
   FROM unnest(p.thread) WITH ORDINALITY AS of_thread (text, part)) AS thread,
  (SELECT coalesce(jsonb_agg(jsonb_build_object(
      'id', t.id, 'social_account_id', t.social_account_id, 'platform', a.platform,
      'caption_override', t.caption_override, 'status', t.status, 'publish_result', t.publish_result ||
        CASE WHEN t.sent_parts = '[]' THEN '{}' ELSE jsonb_build_object('parts', ${partsSql}) END
    ) ORDER BY t.place), '[]')
   FROM post_targets t JOIN social_accounts a ON a.id = t.social_account_id WHERE t.post_id = p.id) AS targets`

export interface PostFilter extends Page {
  /** Without one, all but the archived. */
  readonly status?: PostStatus | undefined
  readonly review?: ReviewStatus | undefined
  /** Only posts with a time, from the first moment on and before the second. */
  readonly scheduledFrom?: Date | undefined
  readonly scheduledBefore?: Date | undefined
}

/**
 * Newest first. The page ends where the captions reach `bytesMax`, which bounds the memory of one request.
 */
export function listPosts(
  q: Queryable,
  workspaceId: number,
  filter: PostFilter,
  bytesMax = postsListedBytesMax,
): Promise<Post[]> {
  const { limit, beforeId = null, status = null, review = null, scheduledFrom = null, scheduledBefore = null } = filter
  // The index of the list without archived posts is taken only where the statement itself leaves them out.
  const wanted = status === null ? `p.status <> 'archived' AND $4::text IS NULL` : 'p.status = $4'
  // Lengths of captions are known without reading them.
  return q.query<Post>(
    `SELECT ${columns} FROM posts p JOIN (
       SELECT id, sum(bytes) OVER (ORDER BY id DESC) - bytes AS bytes_before FROM (
         SELECT p.id, octet_length(p.base_caption) + (
           SELECT coalesce(sum(octet_length(part)), 0) FROM unnest(p.thread) AS part
         ) + octet_length(p.thread_captions::text) + coalesce(octet_length(p.first_comment), 0) + (
           SELECT coalesce(sum(coalesce(octet_length(t.caption_override), 0) + octet_length(t.sent_parts::text)), 0)
           FROM post_targets t WHERE t.post_id = p.id
         ) AS bytes
         FROM posts p
         WHERE p.workspace_id = $1 AND ${wanted} AND ($3::bigint IS NULL OR p.id < $3)
           AND ($6::timestamptz IS NULL OR p.scheduled_at >= $6) AND ($7::timestamptz IS NULL OR p.scheduled_at < $7)
           AND ($8::text IS NULL OR (p.review IS NOT NULL AND p.review->>'status' = $8))
         ORDER BY p.id DESC LIMIT $2
       ) of_page
     ) page ON page.id = p.id
     WHERE page.bytes_before < $5 ORDER BY p.id DESC`,
    [workspaceId, limit, beforeId, status, bytesMax, scheduledFrom, scheduledBefore, review],
  )
}

export async function readPost(q: Queryable, workspaceId: number, id: number): Promise<Post | null> {
  const [post] = await q.query<Post>(`SELECT ${columns} FROM posts p WHERE p.workspace_id = $1 AND p.id = $2`, [
    workspaceId,
    id,
  ])
  return post ?? null
}

/** Locks the post's row until the end of the transaction and reads the post. */
export async function lockPost(tx: Queryable, workspaceId: number, id: number): Promise<Post | null> {
  // Not in one statement with its targets: having waited, it would have them as of before.
  await tx.query('SELECT 1 FROM posts WHERE workspace_id = $1 AND id = $2 FOR UPDATE', [workspaceId, id])
  return readPost(tx, workspaceId, id)
}

export interface NewPost {
  readonly workspaceId: number
  readonly title: string
  readonly baseCaption: string
  readonly thread: readonly Omit<ThreadPart, 'media_ids'>[]
  readonly firstComment: string | null
  readonly scheduledAt: Date | null
  readonly tags: readonly string[]
}

/** A draft, without media and targets yet. @returns its id */
export async function insertPost(tx: Queryable, post: NewPost): Promise<number> {
  const [row] = await tx.query<{ id: number }>(
    `INSERT INTO posts (workspace_id, title, base_caption, scheduled_at, tags, thread, thread_captions, first_comment)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
    [post.workspaceId, ...valuesOf(post)],
  )
  return row!.id
}

export type PostFields = Omit<NewPost, 'workspaceId'>

export async function updatePostFields(tx: Queryable, id: number, fields: PostFields): Promise<void> {
  await tx.query(
    `UPDATE posts SET title = $2, base_caption = $3, scheduled_at = $4, tags = $5, thread = $6, thread_captions = $7,
       first_comment = $8, updated_at = clock_timestamp() WHERE id = $1`,
    [id, ...valuesOf(fields)],
  )
}

function valuesOf({ title, baseCaption, scheduledAt, tags, thread, firstComment }: PostFields): unknown[] {
  const captions = thread.map(({ platform_captions }) => platform_captions)
  return [title, baseCaption, scheduledAt, tags, thread.map(({ text }) => text), JSON.stringify(captions), firstComment]
}

/** Replaces the post's media. @param parts ids of each part in their order; those of the caption come first */
export async function setPostMedia(tx: Queryable, id: number, parts: readonly (readonly number[])[]): Promise<void> {
  const rows = parts.flatMap((ids, part) => ids.map((mediaId, at) => ({ part, place: at + 1, mediaId })))
  await tx.query('DELETE FROM post_media WHERE post_id = $1', [id])
  await tx.query(
    `INSERT INTO post_media (post_id, part, place, media_id)
     SELECT $1, part, place, media_id FROM unnest($2::smallint[], $3::smallint[], $4::bigint[]) AS given (part, place, media_id)`,
    [id, rows.map(({ part }) => part), rows.map(({ place }) => place), rows.map(({ mediaId }) => mediaId)],
  )
}

/** To be published at `at`: of a post that had failed, where it isn't published yet. */
export async function markPostScheduled(tx: Queryable, id: number, at: Date): Promise<void> {
  await tx.query(
    `UPDATE posts SET status = 'scheduled', scheduled_at = $2, review = NULL, updated_at = clock_timestamp() WHERE id = $1`,
    [id, at],
  )
  await tx.query(
    `UPDATE post_targets SET status = 'scheduled', publish_result = '{}' WHERE post_id = $1 AND status <> 'published'`,
    [id],
  )
}

/** All its targets are published: none waits for a time any more. */
export async function markPostPublished(tx: Queryable, id: number): Promise<void> {
  await tx.query(
    `UPDATE posts SET status = 'published', scheduled_at = least(scheduled_at, now()), review = NULL, updated_at = clock_timestamp()
     WHERE id = $1`,
    [id],
  )
}

/** A draft again, without a time. */
export async function markPostDraft(tx: Queryable, id: number): Promise<void> {
  await tx.query(
    `UPDATE posts SET status = 'draft', scheduled_at = NULL, updated_at = clock_timestamp() WHERE id = $1`,
    [id],
  )
  await endWaiting(tx, id)
}

/** Out of lists; its time and what came of its targets stay to be read. */
export async function markPostArchived(tx: Queryable, id: number): Promise<void> {
  await tx.query(`UPDATE posts SET status = 'archived', review = NULL, updated_at = clock_timestamp() WHERE id = $1`, [
    id,
  ])
  await endWaiting(tx, id)
}

/** With its targets; its links stay, without a post. Deletes a post of which nothing is being published. */
export async function deletePost(tx: Queryable, id: number): Promise<void> {
  await tx.query('UPDATE links SET post_id = NULL, updated_at = now() WHERE post_id = $1', [id])
  for (const table of ['post_media', 'post_targets']) await tx.query(`DELETE FROM ${table} WHERE post_id = $1`, [id])
  await tx.query('DELETE FROM posts WHERE id = $1', [id])
}

async function endWaiting(tx: Queryable, postId: number): Promise<void> {
  await tx.query(
    `UPDATE post_targets SET status = 'draft', claimed_by = NULL, next_attempt_at = NULL
     WHERE post_id = $1 AND status IN ('scheduled', 'publishing')`,
    [postId],
  )
}

/** A media asset as readiness needs it. */
export interface PostedMedia {
  readonly id: number
  readonly content_type: string
  readonly size_bytes: number
  readonly alt_text: string
  readonly width: number | null
  readonly height: number | null
}

/** Those of `ids` that there are, in no order. In a transaction none is deleted or changed before its end. */
export function readPostedMedia(q: Queryable, workspaceId: number, ids: readonly number[]): Promise<PostedMedia[]> {
  return q.query<PostedMedia>(
    `SELECT id, content_type, size_bytes, alt_text, width, height FROM media
     WHERE workspace_id = $1 AND id = ANY($2::bigint[]) ORDER BY id FOR SHARE`,
    [workspaceId, ids],
  )
}

/** The workspace's posts among these ids. */
export function postsAmong(q: Queryable, workspaceId: number, ids: readonly number[]): Promise<Pick<Post, 'id'>[]> {
  return q.query('SELECT id FROM posts WHERE workspace_id = $1 AND id = ANY($2::bigint[])', [workspaceId, ids])
}

/** Whose a post is: what ingest needs to know of one. */
export interface PostOwner {
  readonly id: number
  readonly workspace_id: number
}

/** Posts of all workspaces with a greater id, the newest first. */
export function listPostOwners(q: Queryable, afterId: number, limit: number): Promise<PostOwner[]> {
  return q.query<PostOwner>('SELECT id, workspace_id FROM posts WHERE id > $1 ORDER BY id DESC LIMIT $2', [
    afterId,
    limit,
  ])
}

export async function findPostOwner(q: Queryable, id: number): Promise<PostOwner | null> {
  const [row] = await q.query<PostOwner>('SELECT id, workspace_id FROM posts WHERE id = $1', [id])
  return row ?? null
}
