/**
 * Members of workspaces and their accounts. A member whose rights shrink loses at once whatever acts by them: sessions there, keys
 * and open invitations. Held by test/integration/members.test.ts.
 */
import { type GivenRole, mayManage, type Role } from '../../../schemas/roles.ts'
import type { Queryable } from '../../client.ts'
import { lockWorkspace } from '../workspaces/workspaces.ts'
import { passwordHolders, startOrder } from './owner-passwords.ts'

export interface Member {
  /** The account's, which may be a member of other workspaces, too. */
  readonly id: number
  readonly email: string
  readonly role: Role
  readonly added_at: Date
  readonly has_second_factor: boolean
  /** Keys, shared links and connected apps that work or will, made by the member here. */
  readonly keys: number
}

/** The owner first, then in the order in which they came. */
export function listMembers(q: Queryable, workspaceId: number): Promise<Member[]> {
  return q.query<Member>(
    `SELECT m.owner_id AS id, o.email, m.role, m.added_at,
       EXISTS (SELECT FROM second_factors f WHERE f.owner_id = m.owner_id AND f.enabled_at IS NOT NULL) AS has_second_factor,
       (SELECT count(*)::int FROM api_keys k WHERE k.workspace_id = m.workspace_id AND k.owner_id = m.owner_id
          AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)) AS keys
     FROM members m JOIN owners o ON o.id = m.owner_id
     WHERE m.workspace_id = $1 ORDER BY m.role = 'owner' DESC, m.added_at, m.owner_id`,
    [workspaceId],
  )
}

/** Ids of all that ended with it. */
export interface MemberChange {
  /** Shared links and connected apps, too. */
  readonly revoked_keys: number[]
  readonly withdrawn_invitations: number[]
}

/** `owner`: it is the workspace's owner, who stays. */
export type MemberRefusal = 'unknown' | 'owner'

/** It counts from the next request on. Run it in a transaction. */
export async function changeRole(
  tx: Queryable,
  { workspaceId, id, role }: { readonly workspaceId: number; readonly id: number; readonly role: GivenRole },
): Promise<MemberChange | MemberRefusal> {
  const refusal = await findRefusal(tx, workspaceId, id)
  if (refusal !== null) return refusal
  await tx.query('UPDATE members SET role = $3 WHERE workspace_id = $1 AND owner_id = $2', [workspaceId, id, role])
  const withdrawn = mayManage(role) ? [] : await withdrawInvitationsOf(tx, workspaceId, id)
  return { revoked_keys: [], withdrawn_invitations: withdrawn }
}

/** Run it in a transaction. An account that is left without any workspace goes, so that it can be invited anew. */
export async function removeMember(
  tx: Queryable,
  workspaceId: number,
  id: number,
): Promise<MemberChange | MemberRefusal> {
  const refusal = await findRefusal(tx, workspaceId, id)
  if (refusal !== null) return refusal
  // Before its sessions and invitations, as where its password is changed.
  await lockAccounts(tx, [id])
  const withdrawn = await withdrawInvitationsOf(tx, workspaceId, id)
  for (const table of ['sign_in_links', 'members']) {
    await tx.query(`DELETE FROM ${table} WHERE workspace_id = $1 AND owner_id = $2`, [workspaceId, id])
  }
  await moveSessionsOut(tx, workspaceId, id)
  const revoked = await endKeysOf(tx, [id], workspaceId)
  await deleteUnusedAccounts(tx, [id])
  return { revoked_keys: revoked, withdrawn_invitations: withdrawn }
}

/**
 * Moves sessions out of a workspace that is closed to their accounts by now, as their tabs may show others. They go on in the
 * workspace that a sign-in would begin in. Those without another workspace end.
 * @param id the account's; all when left out
 */
