/** The raw rows around a range that the aggregates of a snapshot don't have yet: mostly those of the last seconds. */
import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import { aggregatesKeepUpMs, pendingRowsCountedMax, rowsAtHandMax } from '../../../schemas/limits.ts'
import { complementOf, idsIn } from '../../aggregates/id-ranges.ts'
import { type HourSpan, hourMs, sessionHours } from '../../aggregates/row-scope.ts'
import { type EventRow, hasVisitor, readRows } from '../../aggregates/rows-at-hand.ts'
import type { BoundSql } from '../../bound-sql.ts'
import type { PendingRows } from './composition.ts'
import { inRange, type Reader, within } from './span.ts'

export interface PendingRange {
  readonly workspaceId: number
  readonly from: number
  readonly to: number
  readonly now: number
}

/**
 * More rows than are taken at hand are read by every statement for itself. What they change about sessions is left to the
 * aggregator while it is at work: that takes most of the time, and to do here what the aggregator is doing would keep both
 * from their work.
 * @returns undefined when the aggregates have all of the workspace's rows from `from` to just before `to`, or soon will and they
 *   are very many
 */
export async function readPending(
  ch: Reader,
  snapshot: AggregateSnapshot,
  range: PendingRange,
): Promise<PendingRows | undefined> {
  const { workspaceId, from, to, now } = range
  const ids = complementOf(snapshot.aggregated)
  const pending = idsIn(ids, 'pending')
  const params = { ...pending.params, workspace: workspaceId, from, to }
  const rows = await readRows(ch, `${inRange} AND ${pending.sql}`, params, rowsAtHandMax)
  if (rows?.length === 0) return undefined
  if (rows === undefined) {
    const [row] = await ch.query<{ rows: number; first: number; last: number }>(
      `SELECT count() AS rows, toUnixTimestamp64Milli(min(occurred_at)) AS first, toUnixTimestamp64Milli(max(occurred_at)) AS last
       FROM events WHERE ${inRange} AND ${pending.sql}`,
      params,
    )
    const areSessionsLeft = Math.abs(now - snapshot.committedAt) < aggregatesKeepUpMs
    if (areSessionsLeft && row!.rows > pendingRowsCountedMax) return undefined
    return { ids, rows: row!.rows, hours: hoursOf(row!.first, row!.last), atHand: undefined, areSessionsLeft }
  }
  const hours = hoursOf(Math.min(...rows.map(({ at }) => at)), Math.max(...rows.map(({ at }) => at)))
  const mates = await readMates(ch, range, rows, hours, pending)
  return { ids, rows: rows.length, hours, atHand: mates && { uncounted: rows, counted: mates }, areSessionsLeft: false }
}

/**
 * The other rows of their sessions, as far as these can change with them, and the conversions of their visitors that may be
 * credited otherwise; undefined when they are many.
 */
async function readMates(
  ch: Reader,
  { workspaceId, to }: PendingRange,
  rows: readonly EventRow[],
  hours: HourSpan,
  pending: BoundSql,
): Promise<readonly EventRow[] | undefined> {
  const known = rows.filter(hasVisitor)
  if (known.length === 0) return []
  const reach = 2 * sessionHours
  return readRows(
    ch,
    `(${within('near_from', 'near_to')} AND session IN {sessions:Array(UInt64)}
       OR ${within('near_from', 'to')} AND kind = 'conversion' AND visitor IN {visitors:Array(UInt64)})
     AND visitor != 0 AND NOT ${pending.sql}`,
    {
      ...pending.params,
      workspace: workspaceId,
      sessions: [...new Set(known.map(({ session }) => session))],
      visitors: [...new Set(known.map(({ visitorHash }) => visitorHash))].map(BigInt),
      near_from: Math.max(0, hours.start - reach) * hourMs,
      near_to: (hours.end + reach) * hourMs,
      to,
    },
    rowsAtHandMax,
  )
}

function hoursOf(first: number, last: number): HourSpan {
  return { start: Math.floor(first / hourMs), end: Math.floor(last / hourMs) + 1 }
}
