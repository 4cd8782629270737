/** Passwords of owners: only their hashes, made and compared by runtime/crypto/password.ts. */
import { isDuplicate, type Queryable } from '../../client.ts'

export interface OwnerPassword {
  readonly ownerId: number
  readonly hash: string
  /** The one to begin in: with a plan before without one, the account's own before joined ones, then the oldest. */
  readonly workspaceId: number
}

/** The e-mail that was asked for belongs to another account. */
export class EmailTaken extends Error {
  override name = 'EmailTaken'
}

/**
 * Sets the password of a workspace's owner; null takes it off. It ends the owner's sessions, links (those to a new
 * password, too) and open invitations. Keys, shared links and connected apps go on. Run it in a transaction.
 * @param email what the owner signs in with from now on; undefined leaves it
 * @returns the e-mail to sign in with
 * @throws EmailTaken
 */
export async function setOwnerPassword(
  tx: Queryable,
  workspaceId: number,
  hash: string | null,
  email: string | undefined,
): Promise<string> {
  const [taken] = await tx.query<{ owns: boolean }>(
    `SELECT EXISTS (SELECT FROM workspaces WHERE owner_id = o.id) AS owns FROM owners o
     WHERE email = $1 AND id != (SELECT owner_id FROM workspaces WHERE id = $2)`,
    [email ?? '', workspaceId],
  )
  if (taken !== undefined) throw new EmailTaken(`${taken.owns ? 'another owner' : 'a member'} has ${email}`)
  const setting = tx.query<{ id: number; email: string }>(
    `UPDATE owners SET password_hash = $2, email = coalesce($3, email)
     WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1) RETURNING id, email`,
    [workspaceId, hash, email ?? null],
  )
  const [owner] = await setting.catch((error) => {
    // Somebody took it after it was looked for.
    throw isDuplicate(error) ? new EmailTaken(`another account has ${email}`) : error
  })
  await endWhatAPasswordOpened(tx, owner!.id)
  return owner!.email
}

/**
 * Gives an account another password, and ends what `setOwnerPassword` ends. Run it in a transaction.
 * @returns false where `before` is no longer the hash of its password
 */
export async function changePassword(
  tx: Queryable,
  ownerId: number,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<boolean> {
  const changed = await tx.query(
    'UPDATE owners SET password_hash = $3 WHERE id = $1 AND password_hash = $2 RETURNING 1',
    [ownerId, before, after],
  )
  if (changed.length === 0) return false
  await endWhatAPasswordOpened(tx, ownerId)
  return true
}

async function endWhatAPasswordOpened(tx: Queryable, ownerId: number): Promise<void> {
  await tx.query('DELETE FROM browser_sessions WHERE owner_id = $1', [ownerId])
  await tx.query('DELETE FROM sign_in_links WHERE owner_id = $1', [ownerId])
  await tx.query('DELETE FROM sign_in_steps WHERE owner_id = $1', [ownerId])
  await tx.query('DELETE FROM invitations WHERE invited_by = $1', [ownerId])
  await tx.query('UPDATE password_resets SET expires_at = created_at WHERE owner_id = $1', [ownerId])
  await tx.query(
    'DELETE FROM account_mails WHERE invitation_id IS NULL AND email = (SELECT email FROM owners WHERE id = $1)',
    [ownerId],
  )
}

/** The hash of an account's password; null where it signs in by links alone. */
export async function findPasswordHash(q: Queryable, ownerId: number): Promise<string | null> {
  const [row] = await q.query<{ password_hash: string | null }>('SELECT password_hash FROM owners WHERE id = $1', [
    ownerId,
  ])
  return row?.password_hash ?? null
}

/** Accounts with the workspaces that they may begin in, to be joined and ordered by `startOrder`. */
export const passwordHolders = `(owners o JOIN members m ON m.owner_id = o.id
     JOIN workspaces w ON w.id = m.workspace_id AND w.suspended_at IS NULL JOIN owners payer ON payer.id = w.owner_id)`
export const startOrder = `ORDER BY payer.plan_key IS NULL, m.role <> 'owner', w.id LIMIT 1`

/** Null where nobody signs in with this e-mail by a password. @param email in lower case */
export async function findOwnerPassword(q: Queryable, email: string): Promise<OwnerPassword | null> {
  const [row] = await q.query<OwnerPassword>(
    `SELECT o.id AS "ownerId", o.password_hash AS hash, w.id AS "workspaceId"
     FROM ${passwordHolders} WHERE o.email = $1 AND o.password_hash IS NOT NULL ${startOrder}`,
    [email],
  )
  return row ?? null
}

/** @returns whether it still is the owner's password: then it stays so until the end of the transaction */
export async function lockPassword(tx: Queryable, { ownerId, hash }: OwnerPassword): Promise<boolean> {
  const rows = await tx.query('SELECT 1 FROM owners WHERE id = $1 AND password_hash = $2 FOR SHARE', [ownerId, hash])
  return rows.length > 0
}
