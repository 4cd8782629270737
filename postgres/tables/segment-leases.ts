/**
 * Segment numbers, leased in blocks: lease n holds the numbers [n × size, (n + 1) × size). The sequence only ever moves
 * forward, also when it is raised, so that two nodes can't be given the same block. Every caller of one installation
 * uses the same size; number 0 belongs to no lease.
 */
import { segmentNumberMax } from '../../schemas/limits.ts'
import type { Queryable } from '../client.ts'

/** Takes the next lease; its numbers are [answer, answer + size). */
export async function leaseSegments(q: Queryable, size: number): Promise<number> {
  const [row] = await q.query<{ lease: number }>(`SELECT nextval('segment_leases') AS lease`)
  const first = row!.lease * size
  if (first + size - 1 > segmentNumberMax) throw new Error('segment numbers have run out')
  return first
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
