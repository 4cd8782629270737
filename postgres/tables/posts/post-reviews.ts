/** Whether a draft waits for approval, or was sent back. A post that is scheduled or archived has no review any more (posts.ts). */
import type { ReviewStatus } from '../../../schemas/resources/post.ts'
import type { Queryable } from '../../client.ts'

export interface Review {
  readonly status: ReviewStatus
  /** Who asked for it, or sent it back: the e-mail of a member, or the name of a key. */
  readonly by: string
  readonly at: string
  /** When the draft was last changed since it was asked for. */
  readonly changed_at: string | null
  readonly note: string | null
}

/** To be called with the post locked. */
export async function setReview(tx: Queryable, id: number, review: Review): Promise<void> {
  await tx.query('UPDATE posts SET review = $2, updated_at = clock_timestamp() WHERE id = $1', [
    id,
    JSON.stringify(review),
  ])
}

/** Drafts that wait for approval and show the file say that it changed. That makes no new version of them (decision 0042). */
export async function noteChangedMedia(tx: Queryable, mediaId: number, at: string): Promise<void> {
  // In one order, as two files may be shown by the same drafts.
  await tx.query(
    `UPDATE posts SET review = review || jsonb_build_object('changed_at', $2::text)
     WHERE id IN (SELECT id FROM posts
       WHERE id IN (SELECT post_id FROM post_media WHERE media_id = $1) AND review->>'status' = 'waiting'
       ORDER BY id FOR NO KEY UPDATE)`,
    [mediaId, at],
  )
}
