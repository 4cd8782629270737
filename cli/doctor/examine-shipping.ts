/** Work that the services do by themselves, seen from the stores: salts, the marks of shipping, the fold. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import type { LeaseHolder } from '../../postgres/tables/operation/segment-leases.ts'
import { marksBehindWarnMs } from '../../schemas/limits/doctor-limits.ts'
import { saltSweepMs } from '../../schemas/limits/ingest-limits.ts'
import { idsPerLease, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { remedyOf } from '../figures/rows-above-marks.ts'
import { durationText, type Finding, ok, warning } from './finding.ts'

/** The newest leases: a node takes at most one in 17 hours. */
const leasesMax = 500

/** The salts that visitors without an id are hashed with: one a UTC day, made a day ahead. */
export async function examineSalts(pg: Postgres): Promise<Finding[]> {
  const [row] = await pg.query<{ today: boolean; tomorrow: boolean; ms: number }>(
    `WITH utc AS (SELECT now() AT TIME ZONE 'UTC' AS now)
     SELECT EXISTS (SELECT FROM visitor_salts WHERE day = utc.now::date) AS today,
       EXISTS (SELECT FROM visitor_salts WHERE day = utc.now::date + 1) AS tomorrow,
       extract(epoch FROM utc.now - date_trunc('day', utc.now))::float8 * 1000 AS ms FROM utc`,
  )
  const { today, tomorrow, ms } = row!
  const made = "ingest makes them: see whether it runs, and in its log why it can't"
  if (!today) return [warning('salts', `the one of today isn't there; ${made}`)]
  if (!tomorrow && ms > 2 * saltSweepMs) return [warning('salts', `the one of tomorrow isn't there yet; ${made}`)]
  return [ok('salts', 'those of the day are there')]
}

/** A range of ids, both ends outside of it. */
interface Gap {
  readonly above: number
  readonly below: number
}

/**
 * Rows above the mark of their lease are in no figure until the mark has passed them. A mark that doesn't move is that
 * of a node that is gone or can't reach Postgres, or of a command that was interrupted. Rows of commands are
 * as old as they like, so there the mark's own rest counts.
 */
export async function examineMarks(pg: Postgres, ch: ClickHouse): Promise<Finding[]> {
  const leases = await pg.query<{ first: number; end: number; through: number; holder: LeaseHolder; still_ms: number }>(
    `SELECT first_segment AS first, end_segment AS end, shipped_through AS through,
       CASE WHEN is_import THEN 'import' WHEN is_seed THEN 'seed' ELSE 'node' END AS holder,
       extract(epoch FROM now() - updated_at)::float8 * 1000 AS still_ms
     FROM segment_leases_taken ORDER BY first_segment DESC LIMIT $1`,
    [leasesMax],
  )
  const gaps = leases.map(({ end, through }) => ({ above: through, below: end * segmentRowsMax }))
  const behind = (await rowsIn(ch, gaps)).map((rows) => ({
    ...rows,
    ...leases.find(({ first }) => Math.floor(first / segmentLeaseSize) === rows.lease)!,
  }))
  const stuck = behind.filter(
    ({ holder, oldest_ms, still_ms }) => (holder === 'node' ? oldest_ms : still_ms) > marksBehindWarnMs,
  )
  if (stuck.length === 0) return [ok('marks', `all are where their rows end (leases: ${leases.length})`)]
  return stuck.map(({ first, holder, still_ms, rows, workspaces }) => {
    const text = `that of lease ${first} hasn't moved for ${durationText(still_ms)}, rows above it: ${rows}`
    return warning('marks', `${text}: ${remedyOf(holder, workspaces)}`)
  })
}

/** Events that are stored and not folded: figures are as of an earlier time. */
export async function examineFold(pg: Postgres, ch: ClickHouse): Promise<Finding[]> {
  const behind = await pg.query<{ above: number; below: number; idle_ms: number }>(
    `SELECT greatest(marks.through, leases.first_segment * $1::bigint - 1) AS above, leases.shipped_through + 1 AS below,
       extract(epoch FROM now() - written_at)::float8 * 1000 AS idle_ms
     FROM fold_state, segment_leases_taken leases LEFT JOIN fold_marks marks USING (first_segment)
     WHERE leases.shipped_through > greatest(marks.through, leases.first_segment * $1::bigint - 1)
     ORDER BY leases.first_segment DESC LIMIT $2`,
    [segmentRowsMax, leasesMax],
  )
  const idleMs = behind[0]?.idle_ms ?? 0
  const waiting = idleMs > marksBehindWarnMs ? await rowsIn(ch, behind) : []
  const rows = waiting.reduce((sum, lease) => sum + lease.rows, 0)
  const oldestMs = Math.max(0, ...waiting.map(({ oldest_ms }) => oldest_ms))
  if (oldestMs <= marksBehindWarnMs) return [ok('fold', 'figures follow the events')]
  const text = `events that aren't in figures yet: ${rows}, and none was folded for ${durationText(idleMs)}`
  return [warning('fold', `${text}: see whether the pipeline runs, and its log`)]
}

interface RowsOfLease {
  readonly lease: number
  readonly rows: number
  readonly oldest_ms: number
  readonly workspaces: readonly number[]
}

/** Rows of each lease in `gaps`: how many, how long ago the first came in, and some of their workspaces. */
async function rowsIn(ch: ClickHouse, gaps: readonly Gap[]): Promise<RowsOfLease[]> {
  if (gaps.length === 0) return []
  // Written out and not as a parameter: so the index on ids says which granules to read. The numbers are ours.
  const within = gaps.map(({ above, below }) => `(id > ${above} AND id < ${below})`).join(' OR ')
  return ch.query(
    `SELECT intDiv(id, ${idsPerLease}) AS lease, count() AS rows,
       toFloat64(toUnixTimestamp64Milli(now64(3)) - toUnixTimestamp64Milli(min(arrived_at))) AS oldest_ms,
       arraySort(groupUniqArray(10)(workspace_id)) AS workspaces
     FROM events WHERE ${within} GROUP BY lease ORDER BY lease`,
  )
}
