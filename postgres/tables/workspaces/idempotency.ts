/** Stored results of mutations with an Idempotency-Key: a retry gets the same answer. */
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { tryNamedLock } from '../../named-lock.ts'

export interface IdempotencyRecord {
  readonly fingerprint: Buffer
  readonly status: number
  /** Encrypted. */
  readonly body: Buffer
  /** Those beyond the operation's own that the caller had and the handler asked for: a repeat needs them, too. */
  readonly scopes: readonly string[]
}

/**
 * Takes the key for the rest of the transaction. Who dies lets it go at once.
 * @returns false while another transaction has it
 */
export function tryLockIdempotencyKey(tx: Queryable, workspaceId: number, key: string): Promise<boolean> {
  return tryNamedLock(tx, `idempotency ${workspaceId} ${key}`)
}

export async function findIdempotencyRecord(
  q: Queryable,
  workspaceId: number,
  key: string,
): Promise<IdempotencyRecord | null> {
  const [record] = await q.query<IdempotencyRecord>(
    'SELECT fingerprint, status, body, scopes FROM idempotency_records WHERE workspace_id = $1 AND key = $2 AND expires_at > now()',
    [workspaceId, key],
  )
  return record ?? null
}

/** Takes the place of one that has expired. */
export async function insertIdempotencyRecord(
  tx: Queryable,
  workspaceId: number,
  key: string,
  { fingerprint, status, body, scopes }: IdempotencyRecord,
  keptMs: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO idempotency_records (workspace_id, key, fingerprint, status, body, scopes, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + ${intervalOf('$7')})
     ON CONFLICT (workspace_id, key) DO UPDATE
       SET fingerprint = EXCLUDED.fingerprint, status = EXCLUDED.status, body = EXCLUDED.body,
           scopes = EXCLUDED.scopes, expires_at = EXCLUDED.expires_at`,
    [workspaceId, key, fingerprint, status, body, scopes, keptMs],
  )
}

/** Deletes up to `max` expired records. @returns how many */
export async function deleteExpiredIdempotencyRecords(q: Queryable, max: number): Promise<number> {
  const gone = await q.query(
    `DELETE FROM idempotency_records WHERE ctid IN (
       SELECT ctid FROM idempotency_records WHERE expires_at <= now() LIMIT $1
     ) RETURNING workspace_id`,
    [max],
  )
  return gone.length
}
