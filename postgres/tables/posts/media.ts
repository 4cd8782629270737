/** Media assets. Their bytes lie in the media storage, under the workspace and their SHA-256. */
import type { Platform } from '../../../schemas/reference/providers.ts'
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { takeNamedLock } from '../../named-lock.ts'
import type { Page } from '../../page.ts'

export interface Media {
  readonly id: number
  readonly filename: string
  readonly original_filename: string
  readonly content_type: string
  readonly size_bytes: number
  readonly alt_text: string
  readonly sha256: Buffer
  readonly created_at: Date
}

export interface UsedMedia extends Media {
  /** Posts that show it and aren't archived. */
  readonly usage_count: number
  /** Newest first. */
  readonly used_post_titles: string[]
  readonly last_used_at: Date | null
}

export interface NewMedia {
  readonly workspaceId: number
  readonly filename: string
  readonly originalFilename: string
  readonly contentType: string
  readonly bytes: number
  readonly altText: string
  readonly sha256: Buffer
  readonly width: number | null
  readonly height: number | null
}

const columns = 'id, filename, original_filename, content_type, size_bytes, alt_text, sha256, created_at'

/** Until the end of the transaction nobody else puts these bytes of the workspace in their place, or deletes them. */
export async function lockMediaBytes(tx: Queryable, workspaceId: number, sha256: Buffer): Promise<void> {
  await takeNamedLock(tx, `media ${workspaceId} ${sha256.toString('hex')}`)
}

/** Until the end of the transaction nobody else adds media to the workspace. To be taken before `lockMediaBytes`. */
export async function lockMediaOf(tx: Queryable, workspaceId: number): Promise<void> {
  await takeNamedLock(tx, `media of workspace ${workspaceId}`)
}

/** Bytes of the workspace's files: equal ones are stored once. @param but a file that isn't counted */
export async function readMediaBytes(q: Queryable, workspaceId: number, but?: Buffer): Promise<number> {
  const [row] = await q.query<{ bytes: number }>(
    `SELECT coalesce(sum(size_bytes), 0)::bigint AS bytes FROM (
       SELECT DISTINCT sha256, size_bytes FROM media WHERE workspace_id = $1 AND ($2::bytea IS NULL OR sha256 <> $2)
     ) AS files`,
    [workspaceId, but ?? null],
  )
  return row!.bytes
}

export async function insertMedia(tx: Queryable, made: NewMedia): Promise<Media> {
  const { workspaceId, filename, originalFilename, contentType, bytes, altText, sha256, width, height } = made
  const [media] = await tx.query<Media>(
    `INSERT INTO media (workspace_id, filename, original_filename, content_type, size_bytes, alt_text, sha256, width, height)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING ${columns}`,
    [workspaceId, filename, originalFilename, contentType, bytes, altText, sha256, width, height],
  )
  return media!
}

export async function findMedia(q: Queryable, workspaceId: number, id: number): Promise<Media | null> {
  const [media] = await q.query<Media>(`SELECT ${columns} FROM media WHERE workspace_id = $1 AND id = $2`, [
    workspaceId,
    id,
  ])
  return media ?? null
}

/** Until the end of the transaction no post takes it up. */
export async function lockMedia(tx: Queryable, workspaceId: number, id: number): Promise<Media | null> {
  const sql = `SELECT ${columns} FROM media WHERE workspace_id = $1 AND id = $2 FOR UPDATE`
  const [media] = await tx.query<Media>(sql, [workspaceId, id])
  return media ?? null
}

/**
 * Until the end of the transaction nobody schedules, changes or publishes posts that show it. To be called before the asset is
 * changed, as posts are locked before their media.
 */
export async function lockPostsShowing(tx: Queryable, workspaceId: number, id: number): Promise<void> {
  await tx.query(
    `SELECT 1 FROM posts WHERE workspace_id = $1 AND status NOT IN ('published', 'archived')
       AND id IN (SELECT post_id FROM post_media WHERE media_id = $2) ORDER BY id FOR NO KEY UPDATE`,
    [workspaceId, id],
  )
}

