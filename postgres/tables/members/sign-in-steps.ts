/**
 * Sign-ins whose password was right, and whose code of the second factor is awaited. A browser has the token in a cookie; only its
 * SHA-256 is stored. A change of the password ends them. Held by test/integration/second-factor.test.ts.
 */
import { makeLinkToken, sha256Of } from '../../../schemas/keys.ts'
import { codeTriesOfStepMax, signInStepMs } from '../../../schemas/limits/second-factor-limits.ts'
import type { Queryable } from '../../client.ts'
import { passwordHolders, startOrder } from './owner-passwords.ts'

export interface SignInStep {
  readonly ownerId: number
  readonly email: string
  /** The one to begin in, as without a second factor. */
  readonly workspaceId: number
}

/** Run it in a transaction that has locked the password. @param now milliseconds since 1970 @returns the token */
export async function beginSignInStep(tx: Queryable, ownerId: number, now: number): Promise<string> {
  const token = makeLinkToken()
  await tx.query('DELETE FROM sign_in_steps WHERE expires_at <= $1', [new Date(now)])
  await tx.query('INSERT INTO sign_in_steps (hash, owner_id, expires_at) VALUES ($1, $2, $3)', [
    sha256Of(token),
    ownerId,
    new Date(now + signInStepMs),
  ])
  return token
}

/** Whether a code may be tried. */
export async function isSignInStepOpen(q: Queryable, token: string, now: number): Promise<boolean> {
  const rows = await q.query('SELECT 1 FROM sign_in_steps WHERE hash = $1 AND expires_at > $2 AND tries < $3', [
    sha256Of(token),
    new Date(now),
    codeTriesOfStepMax,
  ])
  return rows.length > 0
}

/** Counts a try. @returns whose it is; null where the step is unknown, done or too old, or had its tries */
export async function trySignInStep(q: Queryable, token: string, now: number): Promise<SignInStep | null> {
  const [tried] = await q.query<{ owner_id: number }>(
    `UPDATE sign_in_steps SET tries = tries + 1 WHERE hash = $1 AND expires_at > $2 AND tries < $3 RETURNING owner_id`,
    [sha256Of(token), new Date(now), codeTriesOfStepMax],
  )
  if (tried === undefined) return null
  const [step] = await q.query<SignInStep>(
    `SELECT o.id AS "ownerId", o.email, w.id AS "workspaceId" FROM ${passwordHolders} WHERE o.id = $1 ${startOrder}`,
    [tried.owner_id],
  )
  return step ?? null
}

/**
 * Uses the step up. Run it in a transaction, and undo that where the code is wrong. The account's password stays as it is
 * until the end of the transaction.
 * @returns false where it was used or ended meanwhile
 */
export async function endSignInStep(tx: Queryable, token: string, { ownerId }: SignInStep): Promise<boolean> {
  // Before the step, as a change of the password does.
  await tx.query('SELECT 1 FROM owners WHERE id = $1 FOR SHARE', [ownerId])
  const ended = await tx.query('DELETE FROM sign_in_steps WHERE hash = $1 RETURNING 1', [sha256Of(token)])
  return ended.length > 0
}
