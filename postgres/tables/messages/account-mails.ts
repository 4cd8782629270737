/**
 * Mails about accounts that are to be sent. Each has a link, whose token stands here encrypted until the mail has gone out.
 * A mail is claimed before an attempt, so that several pipelines send it once:
 *
 *   waiting ─► claimed ─► gone: sent, given up, or an hour old
 *      ▲          │ failed surely, or nobody ended it in time
 *      └──────────┘
 *
 * Held by test/integration/account-mails.test.ts.
 */
import { accountMailMs, forgottenPasswordsMax } from '../../../schemas/limits/account-mail-limits.ts'
import type { Queryable } from '../../client.ts'
import { isPast } from '../../leasing.ts'

export interface AccountMail {
  readonly id: number
  readonly email: string
  /** Null: of a forgotten password. */
  readonly invitationId: number | null
  readonly sealed: Buffer
  readonly createdAt: Date
}

/**
 * Asks for a link to a new password, whether anybody has the e-mail or not: the statements are the same. One that waits
 * already stays as it is. Run it in a transaction.
 * @param email in lower case
 * @returns false where too many wait
 */
export async function addForgottenPassword(
  tx: Queryable,
  { email, sealed, now }: { readonly email: string; readonly sealed: Buffer; readonly now: Date },
): Promise<boolean> {
  await dropOldAccountMails(tx, now)
  const added = await tx.query(
    `INSERT INTO account_mails (email, sealed, created_at, due_at)
     SELECT $1, $2, $3, $3 WHERE (SELECT count(*) FROM account_mails WHERE invitation_id IS NULL) < $4
     ON CONFLICT (email) WHERE invitation_id IS NULL DO UPDATE SET email = excluded.email RETURNING 1`,
    [email, sealed, now, forgottenPasswordsMax],
  )
  return added.length > 0
}

interface NewInvitationMail {
  /** The invitation's. */
  readonly id: number
  /** Null: it may not be mailed, which counts as failed. */
  readonly sealed: Buffer | null
  readonly now: Date
  /** Now, where it is left out. */
  readonly dueAt?: Date
}

/** The mail of an invitation. Run it in a transaction. */
export async function addInvitationMail(
  tx: Queryable,
  { id, sealed, now, dueAt = now }: NewInvitationMail,
): Promise<void> {
  await dropOldAccountMails(tx, now)
  await tx.query('UPDATE invitations SET mail = $2 WHERE id = $1', [id, sealed === null ? 'failed' : 'waiting'])
  if (sealed === null) return
  await tx.query(
    `INSERT INTO account_mails (email, invitation_id, sealed, created_at, due_at)
     SELECT email, id, $2, $3, $4 FROM invitations WHERE id = $1`,
    [id, sealed, now, dueAt],
  )
}

/** Invitations before their mails, in the order in which a withdrawal locks them. Run it in a transaction. */
export async function dropOldAccountMails(tx: Queryable, now: Date): Promise<void> {
  const since = new Date(now.getTime() - accountMailMs)
  await tx.query(
    `UPDATE invitations SET mail = 'failed' WHERE id IN (SELECT invitation_id FROM account_mails WHERE created_at <= $1)`,
    [since],
  )
  await tx.query('DELETE FROM account_mails WHERE created_at <= $1', [since])
}

/** SQL. No mail waits for longer than it is kept. */
const isDue = (now: string) => isPast('due_at', now, accountMailMs)

/** The longest due first. */
export function listDueAccountMails(
  q: Queryable,
  { now, max }: { readonly now: Date; readonly max: number },
): Promise<AccountMail[]> {
  return q.query<AccountMail>(
    `SELECT id, email, invitation_id AS "invitationId", sealed, created_at AS "createdAt" FROM account_mails WHERE ${isDue('$1')} ORDER BY due_at, id LIMIT $2`,
    [now, max],
  )
}

/** This one included in both, as its end isn't known yet. */
export interface AccountMailClaim {
  readonly attempts: number
  readonly uncertain: number
}

/** @returns undefined where another process has it, or it is gone */
export async function claimAccountMail(
  q: Queryable,
  id: number,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<AccountMailClaim | undefined> {
  const [claim] = await q.query<AccountMailClaim>(
    `UPDATE account_mails SET attempts = attempts + 1, uncertain = uncertain + 1, due_at = $3
     WHERE id = $1 AND ${isDue('$2')} RETURNING attempts, uncertain`,
    [id, now, until],
  )
  return claim
}

/** After an attempt that surely sent nothing. Does nothing if another process has the claim by now. */
export async function retryAccountMail(
  q: Queryable,
  id: number,
  { claim, dueAt }: { readonly claim: AccountMailClaim; readonly dueAt: Date },
): Promise<void> {
  await q.query('UPDATE account_mails SET uncertain = uncertain - 1, due_at = $3 WHERE id = $1 AND attempts = $2', [
    id,
    claim.attempts,
    dueAt,
  ])
}

/** Its token goes with it. Run it in a transaction. */
export async function endAccountMail(
  tx: Queryable,
  { id, invitationId }: Pick<AccountMail, 'id' | 'invitationId'>,
  outcome: 'sent' | 'failed',
): Promise<void> {
  await tx.query('UPDATE invitations SET mail = $2 WHERE id = $1', [invitationId, outcome])
  await tx.query('DELETE FROM account_mails WHERE id = $1', [id])
}
