/** The parts of a target's thread that are published: each is stored before the next one is sent. */
import type { Queryable } from '../../client.ts'
import { type Claim, ownSql } from './publishing.ts'

export interface SentPart {
  readonly external_id: string
  readonly url: string
  readonly published_at: string
  /** A hash that replies name besides the id; only where the platform has one. */
  readonly cid?: string | undefined
}

/**
 * Stores a part, and forgets that it was sent: the next part counts its attempts anew. May be repeated until that one is begun.
 * @param before how many parts were published before
 * @returns false when the claim has ended
 */
export async function keepPart(
  q: Queryable,
  { targetId, holder }: Claim,
  before: number,
  part: SentPart,
): Promise<boolean> {
  const kept = await q.query(
    `UPDATE post_targets SET sent_parts = sent_parts || jsonb_build_array($4::jsonb),
       sent_at = NULL, sent_reference = NULL, attempt_count = 0, publish_result = '{}'
     WHERE ${ownSql} AND jsonb_array_length(sent_parts) = $3 RETURNING id`,
    [targetId, holder, before, JSON.stringify(part)],
  )
  if (kept.length > 0) return true
  // The answer to an earlier call may have been lost.
  const own = await q.query(
    `SELECT FROM post_targets WHERE ${ownSql} AND jsonb_array_length(sent_parts) = $3::int + 1`,
    [targetId, holder, before],
  )
  return own.length > 0
}

/**
 * Forgets all parts but the first ones: the others were deleted on the platform. The target gets another key, as by the old
 * one the platform may still name a part that is gone.
 * @returns false when the claim has ended
 */
export async function forgetParts(tx: Queryable, { targetId, holder }: Claim, left: number): Promise<boolean> {
  const forgotten = await tx.query(
    `UPDATE post_targets SET publish_key = gen_random_uuid(), sent_parts = (
       SELECT coalesce(jsonb_agg(part ORDER BY place), '[]')
       FROM jsonb_array_elements(sent_parts) WITH ORDINALITY AS sent (part, place) WHERE place <= $3
     ) WHERE ${ownSql} RETURNING id`,
    [targetId, holder, left],
  )
  return forgotten.length > 0
}
