/**
 * Rows of events that no fold takes up: above the mark of their lease, or of a lease that Postgres doesn't know. A node
 * that runs passes them within seconds. Those of a node that is gone stay: after a restore, its marks are the backup's.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { milliseconds } from '../../postgres/clock.ts'
import type { LeaseHolder, LeaseWatermark } from '../../postgres/tables/operation/segment-leases.ts'
import { idsPerLease, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import type { Installation } from '../installation.ts'

/** A column of every event is read. */
const deadlineMs = 10 * 60_000

export interface LeaseAboveMark {
  readonly firstSegment: number
  /** Null: Postgres doesn't know the lease. */
  readonly mark: number | null
  /** When its holder was last heard of, by the clock of Postgres; milliseconds since 1970. */
  readonly heardAt: number
  readonly holder: LeaseHolder
  /** The largest stored id. */
  readonly storedThrough: number
}

/** Leases whose largest stored id is above their mark. @param workspaceId only rows of this one */
export async function findLeasesAboveMarks(
  installation: Pick<Installation, 'postgres' | 'answeringClickhouse'>,
  workspaceId?: number,
): Promise<LeaseAboveMark[]> {
  // Rows first: they are there before their mark is.
  const ch = await installation.answeringClickhouse()
  const stored = await ch.query<{ lease: number; through: number }>(
    `SELECT intDiv(id, ${idsPerLease}) AS lease, max(id) AS through FROM events
       WHERE ${workspaceSql(workspaceId)} GROUP BY lease ORDER BY lease`,
    {},
    { deadlineMs },
  )
  const marks = await installation.postgres().query<LeaseWatermark & { heardAt: number; holder: LeaseHolder }>(
    `SELECT first_segment AS "firstSegment", shipped_through AS "throughId",
       CASE WHEN is_import THEN 'import' WHEN is_seed THEN 'seed' ELSE 'node' END AS holder,
       ${milliseconds("greatest(updated_at, 'epoch')")} AS "heardAt" FROM segment_leases_taken`,
  )
  const known = new Map(marks.map((mark) => [mark.firstSegment, mark]))
  return stored.flatMap(({ lease, through }) => {
    const firstSegment = lease * segmentLeaseSize
    const { throughId = null, heardAt = 0, holder = 'node' } = known.get(firstSegment) ?? {}
    // Ids below the first lease are of no node.
    if (lease === 0 || (throughId !== null && through <= throughId)) return []
    return [{ firstSegment, mark: throughId, heardAt, holder, storedThrough: through }]
  })
}

export interface RowsAboveMark {
  readonly lease: number
  readonly rows: number
  readonly workspaces: readonly number[]
}

/** Says how rows that stay above a mark come into the figures. @param workspaces whose rows they are */
export function remedyOf(holder: LeaseHolder, workspaces: readonly number[]): string {
  const where = `workspace ${workspaces.join(', ')}`
  if (holder === 'import') return `unless the import into ${where} still runs, import its file again`
  if (holder === 'seed') return `unless the seed of ${where} still runs, delete that with \`svc workspace delete\``
  return 'start the ingest node that has it, which reads on where it ended; if that is gone, run `svc restore marks` with all others up'
}

/** The rows above the marks of `leases`: how many, and some of their workspaces. */
export async function countRowsAbove(
  clickhouse: ClickHouse,
  leases: readonly LeaseAboveMark[],
  workspaceId?: number,
): Promise<RowsAboveMark[]> {
  if (leases.length === 0) return []
  const within = leases.map(({ firstSegment, mark, storedThrough }) => {
    const above = mark ?? firstSegment * segmentRowsMax - 1
    return `(id > ${above} AND id <= ${storedThrough})`
  })
  return clickhouse.query(
    `SELECT intDiv(id, ${idsPerLease}) * ${segmentLeaseSize} AS lease, count() AS rows,
       arraySort(groupUniqArray(10)(workspace_id)) AS workspaces
     FROM events WHERE ${workspaceSql(workspaceId)} AND (${within.join(' OR ')}) GROUP BY lease ORDER BY lease`,
    {},
    { deadlineMs },
  )
}

/** The number is ours. */
function workspaceSql(workspaceId: number | undefined): string {
  return workspaceId === undefined ? 'true' : `workspace_id = ${Number(workspaceId)}`
}
