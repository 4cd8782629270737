/** Accounts on social platforms. One that is disconnected stays: posts were published to it. */
import { publishLeaseMs } from '../../../schemas/limits/publish-limits.ts'
import type { Platform } from '../../../schemas/reference/providers.ts'
import type { AccountStatus, ConnectionType, HealthStatus } from '../../../schemas/resources/social-account.ts'
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'

export interface SocialAccount {
  readonly id: number
  readonly platform: Platform
  readonly handle: string
  readonly display_name: string
  readonly status: AccountStatus
  readonly external_id: string | null
  readonly connection_type: ConnectionType
  readonly health_status: HealthStatus
  readonly health_message: string
  readonly provider_metadata: Record<string, unknown>
}

const columns = `id, platform, handle, display_name, status, external_id, connection_type, health_status, health_message,
  provider_metadata`

/** All of the workspace, newest first: `connectSocialAccount` bounds them. */
export function listSocialAccounts(q: Queryable, workspaceId: number): Promise<SocialAccount[]> {
  return q.query<SocialAccount>(`SELECT ${columns} FROM social_accounts WHERE workspace_id = $1 ORDER BY id DESC`, [
    workspaceId,
  ])
}

/** The same with when the platform last said whether it takes their credentials. */
export function listCheckedAccounts(
  q: Queryable,
  workspaceId: number,
): Promise<(SocialAccount & { readonly checked_at: Date | null })[]> {
  return q.query(`SELECT ${columns}, checked_at FROM social_accounts WHERE workspace_id = $1 ORDER BY id DESC`, [
    workspaceId,
  ])
}

/** Those of `ids` that there are, in no order. */
export function readSocialAccounts(
  q: Queryable,
  workspaceId: number,
  ids: readonly number[],
): Promise<SocialAccount[]> {
  return q.query<SocialAccount>(
    `SELECT ${columns} FROM social_accounts WHERE workspace_id = $1 AND id = ANY($2::bigint[])`,
    [workspaceId, ids],
  )
}