/** Whether a post that is still to be published shows it, or the company profile does. */
export async function isMediaAwaited(q: Queryable, id: number): Promise<boolean> {
  const [row] = await q.query<{ awaited: boolean }>(
    `SELECT EXISTS (SELECT FROM company_profile_media WHERE media_id = $1) OR EXISTS (
       SELECT FROM post_media m JOIN posts p ON p.id = m.post_id
       WHERE m.media_id = $1 AND p.status NOT IN ('published', 'archived')
     ) AS awaited`,
    [id],
  )
  return row!.awaited
}

/** Posts that were published with it go on naming it. */
export async function deleteMedia(tx: Queryable, id: number): Promise<void> {
  await tx.query('DELETE FROM media WHERE id = $1', [id])
}

/** @returns the text before; null where the workspace has no such asset */
export async function setMediaAltText(
  tx: Queryable,
  workspaceId: number,
  id: number,
  altText: string,
): Promise<string | null> {
  const [changed] = await tx.query<{ before: string }>(
    `WITH old AS (SELECT alt_text FROM media WHERE workspace_id = $1 AND id = $2 FOR NO KEY UPDATE)
     UPDATE media SET alt_text = $3 FROM old WHERE id = $2 RETURNING old.alt_text AS before`,
    [workspaceId, id, altText],
  )
  return changed?.before ?? null
}

/** Platforms on which posts that show the asset are still to be published, or tried again. */
export async function listWaitingPlatforms(q: Queryable, id: number): Promise<Platform[]> {
  const rows = await q.query<{ platform: Platform }>(
    `SELECT DISTINCT a.platform FROM post_media m
     JOIN posts p ON p.id = m.post_id AND p.status IN ('scheduled', 'publishing', 'failed')
     JOIN post_targets t ON t.post_id = p.id AND t.status <> 'published'
     JOIN social_accounts a ON a.id = t.social_account_id
     WHERE m.media_id = $1 ORDER BY 1`,
    [id],
  )
  return rows.map(({ platform }) => platform)
}

/** Newest first, with the posts that show them. */
export function listMedia(
  q: Queryable,
  workspaceId: number,
  { limit, beforeId, titlesMax }: Page & { readonly titlesMax: number },
): Promise<UsedMedia[]> {
  return q.query<UsedMedia>(
    `SELECT m.*, used.usage_count, used.used_post_titles, used.last_used_at
     FROM (
       SELECT ${columns} FROM media
       WHERE workspace_id = $1 AND ($3::bigint IS NULL OR id < $3) ORDER BY id DESC LIMIT $2
     ) m
     CROSS JOIN LATERAL (
       SELECT count(*) AS usage_count, max(p.updated_at) AS last_used_at,
         coalesce((array_agg(p.title ORDER BY p.id DESC))[1:$4], '{}') AS used_post_titles
       FROM posts p
       WHERE p.status <> 'archived' AND p.id IN (SELECT post_id FROM post_media WHERE media_id = m.id)
     ) used
     ORDER BY m.id DESC`,
    [workspaceId, limit, beforeId ?? null, titlesMax],
  )
}

/** An asset of the workspace that is there, with the posts that show it. */
export async function readUsedMedia(
  q: Queryable,
  workspaceId: number,
  id: number,
  titlesMax: number,
): Promise<UsedMedia> {
  const [media] = await listMedia(q, workspaceId, { limit: 1, beforeId: id + 1, titlesMax })
  return media!
}

/** Which of these files of the workspace are of some asset. */
export async function findMediaBytes(q: Queryable, workspaceId: number, files: readonly Buffer[]): Promise<Buffer[]> {
  const rows = await q.query<{ sha256: Buffer }>(
    'SELECT DISTINCT sha256 FROM media WHERE workspace_id = $1 AND sha256 = ANY($2)',
    [workspaceId, files],
  )
  return rows.map(({ sha256 }) => sha256)
}

/** A workspace that this Postgres knows. */
export interface MediaOwner {
  readonly id: number
  /** When it was made, in milliseconds since 1970; 0 of one that was deleted. */
  readonly madeAt: number
}

export function listMediaOwners(q: Queryable): Promise<MediaOwner[]> {
  return q.query<MediaOwner>(
    `SELECT id, ${milliseconds('created_at')} AS "madeAt" FROM workspaces
     UNION ALL SELECT workspace_id, 0 FROM workspace_deletions WHERE done_at IS NOT NULL`,
  )
}
