/**
 * Sign-ins at platforms that connect social accounts. Each belongs to the session and the workspace that it was begun in. Only the
 * SHA-256 of its state is stored. Held by test/integration/sign-in-accounts.test.ts.
 */
import { sha256Of } from '../../../schemas/keys.ts'
import { appSweepMax } from '../../../schemas/limits/oauth-limits.ts'
import type { Queryable } from '../../client.ts'

/** Where a sign-in was begun. */
export interface Beginner {
  readonly workspaceId: number
  readonly sessionId: number
}

export interface AccountSignIn {
  readonly id: number
  readonly sealed: Buffer
}

/**
 * The session goes on in that workspace, which another tab may have left: the platform sends the browser back to one address.
 * @returns false where the session has ended meanwhile
 */
export async function insertAccountSignIn(
  tx: Queryable,
  { workspaceId, sessionId }: Beginner,
  { state, sealed, expiresAt }: { state: string; sealed: Buffer; expiresAt: Date },
): Promise<boolean> {
  const moved = await tx.query('UPDATE browser_sessions SET workspace_id = $1 WHERE id = $2 RETURNING 1', [
    workspaceId,
    sessionId,
  ])
  if (moved.length === 0) return false
  await tx.query(
    `INSERT INTO account_sign_ins (state_hash, workspace_id, session_id, sealed, expires_at) VALUES ($1, $2, $3, $4, $5)`,
    [sha256Of(state), workspaceId, sessionId, sealed, expiresAt],
  )
  return true
}

/** Why a sign-in is refused. */
export type AccountSignInRefusal = 'unknown' | 'expired' | 'of another session' | 'of another workspace'

/** Takes the state once. Whoever didn't begin the sign-in doesn't use it up. */
export async function takeAccountSignIn(
  q: Queryable,
  state: string,
  { workspaceId, sessionId }: Beginner,
  now: Date,
): Promise<AccountSignIn | AccountSignInRefusal> {
  const [taken] = await q.query<AccountSignIn>(
    `UPDATE account_sign_ins SET state_hash = NULL
     WHERE state_hash = $1 AND workspace_id = $2 AND session_id = $3 AND expires_at > $4 RETURNING id, sealed`,
    [sha256Of(state), workspaceId, sessionId, now],
  )
  if (taken !== undefined) return taken
  const [found] = await q.query<{ session_id: number; is_expired: boolean }>(
    'SELECT session_id, expires_at <= $2 AS is_expired FROM account_sign_ins WHERE state_hash = $1',
    [sha256Of(state), now],
  )
  if (found === undefined) return 'unknown'
  if (found.session_id !== sessionId) return 'of another session'
  return found.is_expired ? 'expired' : 'of another workspace'
}

/** Keeps what a choice is made from. */
export async function keepForChoice(tx: Queryable, { id, sealed }: AccountSignIn): Promise<void> {
  await tx.query('UPDATE account_sign_ins SET sealed = $2 WHERE id = $1', [id, sealed])
}

/** One that came back from the platform; null where the session has none of this number. */
export async function readReturnedSignIn(
  q: Queryable,
  id: number,
  { workspaceId, sessionId }: Beginner,
  now: Date,
): Promise<AccountSignIn | null> {
  const [found] = await q.query<AccountSignIn>(
    `SELECT id, sealed FROM account_sign_ins
     WHERE id = $1 AND workspace_id = $2 AND session_id = $3 AND state_hash IS NULL AND expires_at > $4`,
    [id, workspaceId, sessionId, now],
  )
  return found ?? null
}

/** @returns false where another request ended it */
export async function endAccountSignIn(tx: Queryable, id: number): Promise<boolean> {
  return (await tx.query('DELETE FROM account_sign_ins WHERE id = $1 RETURNING 1', [id])).length > 0
}

/** Deletes some of those whose time is over. @returns how many */
export async function deleteExpiredSignIns(q: Queryable, at: Date): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM account_sign_ins WHERE id IN (
       SELECT id FROM account_sign_ins WHERE expires_at <= $1 LIMIT ${appSweepMax}) RETURNING 1`,
    [at],
  )
  return deleted.length
}
