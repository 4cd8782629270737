/**
 * Segment numbers, leased in blocks: lease n holds the numbers [n × size, (n + 1) × size). The sequence only ever moves
 * forward, also when it is raised, so that two nodes can't be given the same block. Every caller of one installation
 * uses the same size; number 0 belongs to no lease.
 *
 * A restore sets the sequence back. A lease that is known from its row or from ids is never given again. A node may hold
 * a lease that nobody else knows of: taken after the backup, and without a stored event. So the sequence goes
 * `leasesSkippedByRestore` further than the last lease that is known. See docs/operations.md, "After a restore".
 */
import {
  leasesSkippedByRestore,
  segmentLeaseSize,
  segmentNumberMax,
  segmentRowsMax,
} from '../../../schemas/limits/log-limits.ts'
import type { Postgres, Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { columnsOf } from '../../columns-of.ts'
import { isTooFarAhead } from '../../leasing.ts'
import { takeNamedLock } from '../../named-lock.ts'

/** For short a mark. Every event of the lease with an id up to `throughId` is in ClickHouse or never will be. */
export interface LeaseWatermark {
  /** First segment of the lease. */
  readonly firstSegment: number
  readonly throughId: number
}

type LeasingPostgres = Pick<Postgres, 'query' | 'transaction'>

/** Holder of a lease: a node of ingest, an import, or a command that makes events up. */
export type LeaseHolder = 'node' | 'import' | 'seed'

/**
 * Takes the next lease that nobody has; its numbers are [answer, answer + size). Nothing of it counts as shipped yet. It is
 * complete as of now: a first lease has no event yet, and for the events of a node's other leases those speak.
 */
export async function leaseSegments(pg: LeasingPostgres, size: number, holder: LeaseHolder = 'node'): Promise<number> {
  for (;;) {
    await raiseLeases(pg, 0, size)
    const [row] = await pg.query<{ first: number | null; is_ours: boolean }>(
      `WITH taken AS (SELECT nextval('segment_leases') * $1::bigint AS first),
       noted AS (
         INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through, complete_at, is_import, is_seed)
         SELECT first, first + $1, first * $2::bigint - 1, now(), $4, $5 FROM taken WHERE first + $1 - 1 <= $3
         ON CONFLICT (first_segment) DO NOTHING RETURNING first_segment)
       SELECT CASE WHEN first + $1 - 1 <= $3 THEN first END AS first, EXISTS (SELECT FROM noted) AS is_ours FROM taken`,
      [size, segmentRowsMax, segmentNumberMax, holder === 'import', holder === 'seed'],
    )
    if (row!.first === null) throw new Error('segment numbers have run out')
    // Else a node has published a mark of this lease: it took the lease before a restore.
    if (row!.is_ours) return row!.first
  }
}

/**
 * Publishes the marks of all leases that a node holds, also unchanged ones: a node that isn't heard of for a while counts
 * as dead. Neither marks nor `complete_at` ever go back.
 *
 * @param completeForMs for how long all events that the node has answered have been up to these marks; null: not known.
 *   It is asked once Postgres has read its clock: what a connection takes to be had can't make `complete_at` too late.
 */
export async function advanceMarks(
  pg: Postgres,
  marks: readonly LeaseWatermark[],
  completeForMs: () => number | null,
): Promise<void> {
  // now() is the time at which the transaction began.
  await pg.transaction((tx) => upsertMarks(tx, marks, completeForMs()))
}

/** The same of one lease whose events are of nobody who waits for an answer: an import. */
export async function advanceMark(q: Queryable, firstSegment: number, throughId: number): Promise<void> {
  await upsertMarks(q, [{ firstSegment, throughId }], 0)
}

async function upsertMarks(
  q: Queryable,
  marks: readonly LeaseWatermark[],
  completeForMs: number | null,
): Promise<void> {
  // A Postgres restored from a backup has forgotten the leases since.
  await q.query(
    `INSERT INTO segment_leases_taken AS lease (first_segment, end_segment, shipped_through, complete_at)
     SELECT first, first + $3::bigint, through,
       coalesce(now() - ${intervalOf('$4')}, '-infinity')
     FROM unnest($1::bigint[], $2::bigint[]) AS mark (first, through)
     ON CONFLICT (first_segment) DO UPDATE SET
       shipped_through = greatest(lease.shipped_through, excluded.shipped_through),
       complete_at = greatest(CASE WHEN NOT ${isTooFarAhead('lease.complete_at', 'now()', 0)} THEN lease.complete_at END, excluded.complete_at),
       updated_at = now()`,
    [...columnsOf(marks, 'firstSegment', 'throughId'), segmentLeaseSize, completeForMs],
  )
}

/** Rows with these ids are stored. Where an import brought them that died before it could say so, its mark moves on to them. */
export async function advanceImportMarks(q: Queryable, ids: readonly number[]): Promise<void> {
  // Not `updated_at`: nobody is heard of.
  await q.query(
    `UPDATE segment_leases_taken AS lease SET shipped_through = stored.through
     FROM (SELECT max(id) AS through FROM unnest($1::bigint[]) AS id GROUP BY id / ($2::bigint * $3::bigint)) AS stored
     WHERE lease.is_import AND stored.through > lease.shipped_through
       AND stored.through / $2::bigint >= lease.first_segment AND stored.through / $2::bigint < lease.end_segment`,
    [ids, segmentRowsMax, segmentLeaseSize],
  )
}

/**
 * Rows with these ids are stored, the largest of their leases. Where nobody has published the lease's mark since `since`,
 * the mark moves on to them. A lease that has no row gets one.
 *
 * @param since milliseconds since 1970, by the clock of Postgres
 * @returns first segments of the leases whose marks were moved
 */
export async function raiseDeadMarks(q: Queryable, ids: readonly number[], since: number): Promise<number[]> {
  // Not `updated_at`: nobody is heard of.
  const raised = await q.query<{ first_segment: number }>(
    `INSERT INTO segment_leases_taken AS lease (first_segment, end_segment, shipped_through, updated_at)
     SELECT nth * $3::bigint, (nth + 1) * $3::bigint, through, 'epoch'
     FROM (SELECT id / ($2::bigint * $3::bigint) AS nth, max(id) AS through FROM unnest($1::bigint[]) AS id GROUP BY 1) AS stored
     ON CONFLICT (first_segment) DO UPDATE SET shipped_through = excluded.shipped_through
     WHERE lease.shipped_through < excluded.shipped_through
       AND (lease.updated_at < to_timestamp($4::double precision / 1000) OR ${isTooFarAhead('lease.updated_at', 'now()', 0)})
     RETURNING first_segment`,
    [ids, segmentRowsMax, segmentLeaseSize, since],
  )
  return raised.map(({ first_segment }) => first_segment)
}

/**
 * Makes sure that every later lease begins above `aboveNumber`, and above all leases that have a row. A sequence that
 * stands below them was restored from a backup.
 */
export async function raiseLeases(pg: LeasingPostgres, aboveNumber: number, size: number): Promise<void> {
  await raise(pg, aboveNumber, { size, isRestored: false })
}

/** The same of a Postgres that was restored, whatever its sequence says. A second call without a lease in between changes nothing. */
export async function raiseRestoredLeases(pg: LeasingPostgres, aboveNumber: number, size: number): Promise<void> {
  await raise(pg, aboveNumber, { size, isRestored: true })
}

async function raise(
  pg: LeasingPostgres,
  aboveNumber: number,
  { size, isRestored }: { readonly size: number; readonly isRestored: boolean },
): Promise<void> {
  await pg.transaction(async (tx) => {
    // Two that raise at once would go twice as far.
    await takeNamedLock(tx, 'segment leases')
    // Stepping with nextval and not setval: setval could take back what another node got a moment ago.
    await tx.query(
      `WITH known AS (
         SELECT greatest($1::bigint / $2::bigint, max(end_segment) / $2::bigint - 1) AS lease FROM segment_leases_taken),
       given AS (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS lease FROM segment_leases)
       SELECT count(nextval('segment_leases'))
       FROM known, given, generate_series(given.lease + 1, known.lease + $3::bigint)
       WHERE $4 OR given.lease < known.lease`,
      [aboveNumber, size, leasesSkippedByRestore, isRestored],
    )
  })
}
