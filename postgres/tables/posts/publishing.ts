/**
 * The queue of publishing: targets that are `publishing`, each with the time at which it may be claimed. Postgres's clock
 * decides what is due and how long a claim lasts, since several processes claim.
 *
 *   takeDuePosts    sets the post and its targets to `publishing`; from then on the post can't be edited
 *   claimTargets    leases targets to one process, which renews the lease while it works
 *   keepReference   checks the lease and stores what the platform calls the publication
 *   markSent        checks the lease and sets `sent_at`; from then on the platform may have been asked
 *   keepPart        stores a published part of a thread (sent-parts.ts); then `sent_at` and the reference are the next part's
 *   settleTarget    stores the result; the last target settles the post
 *   retryTarget     gives the target back, to be claimed at a later time; both forget all that was sent where asked to
 *   holdAccount     keeps all targets of an account from being claimed until its platform's limit is over
 *
 * Each is one transaction, so a process may die between any two. The lease expires, and another process continues from `sent_at`.
 * Held by test/crash/kill-publishing.test.ts.
 */
import type { PostStatus } from '../../../schemas/resources/post.ts'
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'

/** A target and the process that has claimed it. */
export interface Claim {
  readonly targetId: number
  /** Id of the process. */
  readonly holder: string
}

/** Takes posts whose time has come, the earliest first. @returns how many */
export async function takeDuePosts(tx: Queryable, limit: number): Promise<number> {
  const taken = await tx.query<{ id: number }>(
    `UPDATE posts SET status = 'publishing', updated_at = clock_timestamp() WHERE id IN (
       SELECT id FROM posts WHERE status = 'scheduled' AND scheduled_at <= now()
       ORDER BY scheduled_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
     ) RETURNING id`,
    [limit],
  )
  // A statement of its own: it sees the targets as they are now that the posts are locked.
  await tx.query(
    `UPDATE post_targets SET status = 'publishing', next_attempt_at = now(), attempt_count = 0, claimed_by = NULL
     WHERE post_id = ANY($1::bigint[]) AND status = 'scheduled'`,
    [taken.map(({ id }) => id)],
  )
  return taken.length
}

export interface UnsettledPost {
  readonly id: number
  readonly workspaceId: number
}

/** Those whose time lies before the moment, and which are neither published nor failed. */
export function listUnsettledPosts(q: Queryable, before: Date): Promise<UnsettledPost[]> {
  return q.query<UnsettledPost>(
    `SELECT id, workspace_id AS "workspaceId" FROM posts
     WHERE status IN ('scheduled', 'publishing') AND scheduled_at < $1 ORDER BY id`,
    [before],
  )
}

export interface ClaimedTarget {
  readonly id: number
  readonly post_id: number
  readonly workspace_id: number
  readonly social_account_id: number
}

export interface Claiming {
  readonly holder: string
  readonly leaseMs: number
  readonly limit: number
  /**
   * Targets at a time of one account, of one workspace on one platform, and of one platform; `underWay` is how many the
   * caller already works on, by account.
   */
  readonly perAccountMax: number
  readonly perWorkspaceMax: number
  readonly perPlatformMax: number
  /** Targets whose time is longer past don't wait while their account is held. */
  readonly heldMaxMs: number
  readonly underWay: ReadonlyMap<number, number>
  /** Targets that the caller works on: one whose claim ran out isn't claimed again before its attempt has ended. */
  readonly except: readonly number[]
}

type SentWords = Record<'title' | 'text', string>
const hasMediaSql = 'EXISTS (SELECT FROM post_media m WHERE m.post_id = t.post_id)'

/**
 * Claims targets that wait, the earliest first. An account has one target with media at a time: platforms limit uploads,
 * and a target that meets the limit has uploaded in vain.
 */
