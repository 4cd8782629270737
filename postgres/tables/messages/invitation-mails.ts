/**
 * How many mails of invitations were asked for within the last hour. Strangers get these mails, so nobody may send
 * many. They are counted by workspace, by inviting account over all its workspaces, and by address.
 */
import { sha256Of } from '../../../schemas/keys.ts'
import {
  invitationMailsHourlyMax,
  invitationMailsOfAddressHourlyMax,
} from '../../../schemas/limits/account-mail-limits.ts'
import { hour } from '../../../schemas/limits/units.ts'
import type { Queryable } from '../../client.ts'
import { takeNamedLock } from '../../named-lock.ts'

/** `often`: the workspace or the account had its mails; `address full`: the address had, perhaps from somebody else. */
export type MailVerdict = 'counted' | 'often' | 'address full'

/** Counts one more, if there may be one. Run it in a transaction. @param email in lower case */
export async function countInvitationMail(
  tx: Queryable,
  asked: { readonly workspaceId: number; readonly invitedBy: number; readonly email: string; readonly now: number },
): Promise<MailVerdict> {
  const { workspaceId, invitedBy, email, now } = asked
  const address = sha256Of(mailboxOf(email))
  // Else invitations of several workspaces at once wouldn't see each other.
  await takeNamedLock(tx, 'mails of invitations')
  await tx.query('DELETE FROM invitation_mails WHERE asked_at <= $1', [new Date(now - hour)])
  const [had] = await tx.query<{ workspace: number; account: number; address: number }>(
    `SELECT count(*) FILTER (WHERE workspace_id = $1)::int AS workspace, count(*) FILTER (WHERE invited_by = $2)::int AS account,
       count(*) FILTER (WHERE address_hash = $3)::int AS address FROM invitation_mails`,
    [workspaceId, invitedBy, address],
  )
  if (Math.max(had!.workspace, had!.account) >= invitationMailsHourlyMax) return 'often'
  await tx.query(
    'INSERT INTO invitation_mails (workspace_id, invited_by, address_hash, asked_at) VALUES ($1, $2, $3, $4)',
    [workspaceId, invitedBy, address, new Date(now)],
  )
  return had!.address >= invitationMailsOfAddressHourlyMax ? 'address full' : 'counted'
}

/** Many servers deliver `name+anything@` to `name@`. */
function mailboxOf(email: string): string {
  return email.replace(/\+[^@]*(?=@)/, '')
}
