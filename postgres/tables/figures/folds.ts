/**
 * State of the fold, which derives rows in ClickHouse from events: its watermarks and its lease. A fold commits only if
 * no later version was taken since it began, so only one of two writers can commit.
 */
import { type IdRange, uniteRanges } from '../../../schemas/event/id-ranges.ts'
import { foldLeaseMs, leaseSilentMs, repairsPerFoldMax } from '../../../schemas/limits/figure-limits.ts'
import { segmentRowsMax } from '../../../schemas/limits/log-limits.ts'
import type { Postgres, Queryable } from '../../client.ts'
import { intervalOf, milliseconds } from '../../clock.ts'
import { columnsOf } from '../../columns-of.ts'
import { isPast, isTooFarAhead } from '../../leasing.ts'

/** A watermark of one lease of segment numbers: the event id up to which its events are folded, or shipped. */
export interface Watermark {
  readonly firstSegment: number
  readonly endSegment: number
  readonly through: number
}

/** An hour (UTC, since 1970) of a workspace whose events were changed behind the lease watermarks. */
export interface EventRepair {
  readonly id: number
  readonly workspaceId: number
  readonly hour: number
  /** Only its events: its conversions are credited otherwise. Decimal text, '0' for server events; null: all. */
  readonly visitor: string | null
  /** Its derived rows were deleted, so the fold can't keep old ones. */
  readonly lacksRows: boolean
}

export interface FoldState {
  /** Version of the last fold that is written. */
  readonly version: number
  /** Every event answered 202 before this is folded; milliseconds since 1970, by the clock of Postgres, as `shippedAsOf`. */
  readonly asOf: number
  readonly folded: readonly Watermark[]
  readonly shipped: readonly Watermark[]
  /** Every event answered 202 before this has an id up to `shipped`. */
  readonly shippedAsOf: number
  readonly repairs: readonly EventRepair[]
}

const watermarksOf = (table: string, through: string) =>
  `(SELECT coalesce(json_agg(json_build_object('firstSegment', first_segment, 'endSegment', end_segment, 'through', ${through})
      ORDER BY first_segment), '[]') FROM ${table})`

/** A time in the future was set by a fast clock, and counts as 0. */
const foldedAsOf = `CASE WHEN ${isTooFarAhead('as_of', 'now()', 0)} THEN 0 ELSE greatest(0, ${milliseconds("greatest(as_of, 'epoch')")}) END`

/** One statement, so that it is of one moment. A node that has been silent for a while doesn't hold `shippedAsOf` back. */
export async function readFoldState(q: Queryable): Promise<FoldState> {
  const [row] = await q.query<FoldState>(
    `SELECT version, ${foldedAsOf} AS "asOf",
       ${watermarksOf('fold_marks', 'through')} AS folded,
       ${watermarksOf('segment_leases_taken', 'shipped_through')} AS shipped,
       ${milliseconds(`(SELECT coalesce(min(greatest(complete_at, 'epoch')), now()) FROM segment_leases_taken
          WHERE updated_at > now() - ${intervalOf('$2')} AND NOT ${isTooFarAhead('updated_at', 'now()', 0)}
            AND shipped_through < end_segment * $3::bigint - 1)`)} AS "shippedAsOf",
       (SELECT coalesce(json_agg(json_build_object('id', id, 'workspaceId', workspace_id, 'hour', hour, 'visitor', visitor::text, 'lacksRows', lacks_rows)), '[]')
        FROM (SELECT * FROM event_repairs ORDER BY id LIMIT $1) AS oldest) AS repairs
     FROM fold_state`,
    [repairsPerFoldMax, leaseSilentMs, segmentRowsMax],
  )
  return row!
}

/** As of when the last fold is, and its version. */
export async function readFoldedAsOf(q: Queryable): Promise<Pick<FoldState, 'version' | 'asOf'>> {
  const [row] = await q.query<Pick<FoldState, 'version' | 'asOf'>>(
    `SELECT version, ${foldedAsOf} AS "asOf" FROM fold_state`,
  )
  return row!
}