export function claimTargets(q: Queryable, claiming: Claiming): Promise<ClaimedTarget[]> {
  const { holder, leaseMs, limit, perAccountMax, perWorkspaceMax, perPlatformMax, underWay, except, heldMaxMs } =
    claiming
  return q.query<ClaimedTarget>(
    `WITH busy AS (
       SELECT a.id, a.workspace_id, a.platform, given.count FROM unnest($5::bigint[], $6::bigint[]) AS given (id, count)
       JOIN social_accounts a ON a.id = given.id
     ), uploading AS (
       SELECT social_account_id FROM post_targets t
       WHERE status = 'publishing' AND next_attempt_at > now() AND claimed_by IS NOT NULL AND ${hasMediaSql}
     ), due AS (
       SELECT t.id, next_attempt_at, social_account_id, a.workspace_id, platform, ${hasMediaSql} AS has_media
       FROM post_targets t JOIN social_accounts a ON a.id = social_account_id JOIN posts p ON p.id = post_id
       WHERE t.status = 'publishing' AND next_attempt_at <= now() AND t.id <> ALL ($7::bigint[])
         AND (coalesce(held_until <= now(), true) OR p.scheduled_at < now() - ${intervalOf('$9')})
     ), uploads AS (
       SELECT DISTINCT ON (social_account_id) id FROM due
       WHERE has_media AND social_account_id NOT IN (SELECT social_account_id FROM uploading)
       ORDER BY social_account_id, next_attempt_at, id
     ), waiting AS (
       SELECT id, next_attempt_at, social_account_id, workspace_id, platform,
         row_number() OVER (PARTITION BY social_account_id ORDER BY next_attempt_at, id) AS place
       FROM due WHERE NOT has_media OR id IN (SELECT id FROM uploads)
     ), of_accounts AS (
       SELECT id, next_attempt_at, workspace_id, platform,
         row_number() OVER (PARTITION BY workspace_id, platform ORDER BY next_attempt_at, id) AS place
       FROM waiting WHERE place <= $4 - coalesce((SELECT count FROM busy WHERE id = social_account_id), 0)
     ), of_workspaces AS (
       SELECT id, next_attempt_at, platform,
         row_number() OVER (PARTITION BY platform ORDER BY next_attempt_at, id) AS place
       FROM of_accounts a
       WHERE place <= $10 - coalesce(
         (SELECT sum(count) FROM busy WHERE workspace_id = a.workspace_id AND platform = a.platform), 0)
     ), chosen AS (
       SELECT id FROM of_workspaces o
       WHERE place <= $8 - coalesce((SELECT sum(count) FROM busy WHERE platform = o.platform), 0)
       ORDER BY next_attempt_at, id LIMIT $3
     ), locked AS (
       SELECT id FROM post_targets WHERE id IN (SELECT id FROM chosen)
         AND status = 'publishing' AND next_attempt_at <= now() FOR UPDATE SKIP LOCKED
     )
     UPDATE post_targets t SET claimed_by = $1, next_attempt_at = clock_timestamp() + ${intervalOf('$2')}
     FROM locked, posts p WHERE t.id = locked.id AND p.id = t.post_id
     RETURNING t.id, t.post_id, t.social_account_id, p.workspace_id`,
    [
      holder,
      leaseMs,
      limit,
      perAccountMax,
      [...underWay.keys()],
      [...underWay.values()],
      except,
      perPlatformMax,
      heldMaxMs,
      perWorkspaceMax,
    ],
  )
}

/** Checks a claim: the target is $1, the process $2. */
export const ownSql = `id = $1 AND claimed_by = $2 AND status = 'publishing'`

export async function prolongClaims(
  q: Queryable,
  holder: string,
  targetIds: readonly number[],
  leaseMs: number,
): Promise<void> {
  await q.query(
    `UPDATE post_targets SET next_attempt_at = clock_timestamp() + ${intervalOf('$3')}
     WHERE id = ANY($1::bigint[]) AND claimed_by = $2 AND status = 'publishing'`,
    [targetIds, holder, leaseMs],
  )
}

/** @returns when the platform was first asked for the part; null when the claim has ended, and the target is another process's */
export async function markSent(q: Queryable, claim: Claim, { title, text }: SentWords): Promise<Date | null> {
  const [marked] = await q.query<{ sent_at: Date }>(
    `UPDATE post_targets SET sent_at = coalesce(sent_at, date_trunc('milliseconds', clock_timestamp())), sent_title = $3, sent_text = $4
     WHERE ${ownSql} RETURNING sent_at`,
    [claim.targetId, claim.holder, title, text],
  )
  return marked?.sent_at ?? null
}

/** @returns false when the claim has ended */
export async function keepReference(q: Queryable, { targetId, holder }: Claim, reference: string): Promise<boolean> {
  const kept = await q.query(`UPDATE post_targets SET sent_reference = $3 WHERE ${ownSql} RETURNING id`, [
    targetId,
    holder,
    reference,
  ])
  return kept.length > 0
}

interface Retry {
  readonly waitMs: number
  /** Whether the attempt is one of those that a target has. */
  readonly isCounted: boolean
  /** Removes `sent_at` and the reference: the next attempt looks nothing up. */
  readonly forgetsSent: boolean
}

