/** One random salt a UTC day. Once it is deleted, nothing can rebuild the hashes that were made with it. */
import type { Queryable } from '../../client.ts'

/**
 * The salt of `day` (`YYYY-MM-DD`, UTC): the one that is there, else `newSalt`, which then is it for every node.
 * Safe to call from many nodes at once.
 */
export async function readOrMakeSalt(q: Queryable, day: string, newSalt: Buffer): Promise<Buffer> {
  const read = async () =>
    (await q.query<{ salt: Buffer }>('SELECT salt FROM visitor_salts WHERE day = $1::date', [day]))[0]?.salt
  const known = await read()
  if (known !== undefined) return known
  await q.query('INSERT INTO visitor_salts (day, salt) VALUES ($1::date, $2) ON CONFLICT (day) DO NOTHING', [
    day,
    newSalt,
  ])
  return (await read())!
}

/**
 * Deletes the salts of days that began more than `keepMs` before `nowMs`.
 * @returns how many
 */
export async function deleteOldSalts(q: Queryable, nowMs: number, keepMs: number): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM visitor_salts WHERE day::timestamp AT TIME ZONE 'UTC' < to_timestamp($1::float8 / 1000) RETURNING day`,
    [nowMs - keepMs],
  )
  return deleted.length
}
