/**
 * Adds messages that a post failed, that an account needs to be connected again, or that a feed was turned off. The
 * transaction that writes the failure adds them, so a process that dies added all or nothing, and several add them once. They
 * are written from what is stored when they are claimed (failures-told.ts). Held by test/integration/failure-alerts.test.ts.
 */
import { expiredAccountDelayMs } from '../../../schemas/limits/alert-limits.ts'
import type { Queryable } from '../../client.ts'
import { insertAlertMails } from './alert-mails.ts'

/** When, and whether addresses are told as well. */
export interface Telling {
  readonly now: Date
  readonly withMails: boolean
}

/** For a post whose last target has ended. */
export async function tellFailedPost(
  tx: Queryable,
  { workspaceId, postId }: { readonly workspaceId: number; readonly postId: number },
  { now, withMails }: Telling,
): Promise<void> {
  await insertAlertMails(tx, 'failures', {
    workspaceId,
    kind: 'post',
    subjectId: postId,
    toldAt: now,
    dueAt: now,
    withMails,
  })
}

/** For a feed that was turned off. */
export async function tellFailedFeed(
  tx: Queryable,
  { workspaceId, feedId }: { readonly workspaceId: number; readonly feedId: number },
  { now, withMails }: Telling,
): Promise<void> {
  await insertAlertMails(tx, 'failures', {
    workspaceId,
    kind: 'feed',
    subjectId: feedId,
    toldAt: now,
    dueAt: now,
    withMails,
  })
}

/**
 * For an account that was just lost. The message about its failed post mostly tells of it as well, and drops this one when it
 * is sent.
 */
export async function tellExpiredAccount(
  tx: Queryable,
  { workspaceId, accountId }: { readonly workspaceId: number; readonly accountId: number },
  { now, withMails }: Telling,
): Promise<void> {
  const dueAt = new Date(now.getTime() + expiredAccountDelayMs)
  await insertAlertMails(tx, 'failures', {
    workspaceId,
    kind: 'account',
    subjectId: accountId,
    toldAt: now,
    dueAt,
    withMails,
  })
}
