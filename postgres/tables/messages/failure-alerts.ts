/**
 * Adds messages that a post failed, that an account needs to be connected again, or that a feed was turned off. The
 * transaction that writes the failure adds them, so a process that dies added all or nothing, and several add them once. They
 * are written from what is stored when they are claimed (failures-told.ts). Held by test/integration/failure-alerts.test.ts.
 */
import { expiredAccountDelayMs } from '../../../schemas/limits/alert-limits.ts'
import type { Queryable } from '../../client.ts'
import { type FailureKind, insertAlertMails } from './alert-mails.ts'

/** When, and whether addresses are told as well. */
export interface Telling {
  readonly now: Date
  readonly withMails: boolean
}

/** A post whose last target has ended, a feed that was turned off, or an account that was just lost. */
export interface Failure {
  readonly workspaceId: number
  readonly kind: FailureKind
  /** The post, feed or account. */
  readonly subjectId: number
}

export async function tellFailure(tx: Queryable, failure: Failure, { now, withMails }: Telling): Promise<void> {
  // The message about its failed post mostly tells of a lost account as well, and drops this one when it is sent.
  const delayMs = failure.kind === 'account' ? expiredAccountDelayMs : 0
  const dueAt = new Date(now.getTime() + delayMs)
  await insertAlertMails(tx, 'failures', { ...failure, toldAt: now, dueAt, withMails })
}