/** @returns false when the claim has ended */
export async function retryTarget(
  q: Queryable,
  { targetId, holder }: Claim,
  { waitMs, isCounted, forgetsSent }: Retry,
  result: object,
): Promise<boolean> {
  const retried = await q.query(
    `UPDATE post_targets SET attempt_count = attempt_count + $5::int, claimed_by = NULL, publish_result = $4,
       sent_at = CASE WHEN $6 THEN NULL ELSE sent_at END,
       sent_reference = CASE WHEN $6 THEN NULL ELSE sent_reference END,
       next_attempt_at = clock_timestamp() + ${intervalOf('$3')}
     WHERE ${ownSql} RETURNING id`,
    [targetId, holder, waitMs, JSON.stringify(result), Number(isCounted), forgetsSent],
  )
  return retried.length > 0
}

export async function holdAccount(q: Queryable, accountId: number, holdMs: number): Promise<void> {
  await q.query(
    `UPDATE social_accounts SET held_until = greatest(held_until, clock_timestamp() + ${intervalOf('$2')}) WHERE id = $1`,
    [accountId, holdMs],
  )
}

/**
 * Gives a claimed target back, with its state unchanged. Where the platform may have been asked, the next attempt waits
 * until the claim would have run out: a look-up at once might come before the platform has done with a request that was cut.
 */
export async function releaseTarget(q: Queryable, { targetId, holder }: Claim): Promise<void> {
  await q.query(
    `UPDATE post_targets SET claimed_by = NULL,
       next_attempt_at = CASE WHEN sent_at IS NULL THEN now() ELSE next_attempt_at END
     WHERE ${ownSql}`,
    [targetId, holder],
  )
}

/**
 * To be called with the post's row locked, so that of its last two targets one settles the post.
 * @returns false when the claim has ended
 */
export async function settleTarget(
  tx: Queryable,
  { targetId, holder }: Claim,
  status: 'published' | 'failed',
  result: object,
  forgetsSent: boolean,
): Promise<boolean> {
  const settled = await tx.query(
    `UPDATE post_targets SET status = $3, publish_result = $4, claimed_by = NULL, next_attempt_at = NULL,
       sent_at = CASE WHEN $5 THEN NULL ELSE sent_at END,
       sent_reference = CASE WHEN $5 THEN NULL ELSE sent_reference END
     WHERE ${ownSql} RETURNING id`,
    [targetId, holder, status, JSON.stringify(result), forgetsSent],
  )
  return settled.length > 0
}

/** Readers see by `updated_at` that a target was settled. The last one ends the post. @returns its status, or null */
export async function settlePost(tx: Queryable, postId: number): Promise<PostStatus | null> {
  const [row] = await tx.query<{ status: PostStatus }>(
    `UPDATE posts p SET updated_at = clock_timestamp(), status = (
       SELECT CASE WHEN bool_or(status = 'publishing') THEN 'publishing' WHEN bool_and(status = 'published') THEN 'published'
         ELSE 'failed' END FROM post_targets WHERE post_id = p.id)
     WHERE p.id = $1 AND p.status = 'publishing' RETURNING status`,
    [postId],
  )
  return row?.status ?? null
}

/** Which of these publications of an account are known: those of targets, and the parts of threads. */
export async function listKnownPublications(
  q: Queryable,
  accountId: number,
  externalIds: readonly string[],
): Promise<string[]> {
  const rows = await q.query<{ external_id: string }>(
    `SELECT publish_result->>'external_id' AS external_id FROM post_targets
     WHERE social_account_id = $1 AND status = 'published' AND publish_result->>'external_id' = ANY($2::text[])
     UNION ALL
     SELECT part->>'external_id' FROM post_targets, jsonb_array_elements(sent_parts) AS part
     WHERE social_account_id = $1 AND sent_parts <> '[]' AND part->>'external_id' = ANY($2::text[])`,
    [accountId, externalIds],
  )
  return rows.map(({ external_id }) => external_id)
}

export interface PublishBacklog {
  readonly targets: number
  /** Wait of the target that has been due for longest. */
  readonly oldestMs: number
}

/** Due targets: not begun, waiting for another attempt, or in the middle of one. */
export async function readPublishBacklog(q: Queryable): Promise<PublishBacklog> {
  const [row] = await q.query<PublishBacklog>(
    `SELECT count(*) AS targets, coalesce(extract(epoch FROM now() - min(due)) * 1000, 0)::float8 AS "oldestMs" FROM (
       SELECT p.scheduled_at AS due FROM post_targets t JOIN posts p ON p.id = t.post_id WHERE t.status = 'publishing'
       UNION ALL
       SELECT p.scheduled_at FROM posts p JOIN post_targets t ON t.post_id = p.id
       WHERE p.status = 'scheduled' AND p.scheduled_at <= now() AND t.status = 'scheduled'
     ) waiting`,
  )
  return row!
}
