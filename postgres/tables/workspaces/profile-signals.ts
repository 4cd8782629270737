/** Signals for the company profile from a workspace's own data. */
import { profileLinksMax, profileListMax, profileSignalDays } from '../../../schemas/limits/profile-limits.ts'
import type { Queryable } from '../../client.ts'

export interface OwnSignals {
  /** Platforms of connected accounts. */
  readonly platforms: readonly string[]
  /** Published within the last `profileSignalDays` days. */
  readonly posts: number
  /** Platforms that these posts were published on. */
  readonly postPlatforms: readonly string[]
  /** Tags of these posts, the most used first. */
  readonly tags: readonly string[]
  /** The newest post's caption. */
  readonly caption: string
  /** Labels of the newest tracked links, without archived ones. */
  readonly links: readonly string[]
  readonly images: number
  readonly videos: number
}

export async function readOwnSignals(q: Queryable, workspaceId: number): Promise<OwnSignals> {
  const [row] = await q.query<OwnSignals>(
    `SELECT
       ARRAY(SELECT DISTINCT platform FROM social_accounts WHERE workspace_id = $1 AND status = 'connected' ORDER BY 1) AS platforms,
       (SELECT count(*) FROM posts WHERE workspace_id = $1 AND status = 'published'
          AND updated_at > now() - make_interval(days => ${profileSignalDays})) AS posts,
       ARRAY(SELECT DISTINCT a.platform FROM posts p JOIN post_targets t ON t.post_id = p.id AND t.status = 'published'
          JOIN social_accounts a ON a.id = t.social_account_id WHERE p.workspace_id = $1 AND p.status = 'published'
          AND p.updated_at > now() - make_interval(days => ${profileSignalDays}) ORDER BY 1) AS "postPlatforms",
       ARRAY(SELECT tag FROM posts, unnest(tags) AS tag WHERE workspace_id = $1 AND status = 'published'
          AND updated_at > now() - make_interval(days => ${profileSignalDays})
          GROUP BY tag ORDER BY count(*) DESC, tag LIMIT ${profileListMax}) AS tags,
       coalesce((SELECT base_caption FROM posts WHERE workspace_id = $1 AND status = 'published' ORDER BY id DESC LIMIT 1), '') AS caption,
       ARRAY(SELECT label FROM links WHERE workspace_id = $1 AND archived_at IS NULL ORDER BY id DESC LIMIT ${profileLinksMax}) AS links,
       (SELECT count(*) FROM media WHERE workspace_id = $1 AND content_type LIKE 'image/%') AS images,
       (SELECT count(*) FROM media WHERE workspace_id = $1 AND content_type LIKE 'video/%') AS videos`,
    [workspaceId],
  )
  return row!
}
