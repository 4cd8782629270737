/**
 * The accounts that a post is for. An account that is taken off may have the post already, though its answer was lost. So what
 * was sent to it stays known by the post: put back, it is looked for before it is sent again. Held by
 * test/integration/publish-mastodon.test.ts.
 */
import type { Queryable } from '../../client.ts'

export interface ChosenTarget {
  readonly accountId: number
  readonly captionOverride: string | null
}

/**
 * Replaces the post's targets; an account that stays keeps its target. One that is published, or its first part, keeps its caption.
 * @param status of targets that are new
 */
export async function setPostTargets(
  tx: Queryable,
  id: number,
  targets: readonly ChosenTarget[],
  status: 'draft' | 'scheduled',
): Promise<void> {
  const accountIds = targets.map(({ accountId }) => accountId)
  const overrides = targets.map(({ captionOverride }) => captionOverride)
  await tx.query(
    `WITH gone AS (
       DELETE FROM post_targets WHERE post_id = $1 AND NOT social_account_id = ANY($2::bigint[]) RETURNING *
     ), sent AS (
       SELECT jsonb_object_agg(social_account_id, jsonb_build_object('publish_key', publish_key, 'sent_at', sent_at,
         'sent_reference', sent_reference, 'sent_title', sent_title, 'sent_text', sent_text)) AS targets
       FROM gone WHERE sent_at IS NOT NULL
     )
     UPDATE posts SET sent_targets =
       sent_targets - ARRAY(SELECT social_account_id::text FROM gone) || coalesce((SELECT targets FROM sent), '{}')
     WHERE id = $1 AND EXISTS (SELECT FROM gone)`,
    [id, accountIds],
  )
  await tx.query(
    `INSERT INTO post_targets (post_id, place, social_account_id, caption_override, status,
       publish_key, sent_at, sent_reference, sent_title, sent_text)
     SELECT $1, place, account_id, override, $4,
       coalesce(sent.publish_key, gen_random_uuid()), sent_at, sent_reference, sent_title, sent_text
     FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS given (account_id, override, place)
     JOIN posts p ON p.id = $1, jsonb_to_record(p.sent_targets->account_id::text)
       AS sent (publish_key uuid, sent_at timestamptz, sent_reference text, sent_title text, sent_text text)
     ON CONFLICT (post_id, social_account_id) DO UPDATE SET place = EXCLUDED.place,
       caption_override = CASE WHEN post_targets.status = 'published' OR post_targets.sent_parts <> '[]' THEN post_targets.caption_override
         ELSE EXCLUDED.caption_override END`,
    [id, accountIds, overrides, status],
  )
}
