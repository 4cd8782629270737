/**
 * Links that set a new password, where the old one is forgotten. Only accounts that have a password get one. A token is
 * never stored here: only its SHA-256 to find it by. Held by test/integration/account-mails.test.ts.
 */
import { sha256Of } from '../../../schemas/keys.ts'
import { passwordResetMs, passwordResetsHourlyMax } from '../../../schemas/limits/account-mail-limits.ts'
import { hour } from '../../../schemas/limits/units.ts'
import type { Queryable } from '../../client.ts'
import { findOwnerPassword, lockPassword, type OwnerPassword, passwordHolders, startOrder } from './owner-passwords.ts'

/**
 * Lets the link of a token work from now on, for whoever signs in with the e-mail by a password. Opened again, it works no
 * longer than from the first time. Run it in a transaction.
 * @returns false where nobody does, the account had its mails of this hour, or the link has ended
 */
export async function openPasswordReset(
  tx: Queryable,
  { email, token, now }: { readonly email: string; readonly token: string; readonly now: number },
): Promise<boolean> {
  // An address that is made up gets no mail.
  const found = email.endsWith('.invalid') ? null : await findOwnerPassword(tx, email)
  if (found === null || !(await lockPassword(tx, found))) return false
  // After the account, as where a change of its password ends its links.
  await tx.query('DELETE FROM password_resets WHERE created_at <= $1', [new Date(now - hour)])
  const hash = sha256Of(token)
  await tx.query(
    `INSERT INTO password_resets (hash, owner_id, created_at, expires_at)
     SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM password_resets WHERE owner_id = $2) < $5
     ON CONFLICT (hash) DO NOTHING`,
    [hash, found.ownerId, new Date(now), new Date(now + passwordResetMs), passwordResetsHourlyMax],
  )
  const open = await tx.query('SELECT 1 FROM password_resets WHERE hash = $1 AND expires_at > $2', [
    hash,
    new Date(now),
  ])
  return open.length > 0
}

export interface OpenReset extends OwnerPassword {
  readonly email: string
}

/**
 * The password that a link may change. A change by `changePassword` with this hash uses the link up, as it ends all links.
 * @returns null where the link is unknown, used, ended or too old
 */
export async function findPasswordReset(q: Queryable, token: string, now: number): Promise<OpenReset | null> {
  const [row] = await q.query<OpenReset>(
    `SELECT o.id AS "ownerId", o.email, o.password_hash AS hash, w.id AS "workspaceId"
     FROM password_resets r JOIN ${passwordHolders} ON o.id = r.owner_id
     WHERE r.hash = $1 AND r.expires_at > $2 AND o.password_hash IS NOT NULL ${startOrder}`,
    [sha256Of(token), new Date(now)],
  )
  return row ?? null
}
