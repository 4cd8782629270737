/** Locks that are taken by a name until the end of a transaction: who dies lets them go at once. */
import { createHash } from 'node:crypto'
import type { Queryable } from './client.ts'

/** Waits for it. */
export async function takeNamedLock(tx: Queryable, name: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [numberOfLock(name)])
}

/** @returns false while another transaction has it */
export async function tryNamedLock(tx: Queryable, name: string): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [
    numberOfLock(name),
  ])
  return row!.locked
}

/** The first 64 bits of a hash: different names get different numbers. */
export function numberOfLock(name: string): string {
  return String(createHash('sha256').update(name).digest().readBigInt64BE())
}
