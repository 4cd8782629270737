/**
 * Segment numbers, leased in blocks: lease n holds the numbers [n × size, (n + 1) × size). The sequence only ever moves
 * forward, also when it is raised, so that two nodes can't be given the same block. Every caller of one installation
 * uses the same size; number 0 belongs to no lease.
 */
import { segmentLeaseSize, segmentNumberMax, segmentRowsMax } from '../../schemas/limits.ts'
import type { Queryable } from '../client.ts'

/** Takes the next lease; its numbers are [answer, answer + size). Nothing of it counts as shipped yet. */
export async function leaseSegments(q: Queryable, size: number): Promise<number> {
  const [row] = await q.query<{ first: number | null }>(
    `WITH taken AS (SELECT nextval('segment_leases') * $1::bigint AS first),
     noted AS (INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through)
       SELECT first, first + $1, first * $2::bigint - 1 FROM taken WHERE first + $1 - 1 <= $3
       ON CONFLICT (first_segment) DO NOTHING)
     SELECT CASE WHEN first + $1 - 1 <= $3 THEN first END AS first FROM taken`,
    [size, segmentRowsMax, segmentNumberMax],
  )
  if (row!.first === null) throw new Error('segment numbers have run out')
  return row!.first
}

/**
 * Says that every event of the lease with an id up to `throughId` is in ClickHouse or never will be. Never goes back.
 * @param firstSegment of the lease
 */
export async function advanceMark(q: Queryable, firstSegment: number, throughId: number): Promise<void> {
  // A Postgres restored from a backup has forgotten the leases since.
  await q.query(
    `INSERT INTO segment_leases_taken AS lease (first_segment, end_segment, shipped_through)
     VALUES ($1::bigint, $1::bigint + $3::bigint, $2::bigint)
     ON CONFLICT (first_segment) DO UPDATE SET shipped_through = $2::bigint, updated_at = now()
       WHERE lease.shipped_through < $2::bigint`,
    [firstSegment, throughId, segmentLeaseSize],
  )
}

/** Makes sure that every later lease begins above `aboveNumber`: after a restore, ClickHouse may hold numbers that Postgres forgot. */
export async function raiseLeases(q: Queryable, aboveNumber: number, size: number): Promise<void> {
  const used = Math.floor(aboveNumber / size)
  // Stepping with nextval and not setval: setval could take back what another node got a moment ago.
  await q.query(
    `SELECT count(nextval('segment_leases')) FROM segment_leases,
       generate_series(1, $1::bigint - CASE WHEN is_called THEN last_value ELSE last_value - 1 END)`,
    [used],
  )
}
