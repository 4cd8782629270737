/** All that is published with one target: the post's text and files, the account, and how far it is. */
import type { Platform } from '../../../schemas/reference/providers.ts'
import type { AccountStatus, ConnectionType } from '../../../schemas/resources/social-account.ts'
import type { Queryable } from '../../client.ts'
import type { PostedMedia } from './posts.ts'
import type { SentPart } from './sent-parts.ts'

interface StoredFile extends PostedMedia {
  /** In hex. */
  readonly sha256: string
  /** How many parts of the post come before the one that shows it. */
  readonly part: number
}

export interface StoredPublication {
  /** Id of the target. */
  readonly id: number
  readonly post_id: number
  readonly workspace_id: number
  readonly title: string
  readonly caption: string
  /** The texts that follow the caption, as the platform gets them. */
  readonly thread: string[]
  /** For platforms that take one. */
  readonly first_comment: string | null
  /** Those of caption and thread that are published, in their order. */
  readonly sent_parts: SentPart[]
  readonly publish_key: string
  readonly attempt_count: number
  /** How long the post's time is past. */
  readonly late_ms: number
  readonly sent_at: Date | null
  readonly sent_reference: string | null
  /** Title and text that the platform was asked for last; they count while `sent_at` is there. */
  readonly sent_title: string | null
  readonly sent_text: string | null
  /** The workspace's owner has one. Without it, or suspended, its members get in no more. */
  readonly has_plan: boolean
  readonly is_suspended: boolean
  readonly account_id: number
  readonly account_status: AccountStatus
  readonly platform: Platform
  readonly connection_type: ConnectionType
  readonly handle: string
  readonly external_id: string | null
  readonly provider_metadata: Record<string, unknown>
  /** Those of all parts, in the order of each. */
  readonly media: StoredFile[]
}

export async function readPublication(q: Queryable, targetId: number): Promise<StoredPublication> {
  const [row] = await q.query<StoredPublication>(
    `SELECT t.id, t.post_id, p.workspace_id, p.title, coalesce(t.caption_override, p.base_caption) AS caption,
       ARRAY(SELECT coalesce(p.thread_captions->(part::int - 1)->>a.platform, text)
         FROM unnest(p.thread) WITH ORDINALITY AS of_thread (text, part) ORDER BY part) AS thread, p.first_comment,
       t.publish_key, t.attempt_count, t.sent_parts, t.sent_at, t.sent_reference, t.sent_title, t.sent_text,
       coalesce(extract(epoch FROM now() - p.scheduled_at) * 1000, 0)::float8 AS late_ms,
       o.plan_key IS NOT NULL AS has_plan, w.suspended_at IS NOT NULL AS is_suspended,
       a.id AS account_id, a.status AS account_status, a.platform, a.connection_type, a.handle, a.external_id, a.provider_metadata,
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
           'id', m.id, 'content_type', m.content_type, 'size_bytes', m.size_bytes, 'alt_text', m.alt_text,
           'width', m.width, 'height', m.height, 'sha256', encode(m.sha256, 'hex'), 'part', pm.part
         ) ORDER BY pm.part, pm.place), '[]')
        FROM post_media pm JOIN media m ON m.id = pm.media_id WHERE pm.post_id = p.id) AS media
     FROM post_targets t JOIN posts p ON p.id = t.post_id JOIN social_accounts a ON a.id = t.social_account_id
     JOIN workspaces w ON w.id = p.workspace_id JOIN owners o ON o.id = w.owner_id
     WHERE t.id = $1`,
    [targetId],
  )
  if (row === undefined) throw new Error(`target ${targetId} is gone while it is published`)
  return row
}
