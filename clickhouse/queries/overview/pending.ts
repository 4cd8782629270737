/** The raw rows around a range that the aggregates of a snapshot don't have yet: mostly those of the last seconds. */
import { LRUCache } from 'lru-cache'
import type { AggregateSnapshot, IdRange } from '../../../schemas/aggregate-snapshot.ts'
import {
  aggregatesKeepUpMs,
  alikeRowsAtHandMax,
  crowdedForMs,
  crowdedWorkspacesMax,
  pendingRowsCountedMax,
  rowsAtHandMax,
} from '../../../schemas/limits.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { complementOf, idsIn } from '../../aggregates/id-ranges.ts'
import { type HourSpan, sessionHours } from '../../aggregates/row-scope.ts'
import {
  alikeRowsOf,
  countRows,
  type EventRow,
  type RowsWanted,
  readAlikeRows,
  readRows,
} from '../../aggregates/rows-at-hand.ts'
import type { BoundSql } from '../../bound-sql.ts'
import type { PendingRows } from './composition.ts'
import { inRange, type Reader, within } from './span.ts'

/** Rows that are left to the aggregator: none of them is looked at. */
export const allLeft: PendingRows = {
  ...{ ids: [], rows: 0, hours: { start: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY } },
  ...{ atHand: [], ofSessions: undefined, areSessionsLeft: true },
}

export interface PendingRange {
  readonly workspaceId: number
  readonly from: number
  readonly to: number
  readonly now: number
}

/** Workspaces in which more rows were pending than are read whole: to find that out again takes as long as to read few. */
const crowded = new LRUCache<number, true>({ max: crowdedWorkspacesMax, ttl: crowdedForMs })

/**
 * Few rows are taken whole, with the others of their sessions. Of more, only what single rows count for: what they change
 * about sessions is left to the aggregator while it is at work, which takes most of the time, and to do here what the
 * aggregator is doing would keep both from their work. Of even more each statement reads what it needs.
 * Very many are left to the aggregator altogether, for as long as it is at work.
 * @returns undefined when the aggregates have all of the workspace's rows from `from` to just before `to`
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
  const wanted = (max: number): RowsWanted => ({ condition: `${inRange} AND ${pending.sql}`, params, max })
  const areSessionsLeft = Math.abs(now - snapshot.committedAt) < aggregatesKeepUpMs

  if (!crowded.has(workspaceId)) {
    const rows = await readRows(ch, wanted(rowsAtHandMax))
    if (rows !== undefined) return withMates(ch, range, { rows, ids, pending })
  }
  const atHand = await readAlikeRows(ch, wanted(alikeRowsAtHandMax))
  const count = atHand && countRows(atHand)
  if (count !== undefined && count <= rowsAtHandMax) {
    crowded.delete(workspaceId)
    const whole = await readRows(ch, wanted(rowsAtHandMax))
    if (whole !== undefined) return withMates(ch, range, { rows: whole, ids, pending })
  }
  crowded.set(workspaceId, true)
  if (atHand !== undefined) {
    const hours = hoursOf(atHand.map(({ ats }) => ats))
    return { ids, rows: count!, hours, atHand, ofSessions: undefined, areSessionsLeft }
  }

  const [row] = await ch.query<{ rows: number; first: number; last: number }>(
    `SELECT count() AS rows, toUnixTimestamp64Milli(min(occurred_at)) AS first, toUnixTimestamp64Milli(max(occurred_at)) AS last
     FROM events WHERE ${inRange} AND ${pending.sql}`,
    params,
  )
  if (areSessionsLeft && row!.rows > pendingRowsCountedMax) return allLeft
  const hours = hoursOf([[row!.first, row!.last]])
  return { ids, rows: row!.rows, hours, atHand: undefined, ofSessions: undefined, areSessionsLeft }
}

interface FewRows {
  readonly rows: readonly EventRow[]
  readonly ids: readonly IdRange[]
  readonly pending: BoundSql
}

async function withMates(
  ch: Reader,
  range: PendingRange,
  { rows, ids, pending }: FewRows,
): Promise<PendingRows | undefined> {
  if (rows.length === 0) return undefined
  const hours = hoursOf([rows.map(({ at }) => at)])
  const mates = await readMates(ch, range, rows, hours, pending)
  const ofSessions = mates && { uncounted: rows, counted: mates }
  return { ids, rows: rows.length, hours, atHand: alikeRowsOf(rows), ofSessions, areSessionsLeft: false }
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
  const known = rows.filter(({ hasVisitor }) => hasVisitor)
  if (known.length === 0) return []
  const reach = 2 * sessionHours
  return readRows(ch, {
    condition: `(${within('near_from', 'near_to')} AND session IN {sessions:Array(UInt64)}
       OR ${within('near_from', 'to')} AND kind = 'conversion' AND visitor IN {visitors:Array(UInt64)})
     AND visitor != 0 AND NOT ${pending.sql}`,
    params: {
      ...pending.params,
      workspace: workspaceId,
      sessions: [...new Set(known.map(({ session }) => session))],
      visitors: [...new Set(known.map(({ visitorHash }) => visitorHash))].map(BigInt),
      near_from: Math.max(0, hours.start - reach) * hourMs,
      near_to: (hours.end + reach) * hourMs,
      to,
    },
    max: rowsAtHandMax,
  })
}

/** Those that lists of moments lie in, at least one. */
function hoursOf(lists: readonly Iterable<number>[]): HourSpan {
  let [first, last] = [Number.POSITIVE_INFINITY, 0]
  for (const moments of lists) {
    for (const at of moments) {
      first = Math.min(first, at)
      last = Math.max(last, at)
    }
  }
  return { start: Math.floor(first / hourMs), end: Math.floor(last / hourMs) + 1 }
}
