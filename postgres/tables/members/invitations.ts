/**
 * Invitations into workspaces. A link's token is never stored: only its SHA-256 to find it by. Nobody gets into an account by one:
 * whoever has an account proves it by its password. Held by test/integration/members.test.ts.
 */
import { makeLinkToken, sha256Of } from '../../../schemas/keys.ts'
import { invitationMs, membersMax } from '../../../schemas/limits/api-limits.ts'
import type { GivenRole } from '../../../schemas/roles.ts'
import type { Queryable } from '../../client.ts'
import { lockWorkspace } from '../workspaces/workspaces.ts'
import { lockAsManager } from './members.ts'

export interface Invitation {
  readonly id: number
  readonly email: string
  readonly role: GivenRole
  readonly created_at: Date
  readonly expires_at: Date
  /** How far its mail is; null: none was to be sent. */
  readonly mail: 'waiting' | 'sent' | 'failed' | null
}

/** In the order in which they were made. @param now milliseconds since 1970 */
export function listInvitations(q: Queryable, workspaceId: number, now: number): Promise<Invitation[]> {
  return q.query<Invitation>(
    `SELECT id, email, role, created_at, expires_at, mail FROM invitations
     WHERE workspace_id = $1 AND expires_at > to_timestamp($2::float8 / 1000) ORDER BY id`,
    [workspaceId, now],
  )
}

export interface NewInvitation {
  readonly workspaceId: number
  /** In lower case. */
  readonly email: string
  readonly role: GivenRole
  readonly invitedBy: number
  readonly now: number
}

export type InvitationRefusal = 'full' | 'member' | 'invited' | 'denied'

/**
 * Run it in a transaction.
 * @returns the link's token, which can't be read again, or why there is none; `denied`: the inviter may no longer invite
 */
export async function createInvitation(
  tx: Queryable,
  { workspaceId, email, role, invitedBy, now }: NewInvitation,
): Promise<{ readonly id: number; readonly token: string } | InvitationRefusal> {
  if (!(await lockAsManager(tx, workspaceId, invitedBy))) return 'denied'
  await tx.query('DELETE FROM invitations WHERE workspace_id = $1 AND expires_at <= to_timestamp($2::float8 / 1000)', [
    workspaceId,
    now,
  ])
  const [state] = await tx.query<{ places: number; is_member: boolean }>(
    `SELECT (SELECT count(*) FROM members WHERE workspace_id = $1)::int
         + (SELECT count(*) FROM invitations WHERE workspace_id = $1)::int AS places,
       EXISTS (SELECT FROM members m JOIN owners o ON o.id = m.owner_id WHERE m.workspace_id = $1 AND o.email = $2) AS is_member`,
    [workspaceId, email],
  )
  if (state!.is_member) return 'member'
  if (state!.places >= membersMax) return 'full'
  const token = makeLinkToken()
  const [made] = await tx.query<{ id: number }>(
    `INSERT INTO invitations (workspace_id, hash, email, role, invited_by, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), to_timestamp($7::float8 / 1000))
     ON CONFLICT (workspace_id, email) DO NOTHING RETURNING id`,
    [workspaceId, sha256Of(token), email, role, invitedBy, now, now + invitationMs],
  )
  return made === undefined ? 'invited' : { id: made.id, token }
}

/** @returns false where the workspace has no such invitation */
export async function deleteInvitation(tx: Queryable, id: number, workspaceId: number): Promise<boolean> {
  const gone = await tx.query('DELETE FROM invitations WHERE id = $1 AND workspace_id = $2 RETURNING 1', [
    id,
    workspaceId,
  ])
  return gone.length > 0
}

/** The account with the address that was invited. */
interface InvitedAccount {
  readonly id: number
  /** Null: it signs in by links alone. */
  readonly passwordHash: string | null
}

export interface OpenInvitation extends Pick<Invitation, 'id' | 'email' | 'role' | 'expires_at'> {
  readonly workspaceId: number
  readonly workspaceName: string
  /** The e-mail of who invited; null: the workspace's owner, whose address is made up. */
  readonly inviter: string | null
  readonly account: InvitedAccount | null
}

/** Null where the link is unknown, used, withdrawn or too old, or its workspace isn't in use. */
export async function findInvitation(q: Queryable, token: string, now: number): Promise<OpenInvitation | null> {
  interface Row extends Omit<OpenInvitation, 'account'> {
    readonly account_id: number | null
    readonly password_hash: string | null
  }
  const [row] = await q.query<Row>(
    `SELECT i.id, i.email, i.role, i.expires_at, w.id AS "workspaceId", w.name AS "workspaceName",
       CASE WHEN m.role = 'owner' AND by.email LIKE '%.invalid' THEN NULL ELSE by.email END AS inviter,
       o.id AS account_id, o.password_hash
     FROM invitations i JOIN workspaces w ON w.id = i.workspace_id JOIN owners by ON by.id = i.invited_by
     JOIN members m ON m.workspace_id = i.workspace_id AND m.owner_id = i.invited_by
     LEFT JOIN owners o ON o.email = i.email
     WHERE i.hash = $1 AND i.expires_at > to_timestamp($2::float8 / 1000) AND w.suspended_at IS NULL`,
    [sha256Of(token), now],
  )
  if (row === undefined) return null
  const { account_id, password_hash, ...invitation } = row
  const account = account_id === null ? null : { id: account_id, passwordHash: password_hash }
  return { ...invitation, account }
}

/**
 * Uses the invitation up. Run it in a transaction.
 * @param passwordHash the account's, to which the given password was compared, or that of a new account
 * @returns the account; `gone`: the link was used or withdrawn meanwhile; `changed`: the account was made, changed or deleted
 */
export async function acceptInvitation(
  tx: Queryable,
  { id, workspaceId, email, account }: OpenInvitation,
  passwordHash: string,
): Promise<number | 'gone' | 'changed'> {
  // Before its rows, as the deletion of a workspace and the removal of a member do.
  await lockWorkspace(tx, workspaceId)
  const [open] = await tx.query<{ role: GivenRole }>(
    `SELECT i.role FROM invitations i JOIN workspaces w ON w.id = i.workspace_id
     WHERE i.id = $1 AND w.suspended_at IS NULL FOR UPDATE OF i`,
    [id],
  )
  if (open === undefined) return 'gone'
  const [holder] = await (account === null
    ? tx.query<{ id: number }>(
        'INSERT INTO owners (email, password_hash) VALUES ($1, $2) ON CONFLICT (email) DO NOTHING RETURNING id',
        [email, passwordHash],
      )
    : tx.query<{ id: number }>('SELECT id FROM owners WHERE id = $1 AND email = $2 AND password_hash = $3 FOR UPDATE', [
        account.id,
        email,
        passwordHash,
      ]))
  if (holder === undefined) return 'changed'
  await tx.query('DELETE FROM invitations WHERE id = $1', [id])
  // Whoever is a member by now, as its owner may be, keeps the role.
  await tx.query('INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    workspaceId,
    holder.id,
    open.role,
  ])
  return holder.id
}
