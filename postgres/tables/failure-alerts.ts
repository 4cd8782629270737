/**
 * Who is told that a post failed, or that an account needs to be connected again, and of what. Messages are added in the
 * transaction that writes the failure, so a process that dies told of all or nothing, and several tell once. They are written
 * from what is stored when they are sent. Held by test/integration/failure-alerts.test.ts.
 */
import { expiredAccountDelayMs } from '../../schemas/limits/alert-limits.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { Queryable } from '../client.ts'
import { insertAlertMails } from './alert-mails.ts'

/** When, and whether addresses are told as well. */
export interface Telling {
  readonly now: Date
  readonly withMails: boolean
}

/** For a post whose last target has ended. Its message tells of accounts as well, so those that wait are taken back. */
export async function tellFailedPost(
  tx: Queryable,
  { workspaceId, postId }: { readonly workspaceId: number; readonly postId: number },
  { now, withMails }: Telling,
): Promise<void> {
  await insertAlertMails(tx, 'failures', {
    ...{ workspaceId, kind: 'post', subjectId: postId, toldAt: now, dueAt: now, withMails },
  })
  await tx.query(
    `DELETE FROM alert_mails m USING post_targets t
     WHERE t.post_id = $1 AND t.status = 'failed' AND m.kind = 'account' AND m.subject_id = t.social_account_id AND m.attempts = 0`,
    [postId],
  )
}

/** For an account whose post hasn't failed, or not yet. */
export async function tellExpiredAccount(
  tx: Queryable,
  { workspaceId, accountId }: { readonly workspaceId: number; readonly accountId: number },
  { now, withMails }: Telling,
): Promise<void> {
  const dueAt = new Date(now.getTime() + expiredAccountDelayMs)
  await insertAlertMails(tx, 'failures', {
    ...{ workspaceId, kind: 'account', subjectId: accountId, toldAt: now, dueAt, withMails },
  })
}

export interface AccountTold {
  readonly handle: string
  readonly platform: Platform
}

export interface FailedPost {
  readonly title: string
  readonly scheduledAt: Date | null
  /** Those that failed or were published, in the order of the post. */
  readonly targets: readonly TargetTold[]
}

export interface TargetTold extends AccountTold {
  readonly status: 'failed' | 'published'
  readonly isConnected: boolean
  /** Why it failed; null where it is published. */
  readonly message: string | null
}

/** @returns undefined where the post isn't failed any more */
export async function readFailedPost(q: Queryable, workspaceId: number, id: number): Promise<FailedPost | undefined> {
  const [post] = await q.query<FailedPost>(
    `SELECT p.title, p.scheduled_at AS "scheduledAt", json_agg(json_build_object(
         'handle', a.handle, 'platform', a.platform, 'status', t.status, 'isConnected', a.status = 'connected',
         'message', t.publish_result->'error'->>'message') ORDER BY t.place) AS targets
     FROM posts p JOIN post_targets t ON t.post_id = p.id JOIN social_accounts a ON a.id = t.social_account_id
     WHERE p.id = $2 AND p.workspace_id = $1 AND p.status = 'failed' AND t.status IN ('failed', 'published') GROUP BY p.id`,
    [workspaceId, id],
  )
  return post
}

/** @returns undefined where the account was connected again or disconnected */
export async function readExpiredAccount(
  q: Queryable,
  workspaceId: number,
  id: number,
): Promise<(AccountTold & { readonly message: string }) | undefined> {
  const [account] = await q.query<AccountTold & { message: string }>(
    `SELECT handle, platform, health_message AS message FROM social_accounts
     WHERE id = $2 AND workspace_id = $1 AND status = 'expired'`,
    [workspaceId, id],
  )
  return account
}