export interface ConnectedAccount {
  readonly workspaceId: number
  readonly platform: Platform
  readonly handle: string
  /** Stays what it was, or is the handle, when left out. */
  readonly displayName: string | undefined
  readonly connectionType: ConnectionType
  /** The platform's data about it. */
  readonly externalId: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

/**
 * Locks the account that is to be connected until the end of the transaction, where there is one. It is found by the
 * platform's own id, as people change handles. On Mastodon such an id is one of an instance.
 */
export async function lockSocialAccount(
  tx: Queryable,
  { workspaceId, platform, handle, externalId, metadata }: ConnectedAccount,
): Promise<SocialAccount | null> {
  const [account] = await tx.query<SocialAccount>(
    `SELECT ${columns} FROM social_accounts a, LATERAL (
       SELECT coalesce(external_id = $4 AND (platform <> 'mastodon' OR provider_metadata->>'url' = $5), false) AS is_same
     ) known
     WHERE workspace_id = $1 AND platform = $2 AND (is_same OR handle = $3)
     ORDER BY is_same DESC, handle = $3 DESC, id LIMIT 1 FOR UPDATE OF a`,
    [workspaceId, platform, handle, externalId, metadata['url'] ?? null],
  )
  return account ?? null
}

/** Gives the account another handle, unless another account is known by that. @returns the handle that it has now */
export async function renameSocialAccount(tx: Queryable, { id, handle }: SocialAccount, to: string): Promise<string> {
  const [renamed] = await tx.query<{ handle: string }>(
    `UPDATE social_accounts a SET handle = $2, display_name = CASE display_name WHEN handle THEN $2 ELSE display_name END
     WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM social_accounts o
       WHERE o.workspace_id = a.workspace_id AND o.platform = a.platform AND o.handle = $2 AND o.id <> a.id)
     RETURNING handle`,
    [id, to],
  )
  return renamed?.handle ?? handle
}

/** Makes the account, or renews the connection of the one that there is. */
export async function connectSocialAccount(tx: Queryable, connected: ConnectedAccount): Promise<SocialAccount> {
  const { workspaceId, platform, handle, displayName, connectionType, externalId, metadata } = connected
  const [account] = await tx.query<SocialAccount>(
    `INSERT INTO social_accounts
       (workspace_id, platform, handle, display_name, connection_type, external_id, provider_metadata, checked_at)
     VALUES ($1, $2, $3, coalesce($4, $3), $5, $6, $7, clock_timestamp())
     ON CONFLICT (workspace_id, platform, handle) DO UPDATE SET
       display_name = coalesce($4, social_accounts.display_name), connection_type = $5, external_id = $6,
       provider_metadata = $7, status = 'connected', health_status = 'ok', health_message = '',
       held_until = NULL, engagement_held_until = NULL, updated_at = clock_timestamp(), checked_at = clock_timestamp()
     RETURNING ${columns}`,
    [workspaceId, platform, handle, displayName ?? null, connectionType, externalId, JSON.stringify(metadata)],
  )
  return account!
}

/**
 * Targets that a limit delays are tried now: it was that of the credentials before. A target that was given back in the middle of a
 * request is left alone. It waits for less than the lease of its claim.
 */
export async function endLimits(tx: Queryable, accountId: number): Promise<void> {
  await tx.query(
    `UPDATE post_targets SET next_attempt_at = clock_timestamp() WHERE id IN (
       SELECT id FROM post_targets WHERE social_account_id = $1 AND status = 'publishing' AND claimed_by IS NULL
         AND publish_result->'error'->>'code' = 'rate_limited' AND next_attempt_at > clock_timestamp() + ${intervalOf('$2')}
       FOR UPDATE SKIP LOCKED)`,
    [accountId, publishLeaseMs],
  )
}

export interface AccountHealth {
  readonly status: HealthStatus
  readonly message: string
  /** The platform takes its credentials no more. */
  readonly isExpired?: boolean
}

/**
 * The message is always the newest. The lock lets others name the account meanwhile: each outcome does so before it asks for it.
 * @returns the account where its status was another one; null else, or where it is disconnected
 */
export async function setAccountHealth(
  tx: Queryable,
  id: number,
  { status, message, isExpired = false }: AccountHealth,
): Promise<SocialAccount | null> {
  const [row] = await tx.query<SocialAccount & { is_other: boolean }>(
    `WITH before AS (
       SELECT health_status AS was, health_message AS said FROM social_accounts WHERE id = $1 AND status = 'connected' FOR NO KEY UPDATE)
     UPDATE social_accounts SET health_status = $2, health_message = $3, checked_at = clock_timestamp(),
       updated_at = CASE WHEN was <> $2 OR said <> $3 OR $4 THEN clock_timestamp() ELSE updated_at END,
       status = CASE WHEN $4 THEN 'expired' ELSE status END
     FROM before WHERE id = $1
     RETURNING ${columns}, was <> $2 OR $4 AS is_other`,
    [id, status, message, isExpired],
  )
  if (!row?.is_other) return null
  const { is_other: _, ...account } = row
  return account
}

export async function countSocialAccounts(q: Queryable, workspaceId: number): Promise<number> {
  const [row] = await q.query<{ count: number }>('SELECT count(*) FROM social_accounts WHERE workspace_id = $1', [
    workspaceId,
  ])
  return row!.count
}

/**
 * @param ofWorkspace undefined: of any
 * @returns null when there is no such account; `isNew` is false where it was disconnected before
 */
export async function disconnectSocialAccount(
  tx: Queryable,
  id: number,
  ofWorkspace?: number,
): Promise<{ account: SocialAccount; workspaceId: number; isNew: boolean } | null> {
  const [before] = await tx.query<{ workspace_id: number; status: string }>(
    'SELECT workspace_id, status FROM social_accounts WHERE id = $1 AND workspace_id = coalesce($2, workspace_id) FOR UPDATE',
    [id, ofWorkspace ?? null],
  )
  if (before === undefined) return null
  const [account] = await tx.query<SocialAccount>(
    `UPDATE social_accounts SET status = 'disconnected', updated_at = clock_timestamp() WHERE id = $1
     RETURNING ${columns}`,
    [id],
  )
  return { account: account!, workspaceId: before.workspace_id, isNew: before.status !== 'disconnected' }
}