export async function moveSessionsOut(tx: Queryable, workspaceId: number, id?: number): Promise<void> {
  const ofThese = 's.workspace_id = $1 AND ($2::bigint IS NULL OR s.owner_id = $2)'
  await tx.query(
    `UPDATE browser_sessions s SET workspace_id = other.id
     FROM (SELECT DISTINCT s.owner_id FROM browser_sessions s WHERE ${ofThese}) AS account,
       LATERAL (SELECT w.id FROM ${passwordHolders} WHERE o.id = account.owner_id AND w.id <> $1 ${startOrder}) AS other
     WHERE s.owner_id = account.owner_id AND ${ofThese}`,
    [workspaceId, id ?? null],
  )
  await tx.query(`DELETE FROM browser_sessions s WHERE ${ofThese}`, [workspaceId, id ?? null])
}

/** Deletes those of these accounts that neither own a workspace nor are a member of one. Run it in a transaction. */
export async function deleteUnusedAccounts(tx: Queryable, ids: readonly number[]): Promise<void> {
  // Locked before they are looked at: an account that joins a workspace meanwhile isn't unused.
  await lockAccounts(tx, ids)
  const unused = await tx.query<{ id: number }>(
    `SELECT id FROM owners o WHERE id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT FROM workspaces WHERE owner_id = o.id)
       AND NOT EXISTS (SELECT FROM members WHERE owner_id = o.id)`,
    [ids],
  )
  const gone = unused.map(({ id }) => id)
  // A request that was let in before the removal may have made some.
  await endKeysOf(tx, gone)
  for (const table of ['browser_sessions', 'sign_in_links']) {
    await tx.query(`DELETE FROM ${table} WHERE owner_id = ANY ($1::bigint[])`, [gone])
  }
  await tx.query('DELETE FROM owners WHERE id = ANY ($1::bigint[])', [gone])
}

async function lockAccounts(tx: Queryable, ids: readonly number[]): Promise<void> {
  await tx.query('SELECT 1 FROM owners WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE', [ids])
}

/** Revoked for good: else they would work again once their maker is invited again. The rows outlive the account. */
async function endKeysOf(tx: Queryable, ids: readonly number[], workspaceId?: number): Promise<number[]> {
  // In one statement, so that no key changes hands unrevoked.
  const ended = await tx.query<{ id: number; was_revoked: boolean }>(
    `UPDATE api_keys k SET revoked_at = coalesce(k.revoked_at, now()), owner_id = w.owner_id
     FROM workspaces w, (SELECT id, revoked_at IS NOT NULL AS was_revoked FROM api_keys
       WHERE owner_id = ANY ($1::bigint[]) AND ($2::int IS NULL OR workspace_id = $2) FOR UPDATE) AS before
     WHERE w.id = k.workspace_id AND before.id = k.id RETURNING k.id, was_revoked`,
    [ids, workspaceId ?? null],
  )
  return ended
    .filter(({ was_revoked }) => !was_revoked)
    .map(({ id }) => id)
    .sort((one, other) => one - other)
}

/**
 * Locks the workspace, so that the role stays until the end of the transaction.
 * @returns whether the account may manage it: it may have lost its role since its request was let in
 */
export async function lockAsManager(tx: Queryable, workspaceId: number, id: number): Promise<boolean> {
  await lockWorkspace(tx, workspaceId)
  const [member] = await tx.query<Pick<Member, 'role'>>(
    'SELECT role FROM members WHERE workspace_id = $1 AND owner_id = $2',
    [workspaceId, id],
  )
  return member !== undefined && mayManage(member.role)
}

/** Locks the workspace, so that nobody invites or joins between the look and the change. */
async function findRefusal(tx: Queryable, workspaceId: number, id: number): Promise<MemberRefusal | null> {
  await lockWorkspace(tx, workspaceId)
  const [member] = await tx.query<Pick<Member, 'role'>>(
    'SELECT role FROM members WHERE workspace_id = $1 AND owner_id = $2 FOR UPDATE',
    [workspaceId, id],
  )
  if (member === undefined) return 'unknown'
  return member.role === 'owner' ? 'owner' : null
}

/** Links that the member has seen would go on to make members. */
async function withdrawInvitationsOf(tx: Queryable, workspaceId: number, id: number): Promise<number[]> {
  const withdrawn = await tx.query<{ id: number }>(
    'DELETE FROM invitations WHERE workspace_id = $1 AND invited_by = $2 RETURNING id',
    [workspaceId, id],
  )
  return withdrawn.map((invitation) => invitation.id)
}