/**
 * When a node of ingest was last heard of that had events which weren't shipped for this long; milliseconds since 1970, 0
 * without one. If it died, its events of until then aren't in figures, though `asOf` goes on.
 */
export async function readLastBacklog(q: Queryable, lagMs: number): Promise<number> {
  const [row] = await q.query<{ at: number }>(
    `SELECT coalesce(${milliseconds('max(updated_at)')}, 0) AS at FROM segment_leases_taken
     WHERE shipped_through < end_segment * $1::bigint - 1 AND updated_at > 'epoch'
       AND complete_at < updated_at - ${intervalOf('$2')}`,
    [segmentRowsMax, lagMs],
  )
  return row!.at
}

export interface FoldProgress {
  readonly version: number
  /** Since when shipped events wait for a fold, about; 0 where none do. */
  readonly lagMs: number
}

export async function readFoldProgress(q: Queryable): Promise<FoldProgress> {
  const [row] = await q.query<FoldProgress>(
    `SELECT version, CASE WHEN EXISTS (SELECT FROM event_repairs) OR EXISTS (
         SELECT FROM segment_leases_taken LEFT JOIN fold_marks USING (first_segment)
         WHERE shipped_through > coalesce(through, first_segment * $1::bigint - 1))
       THEN ${milliseconds('now()')} - ${milliseconds('written_at')} ELSE 0 END AS "lagMs"
     FROM fold_state`,
    [segmentRowsMax],
  )
  return row!
}

/** The ids of leases up to their watermarks: sorted, neighbours as one. */
export function rangesOf(watermarks: readonly Watermark[]): IdRange[] {
  return uniteRanges(watermarks.map(({ firstSegment, through }) => ({ from: firstSegment * segmentRowsMax, through })))
}

/** A version that is greater than those of all folds before. To be taken before events are read. */
export async function takeFoldVersion(q: Queryable): Promise<number> {
  const [row] = await q.query<{ version: number }>(`SELECT nextval('fold_versions') AS version`)
  return row!.version
}

export interface FoldCommit {
  /** That the fold began with. */
  readonly from: number
  readonly version: number
  readonly asOf: number
  readonly watermarks: readonly Watermark[]
  readonly repairIds: readonly number[]
}

/** @returns false when another fold was committed since `from` was read, or a version was taken after this one */
export function commitFold(pg: Postgres, { from, version, asOf, watermarks, repairIds }: FoldCommit): Promise<boolean> {
  return pg.transaction(async (tx) => {
    const [committed] = await tx.query(
      `UPDATE fold_state SET version = $2, written_at = now(),
         as_of = greatest(CASE WHEN NOT ${isTooFarAhead('as_of', 'now()', 0)} THEN as_of END, to_timestamp($3::double precision / 1000))
       WHERE version = $1 AND ($2 = $1 OR (SELECT last_value FROM fold_versions) = $2) RETURNING version`,
      [from, version, asOf],
    )
    if (committed === undefined) return false
    await tx.query(
      `INSERT INTO fold_marks (first_segment, end_segment, through)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
       ON CONFLICT (first_segment) DO UPDATE SET through = EXCLUDED.through`,
      columnsOf(watermarks, 'firstSegment', 'endSegment', 'through'),
    )
    await tx.query('DELETE FROM event_repairs WHERE id = ANY ($1::bigint[])', [repairIds])
    return true
  })
}

/**
 * Takes the lease to fold for `ms`; again by the same name prolongs it.
 * @returns false while another has it
 */
export async function leaseFold(q: Queryable, by: string, ms: number): Promise<boolean> {
  const rows = await q.query(
    `UPDATE fold_state SET leased_by = $1, leased_until = now() + ${intervalOf('$2')}
     WHERE leased_by = $1 OR ${isPast('leased_until', 'now()', foldLeaseMs)} RETURNING version`,
    [by, ms],
  )
  return rows.length > 0
}

export async function releaseFold(q: Queryable, by: string): Promise<void> {
  await q.query(`UPDATE fold_state SET leased_until = '-infinity' WHERE leased_by = $1`, [by])
}
