/**
 * Credentials for publishing to accounts. Sealed by who writes it, opened by who publishes; no list and no answer shows
 * it.
 */
import type { Queryable } from '../client.ts'

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

/** Those of a new connection, in place of whatever there was. */
export async function putCredentials(tx: Queryable, accountId: number, sealed: Buffer): Promise<void> {
  await tx.query(
    `INSERT INTO social_account_credentials (social_account_id, sealed) VALUES ($1, $2)
     ON CONFLICT (social_account_id) DO UPDATE SET sealed = $2, updated_at = clock_timestamp(),
       version = social_account_credentials.version + 1`,
    [accountId, sealed],
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
    `UPDATE social_account_credentials SET sealed = $3, version = version + 1, updated_at = clock_timestamp()
     WHERE social_account_id = $1 AND version = $2 RETURNING version`,
    [accountId, version, sealed],
  )
  return renewed.length > 0
}

export async function deleteCredentials(tx: Queryable, accountId: number): Promise<void> {
  await tx.query('DELETE FROM social_account_credentials WHERE social_account_id = $1', [accountId])
}
