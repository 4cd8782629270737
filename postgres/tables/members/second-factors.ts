/**
 * Second factors of accounts and their recovery codes. Secrets are sealed by the caller, of a code only its SHA-256 is stored.
 * Held by test/integration/second-factor.test.ts.
 */
import { factorSetUpMs } from '../../../schemas/limits/second-factor-limits.ts'
import type { Queryable } from '../../client.ts'
import { passwordHolders, startOrder } from './owner-passwords.ts'

export interface SecondFactor {
  readonly sealed: Buffer
  /** Null: it is being set up. */
  readonly enabledAt: Date | null
  readonly recoveryCodesLeft: number
}

/** Null where there is none; one that was being set up for too long is none. @param now milliseconds since 1970 */
export async function findSecondFactor(q: Queryable, ownerId: number, now: number): Promise<SecondFactor | null> {
  const [row] = await q.query<SecondFactor>(
    `SELECT sealed, enabled_at AS "enabledAt",
       (SELECT count(*)::int FROM recovery_codes WHERE owner_id = f.owner_id) AS "recoveryCodesLeft"
     FROM second_factors f WHERE owner_id = $1 AND (enabled_at IS NOT NULL OR created_at > $2)`,
    [ownerId, new Date(now - factorSetUpMs)],
  )
  return row ?? null
}

/** Whether signing in asks for a code. */
export async function isSecondFactorOn(q: Queryable, ownerId: number): Promise<boolean> {
  const rows = await q.query('SELECT 1 FROM second_factors WHERE owner_id = $1 AND enabled_at IS NOT NULL', [ownerId])
  return rows.length > 0
}

/** Another secret takes the place of one that is being set up; one that is on stays. */
export async function beginSecondFactor(q: Queryable, ownerId: number, sealed: Buffer, now: number): Promise<void> {
  await q.query('DELETE FROM second_factors WHERE enabled_at IS NULL AND created_at <= $1', [
    new Date(now - factorSetUpMs),
  ])
  await q.query(
    `INSERT INTO second_factors AS f (owner_id, sealed, created_at) VALUES ($1, $2, $3)
     ON CONFLICT (owner_id) DO UPDATE SET sealed = excluded.sealed, created_at = excluded.created_at
     WHERE f.enabled_at IS NULL`,
    [ownerId, sealed, new Date(now)],
  )
}

export interface TurnedOn {
  readonly ownerId: number
  /** The session that goes on. All others of the account end, as they began without a code. */
  readonly sessionId: number
  /** The secret whose code was right. */
  readonly sealed: Buffer
  readonly step: number
  readonly codeHashes: readonly Buffer[]
  readonly now: number
}

/** Run it in a transaction. @returns false where it is on already, or another secret took its place */
export async function turnOnSecondFactor(tx: Queryable, on: TurnedOn): Promise<boolean> {
  // Waits for sign-ins that are under way: their sessions end below.
  await tx.query('SELECT 1 FROM owners WHERE id = $1 FOR UPDATE', [on.ownerId])
  const turned = await tx.query(
    `UPDATE second_factors SET enabled_at = $3, last_step = $4
     WHERE owner_id = $1 AND sealed = $2 AND enabled_at IS NULL RETURNING 1`,
    [on.ownerId, on.sealed, new Date(on.now), on.step],
  )
  if (turned.length === 0) return false
  await replaceRecoveryCodes(tx, on.ownerId, on.codeHashes)
  await tx.query('DELETE FROM browser_sessions WHERE owner_id = $1 AND id <> $2', [on.ownerId, on.sessionId])
  await tx.query('DELETE FROM sign_in_links WHERE owner_id = $1', [on.ownerId])
  return true
}

/** Those of before end. Run it in a transaction. */
export async function replaceRecoveryCodes(
  tx: Queryable,
  ownerId: number,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE owner_id = $1', [ownerId])
  await tx.query('INSERT INTO recovery_codes (owner_id, hash) SELECT $1, unnest($2::bytea[])', [ownerId, codeHashes])
}

/** @returns false where it isn't on, or a code of the step or of a later one was used before */
export async function useStep(q: Queryable, ownerId: number, step: number): Promise<boolean> {
  const used = await q.query(
    `UPDATE second_factors SET last_step = $2 WHERE owner_id = $1 AND last_step < $2 AND enabled_at IS NOT NULL
     RETURNING 1`,
    [ownerId, step],
  )
  return used.length > 0
}

/** Uses a recovery code up. Run it in a transaction. @returns how many are left; null where it is none, or was used before */
export async function useRecoveryCode(tx: Queryable, ownerId: number, hash: Buffer): Promise<number | null> {
  // Two that are used at once are counted one after the other.
  await tx.query('SELECT 1 FROM second_factors WHERE owner_id = $1 FOR NO KEY UPDATE', [ownerId])
  const [used] = await tx.query<{ left: number }>(
    `WITH used AS (DELETE FROM recovery_codes WHERE owner_id = $1 AND hash = $2 RETURNING 1)
     SELECT (SELECT count(*)::int FROM recovery_codes WHERE owner_id = $1) - 1 AS left FROM used`,
    [ownerId, hash],
  )
  return used?.left ?? null
}

/** @returns false where it wasn't on */
export async function turnOffSecondFactor(q: Queryable, ownerId: number): Promise<boolean> {
  const gone = await q.query<{ was_on: boolean }>(
    'DELETE FROM second_factors WHERE owner_id = $1 RETURNING enabled_at IS NOT NULL AS was_on',
    [ownerId],
  )
  return gone[0]?.was_on ?? false
}

/** Whose it is, with the workspace that a sign-in begins in; null where nobody has one by this e-mail. @param email in lower case */
export async function findFactorHolder(
  q: Queryable,
  email: string,
): Promise<{ readonly ownerId: number; readonly workspaceId: number } | null> {
  const [holder] = await q.query<{ ownerId: number; workspaceId: number }>(
    `SELECT o.id AS "ownerId", w.id AS "workspaceId" FROM ${passwordHolders}
     JOIN second_factors f ON f.owner_id = o.id AND f.enabled_at IS NOT NULL WHERE o.email = $1 ${startOrder}`,
    [email],
  )
  return holder ?? null
}
