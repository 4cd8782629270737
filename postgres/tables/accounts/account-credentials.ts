/**
 * Credentials for publishing to accounts. Whoever writes them seals them, and whoever publishes opens them. No list and no
 * answer shows them.
 */
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'

export interface SealedCredentials {
  readonly sealed: Buffer
  readonly version: number
}

export async function readCredentials(q: Queryable, accountId: number): Promise<SealedCredentials | null> {
  const [row] = await q.query<SealedCredentials>(
    'SELECT sealed, version FROM social_account_credentials WHERE social_account_id = $1',
    [accountId],
  )
  return row ?? null
}

/** Locks the account, as who connects it does, so that nobody changes them meanwhile. @returns their version, where there are some */
export async function lockCredentials(tx: Queryable, accountId: number): Promise<number | null> {
  await tx.query('SELECT 1 FROM social_accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId])
  return (await readCredentials(tx, accountId))?.version ?? null
}

/**
 * Those of a new connection, in place of whatever there was. Versions begin at random: a renewal that began before a disconnection
 * has none of a later connection.
 */
export async function putCredentials(tx: Queryable, accountId: number, sealed: Buffer): Promise<void> {
  await tx.query(
    `INSERT INTO social_account_credentials (social_account_id, sealed, version) VALUES ($1, $2, (random() * 1e9)::int)
     ON CONFLICT (social_account_id) DO UPDATE SET sealed = $2, updated_at = clock_timestamp(),
       renewing_until = NULL, version = social_account_credentials.version + 1`,
    [accountId, sealed],
  )
}

/**
 * Leases the renewal of these credentials to one of all processes.
 * @returns when the lease ends, by which `endRenewal` knows it; null while another has it, or where they were changed
 */
export async function leaseRenewal(
  q: Queryable,
  accountId: number,
  version: number,
  leaseMs: number,
): Promise<Date | null> {
  const [leased] = await q.query<{ until: Date }>(
    `UPDATE social_account_credentials
     SET renewing_until = date_trunc('milliseconds', clock_timestamp() + ${intervalOf('$3')})
     WHERE social_account_id = $1 AND version = $2 AND coalesce(renewing_until <= clock_timestamp(), true)
     RETURNING renewing_until AS until`,
    [accountId, version, leaseMs],
  )
  return leased?.until ?? null
}

/** Lets the next one try at once. Does nothing where the lease has ended. */
export async function endRenewal(q: Queryable, accountId: number, until: Date): Promise<void> {
  await q.query(
    'UPDATE social_account_credentials SET renewing_until = NULL WHERE social_account_id = $1 AND renewing_until = $2',
    [accountId, until],
  )
}

/** @returns false where somebody else changed them since `version` was read */
export async function renewCredentials(
  q: Queryable,
  accountId: number,
  version: number,
  sealed: Buffer,
): Promise<boolean> {
  const renewed = await q.query(
    `UPDATE social_account_credentials SET sealed = $3, version = version + 1, renewing_until = NULL, updated_at = clock_timestamp()
     WHERE social_account_id = $1 AND version = $2 RETURNING version`,
    [accountId, version, sealed],
  )
  return renewed.length > 0
}

export async function deleteCredentials(tx: Queryable, accountId: number): Promise<void> {
  await tx.query('DELETE FROM social_account_credentials WHERE social_account_id = $1', [accountId])
}
