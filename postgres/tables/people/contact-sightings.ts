/** When each e-mail was first and last seen in a workspace, by a hash of it: what `new_contacts` is counted from. */
import { createHash } from 'node:crypto'
import { inPortions } from '../../../runtime/lists.ts'
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'

/** An e-mail in an identify or conversion event; trimmed and lower-cased, times in milliseconds since 1970 UTC. */
export interface Sighting {
  readonly workspace_id: number
  readonly email: string
  readonly occurred_at: number
}

interface Seen {
  readonly workspace_id: number
  readonly email_hash: string
  first: number
  last: number
}

const rowsPerStatement = 2_000

/** Widens what is known of each e-mail; a repeat changes nothing. */
export async function noteSightings(tx: Queryable, sightings: Iterable<Sighting>): Promise<void> {
  const seen = gather(sightings)
  for (const some of inPortions(seen, rowsPerStatement)) {
    await tx.query(
      `INSERT INTO contact_sightings AS known (workspace_id, email_hash, first_seen, last_seen)
       SELECT workspace_id, decode(email_hash, 'hex'), to_timestamp(first / 1000), to_timestamp(last / 1000)
       FROM jsonb_to_recordset($1::jsonb) AS row (workspace_id integer, email_hash text, first float8, last float8)
       ON CONFLICT (workspace_id, email_hash) DO UPDATE
       SET first_seen = least(known.first_seen, excluded.first_seen),
           last_seen = greatest(known.last_seen, excluded.last_seen)
       WHERE known.first_seen > excluded.first_seen OR known.last_seen < excluded.last_seen`,
      [JSON.stringify(some)],
    )
  }
}

/** The dropped rows of each e-mail, in an order in which nobody waits in a circle. */
export function inLockOrder(dropped: readonly Sighting[]): [Sighting, ...Sighting[]][] {
  const byHash = new Map<string, [Sighting, ...Sighting[]]>()
  for (const row of dropped) {
    const hash = hashOf(row.workspace_id, row.email)
    const same = byHash.get(hash)
    if (same === undefined) byHash.set(hash, [row])
    else same.push(row)
  }
  return [...byHash].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, rows]) => rows)
}

/** Forgets an e-mail that was seen in these dropped rows alone. Sightings by others stay. */
export async function forgetSighting(tx: Queryable, dropped: readonly [Sighting, ...Sighting[]]): Promise<void> {
  const [{ workspace_id, email }] = dropped
  const times = dropped.map(({ occurred_at }) => occurred_at)
  await tx.query(
    `DELETE FROM contact_sightings WHERE workspace_id = $1 AND email_hash = $2
       AND ${milliseconds('first_seen')} >= $3 AND ${milliseconds('last_seen')} <= $4`,
    [workspace_id, Buffer.from(hashOf(workspace_id, email), 'hex'), Math.min(...times), Math.max(...times)],
  )
}

/** Forgets an e-mail of which rows of the inbox were deleted, and notes when the rows that are left saw it. */
export async function noteSightingAnew(tx: Queryable, workspaceId: number, email: string): Promise<void> {
  await tx.query('DELETE FROM contact_sightings WHERE workspace_id = $1 AND email_hash = $2', [
    workspaceId,
    Buffer.from(hashOf(workspaceId, email), 'hex'),
  ])
  const left = await tx.query<Sighting>(
    `SELECT workspace_id, email, ${milliseconds('occurred_at')} AS occurred_at FROM inbox
     WHERE workspace_id = $1 AND email = $2 ORDER BY occurred_at`,
    [workspaceId, email],
  )
  await noteSightings(tx, [...left.slice(0, 1), ...left.slice(-1)])
}

/** One entry an e-mail, always in the same order: two nodes that wait for each other's rows would never end. */
function gather(sightings: Iterable<Sighting>): Seen[] {
  const seen = new Map<string, Seen>()
  for (const { workspace_id, email, occurred_at } of sightings) {
    const email_hash = hashOf(workspace_id, email)
    const known = seen.get(email_hash)
    if (known === undefined) {
      seen.set(email_hash, { workspace_id, email_hash, first: occurred_at, last: occurred_at })
    } else {
      known.first = Math.min(known.first, occurred_at)
      known.last = Math.max(known.last, occurred_at)
    }
  }
  return [...seen.values()].sort((a, b) => (a.email_hash < b.email_hash ? -1 : 1))
}

/** The table's `email_hash`, in hex. */
function hashOf(workspaceId: number, email: string): string {
  return createHash('sha256').update(`${workspaceId}:${email}`).digest('hex').slice(0, 32)
}

/** E-mails whose first identify or conversion lies in [`startMs`, `endMs`). */
export async function countNewContacts(
  q: Queryable,
  workspaceId: number,
  startMs: number,
  endMs: number,
): Promise<number> {
  const [row] = await q.query<{ count: number }>(
    `SELECT count(*) AS count FROM contact_sightings
     WHERE workspace_id = $1
       AND first_seen >= to_timestamp($2::float8 / 1000) AND first_seen < to_timestamp($3::float8 / 1000)`,
    [workspaceId, startMs, endMs],
  )
  return row!.count
}

/**
 * Forgets the e-mails of a workspace that were last seen before `beforeMs`: the inbox holds nothing of them either.
 * @returns how many, at most `limit`; call it again until it is fewer
 */
export async function deleteOldSightings(
  q: Queryable,
  workspaceId: number,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM contact_sightings WHERE (workspace_id, email_hash) IN (
       SELECT workspace_id, email_hash FROM contact_sightings
       WHERE workspace_id = $1 AND last_seen < to_timestamp($2::float8 / 1000) LIMIT $3)
       AND last_seen < to_timestamp($2::float8 / 1000)
     RETURNING 1`,
    [workspaceId, beforeMs, limit],
  )
  return deleted.length
}
