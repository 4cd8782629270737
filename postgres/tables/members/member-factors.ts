/**
 * Second factors of a workspace's members, which its owner may remove. Held by test/integration/member-factor.test.ts.
 */
import type { Queryable } from '../../client.ts'

export interface MemberFactor {
  readonly email: string
  /** The account is in a workspace of another owner, whom its second factor protects, too. */
  readonly isElsewhere: boolean
}

interface Asked {
  readonly workspaceId: number
  /** The workspace's. */
  readonly ownerId: number
  readonly memberId: number
}

/** Null where the workspace has no such member but its owner, or the member has no second factor. */
export async function findMemberFactor(
  q: Queryable,
  { workspaceId, ownerId, memberId }: Asked,
): Promise<MemberFactor | null> {
  const [found] = await q.query<MemberFactor>(
    `SELECT o.email, EXISTS (SELECT FROM members e JOIN workspaces w ON w.id = e.workspace_id
       WHERE e.owner_id = o.id AND w.owner_id <> $2) AS "isElsewhere"
     FROM members m JOIN owners o ON o.id = m.owner_id
     JOIN second_factors f ON f.owner_id = o.id AND f.enabled_at IS NOT NULL
     WHERE m.workspace_id = $1 AND m.owner_id = $3 AND m.role <> 'owner'`,
    [workspaceId, ownerId, memberId],
  )
  return found ?? null
}

/** The same, until the end of the transaction: the account joins no other workspace meanwhile. */
export async function lockMemberFactor(tx: Queryable, asked: Asked): Promise<MemberFactor | null> {
  await tx.query('SELECT 1 FROM owners WHERE id = $1 FOR UPDATE', [asked.memberId])
  return findMemberFactor(tx, asked)
}
