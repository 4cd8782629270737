/**
 * How published posts do on their networks, and the queue of reading it. A process leases an account for a turn, so each post is
 * asked for once, however many processes there are. Times come from the caller's clock. Held by
 * test/integration/engagement.test.ts.
 */
import type { Figures } from '../../../schemas/engagement.ts'
import {
  engagementChargedAgesMs,
  engagementLimitMaxMs,
  engagementRefusedMs,
} from '../../../schemas/limits/engagement-limits.ts'
import { publishWaitMaxMs } from '../../../schemas/limits/publish-limits.ts'
import type { Platform } from '../../../schemas/reference/providers.ts'
import type { ConnectionType } from '../../../schemas/resources/social-account.ts'
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { isPast, isTooFarAhead, type Leasing } from '../../leasing.ts'
import { isInUse } from '../workspaces/is-in-use.ts'

/**
 * SQL condition of a row `e` whose time a clock that ran ahead has set. Where each read is billed, the next one may be weeks
 * away, at one of three ages of the post: these times are right.
 */
const isSetWrong = (now: string) =>
  `(${isTooFarAhead('e.due_at', now, engagementRefusedMs)}
     AND e.due_at - e.published_at <> ALL (ARRAY[${engagementChargedAgesMs.map((ms) => intervalOf(`${ms}`)).join()}]))`

/** SQL condition of an account `a`. Each part is a range of the index: in one condition, all of the account's posts were read. */
const hasDue = (now: string) => `(${has(`e.due_at <= ${now}`)} OR ${has(isSetWrong(now))})`
const has = (is: string) => `EXISTS (SELECT FROM post_engagement e WHERE e.social_account_id = a.id AND ${is})`

/** From now on its figures are read. */
export async function insertEngagement(
  tx: Queryable,
  { targetId, publishedAt, dueAt }: { readonly targetId: number; readonly publishedAt: Date; readonly dueAt: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO post_engagement (target_id, social_account_id, published_at, due_at)
     SELECT id, social_account_id, $2, $3 FROM post_targets WHERE id = $1 ON CONFLICT DO NOTHING`,
    [targetId, publishedAt, dueAt],
  )
}

export interface LeasedAccount {
  readonly id: number
  readonly platform: Platform
  readonly connection_type: ConnectionType
  readonly handle: string
  readonly external_id: string | null
  readonly provider_metadata: Record<string, unknown>
}

/**
 * Accounts with due posts, those first whose turn is longest ago. Accounts that are not connected, or whose platform's limit
 * keeps posts from being published, wait. So do those of a workspace that is suspended or has no plan.
 */
export function leaseAccounts(q: Queryable, { now, until, max }: Leasing): Promise<LeasedAccount[]> {
  return q.query<LeasedAccount>(
    `UPDATE social_accounts SET engagement_held_until = $2 WHERE id IN (
       SELECT a.id FROM social_accounts a JOIN workspaces w ON w.id = a.workspace_id JOIN owners o ON o.id = w.owner_id
       WHERE status = 'connected' AND connection_type <> 'simulated' AND ${isInUse()}
         AND coalesce(${isPast('engagement_held_until', '$1', engagementLimitMaxMs)}, true) AND coalesce(${isPast('held_until', '$1', publishWaitMaxMs)}, true)
         AND ${hasDue('$1')}
       ORDER BY engagement_held_until NULLS FIRST, a.id LIMIT $3 FOR NO KEY UPDATE OF a SKIP LOCKED
     ) RETURNING id, platform, connection_type, handle, external_id, provider_metadata`,
    [now, until, max],
  )
}

/** Ends a lease: the next turn is at `until`. Does nothing where the account was connected anew, or is another's. */
export async function endLease(
  q: Queryable,
  accountId: number,
  { leasedUntil, until }: { readonly leasedUntil: Date; readonly until: Date },
): Promise<void> {
  await q.query('UPDATE social_accounts SET engagement_held_until = $3 WHERE id = $1 AND engagement_held_until = $2', [
    accountId,
    leasedUntil,
    until,
  ])
}

export interface DuePost {
  readonly targetId: number
  readonly externalId: string
  readonly publishedAt: Date
  readonly failures: number
}

/** Those that are due for longest. */
export function listDueOf(q: Queryable, accountId: number, now: Date, max: number): Promise<DuePost[]> {
  return q.query<DuePost>(
    `SELECT e.target_id AS "targetId", t.publish_result->>'external_id' AS "externalId", e.published_at AS "publishedAt",
       e.failures
     FROM post_engagement e JOIN post_targets t ON t.id = e.target_id
     WHERE e.social_account_id = $1 AND (e.due_at <= $2 OR ${isSetWrong('$2')}) ORDER BY e.due_at, e.target_id LIMIT $3`,
    [accountId, now, max],
  )
}

export interface ReadPost {
  readonly targetId: number
  /** Null: the network has the post no more. Its last figures stay. */
  readonly figures: Figures | null
  readonly dueAt: Date | null
}

/** Replaces the figures, unless newer ones are there. A clock that ran ahead may have dated the ones that are. */
export async function storeEngagement(q: Queryable, readAt: Date, posts: readonly ReadPost[]): Promise<void> {
  const rows = posts.map(({ targetId, figures, dueAt }) => ({
    target_id: targetId,
    due_at: dueAt,
    is_gone: figures === null,
    ...figures,
  }))
  await q.query(
    `UPDATE post_engagement e SET failures = 0, due_at = CASE WHEN is_gone THEN NULL ELSE r.due_at END,
       gone_at = CASE WHEN is_gone THEN $2 ELSE NULL END, read_at = CASE WHEN is_gone THEN read_at ELSE $2 END,
       likes = CASE WHEN is_gone THEN e.likes ELSE r.likes END,
       comments = CASE WHEN is_gone THEN e.comments ELSE r.comments END,
       shares = CASE WHEN is_gone THEN e.shares ELSE r.shares END,
       views = CASE WHEN is_gone THEN e.views ELSE r.views END
     FROM jsonb_to_recordset($1) AS r (target_id bigint, due_at timestamptz, is_gone boolean,
       likes bigint, comments bigint, shares bigint, views bigint)
     WHERE e.target_id = r.target_id AND coalesce(${isPast('read_at', '$2', 0)}, true)`,
    [JSON.stringify(rows), readAt],
  )
}

/** Reads that failed. @param dueAt null: they are given up */
export async function postponeEngagement(
  q: Queryable,
  posts: readonly { readonly targetId: number; readonly dueAt: Date | null }[],
): Promise<void> {
  await q.query(
    `UPDATE post_engagement e SET failures = least(failures + 1, 1000), due_at = r.due_at
     FROM jsonb_to_recordset($1) AS r (target_id bigint, due_at timestamptz) WHERE e.target_id = r.target_id`,
    [JSON.stringify(posts.map(({ targetId, dueAt }) => ({ target_id: targetId, due_at: dueAt })))],
  )
}

export interface Engagement extends Figures {
  readonly postId: number
  readonly targetId: number
  readonly readAt: Date | null
  readonly goneAt: Date | null
}

/** Targets of these posts that something is known of. */
export function listEngagement(q: Queryable, postIds: readonly number[]): Promise<Engagement[]> {
  return q.query<Engagement>(
    `SELECT t.post_id AS "postId", target_id AS "targetId", likes, comments, shares, views, read_at AS "readAt", gone_at AS "goneAt"
     FROM post_engagement JOIN post_targets t ON t.id = target_id
     WHERE t.post_id = ANY($1::bigint[]) AND (read_at IS NOT NULL OR gone_at IS NOT NULL)`,
    [postIds],
  )
}
