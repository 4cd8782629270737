/**
 * Where the rows of a range are found: whole hours (and days) in the aggregates, everything else among the raw rows.
 *
 *   from        hours.start                                   hours.end        to
 *    | raw rows  | aggregates, and raw rows that they don't have yet | raw rows  |
 *
 * A snapshot may be seconds old: the rows that came since then are among those that it doesn't have. Held by
 * test/property/overview.test.ts, which asks at every stage of aggregation.
 */

import type { AggregateSnapshot, IdRange } from '../../../schemas/aggregate-snapshot.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { idsIn } from '../../aggregates/id-ranges.ts'
import { type HourSpan, sessionHours } from '../../aggregates/row-scope.ts'
import { type AlikeRows, rowsBetween } from '../../aggregates/rows-at-hand.ts'
import type { SessionRows } from '../../aggregates/session-changes.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { type AggregatedCell, aggregatedCells, hourOf, isCountedUpTo } from './aggregated-cells.ts'
import { type HeldCounts, type HeldRows, passingRows } from './held-rows.ts'
import type { IsKeyWanted } from './held-sessions.ts'
import { inAnySpan, type ReadableSpan, spanParams } from './span.ts'

/** Raw rows that the aggregates don't have, of one workspace around a range: where the first and the last of them lie. */
export interface PendingRows {
  readonly ids: readonly IdRange[]
  readonly rows: number
  readonly hours: HourSpan
  /** The rows themselves; undefined where they are too many to be taken at hand. */
  readonly atHand: readonly AlikeRows[] | undefined
  /** Whole, with the others of their sessions; undefined where these are too many. */
  readonly ofSessions: SessionRows | undefined
  /** What they change about sessions, and about the credit for conversions, is left to the aggregator. */
  readonly areSessionsLeft: boolean
}

/** Raw rows that are read once for all figures of an overview. */
export interface RowsRead {
  /** Undefined when there are none. */
  readonly pending?: PendingRows | undefined
  /** Without those that are too many to be taken at hand. */
  readonly edges?: EdgeRows | undefined
}

/** Raw rows of parts of hours that ranges begin or end with. */
export interface EdgeRows {
  readonly spans: readonly Span[]
  /** The rows of a part of a span. */
  rowsIn(part: Span): readonly HeldRows[]
  /** Those of the spans whose sessions are known too. */
  readonly sessionSpans: readonly Span[]
  /** Rows of `agg_sessions`, without workspace and hour, of the sessions that begin in parts of these: of the keys that are wanted. */
  sessionsBegunIn(parts: readonly Span[], isWanted: IsKeyWanted): HeldCounts
}

export interface Composition extends RowsRead {
  readonly span: ReadableSpan
  readonly snapshot: AggregateSnapshot
  /** The readable part of the range, in milliseconds. */
  readonly from: number
  readonly to: number
  /** Taken from the aggregates; empty where `start` = `end`. */
  readonly hours: HourSpan
}

export function composeSpan(
  snapshot: AggregateSnapshot,
  span: ReadableSpan,
  { pending, edges }: RowsRead = {},
): Composition {
  const { from, to } = spanParams(span) as { from: number; to: number }
  const start = Math.ceil(from / hourMs)
  // Nothing lies behind `to` in its hour, mostly because it is now: then the hour can be taken whole.
  const lastHour = Math.floor(to / hourMs)
  const end = to % hourMs !== 0 && isCountedUpTo(snapshot, to) ? lastHour + 1 : lastHour
  if (snapshot.aggregated.length === 0 || start >= end) {
    return { span, snapshot, from, to, hours: { start, end: start }, pending, edges }
  }
  // With all rows in the aggregates, and none behind `to` in its hour, that hour's end is as good, and asks the same for an hour.
  const isClosed = pending === undefined && end > lastHour
  return { span, snapshot, from, to: isClosed ? end * hourMs : to, hours: { start, end }, pending, edges }
}

/**
 * The hours of a composition whose sessions can be taken from the aggregates: those that may look back a whole day.
 * An hour nearer to the first readable moment could have sessions that began in what is as if it weren't there.
 */
export function sessionHoursOf({ span, hours }: Composition): HourSpan {
  const lookBack = sessionHours * hourMs
  if (span.readableFrom <= span.start - lookBack) return hours
  const start = Math.max(hours.start, Math.ceil((span.readableFrom + lookBack) / hourMs))
  return { start: Math.min(start, hours.end), end: hours.end }
}

/** Rows of an additive aggregate table, and the raw rows beside them: each row of the range is in exactly one of them. */
export interface Cells {
  /** Over an aggregate table, each row in one of them. */
  readonly aggregated: readonly AggregatedCell[]
  /** Over `events`, each for a query of its own: time and id are then both looked up. */
  readonly raw: readonly BoundSql[]
  readonly atHand: readonly HeldRows[]
}

/**
 * @param name tells the parameters from those of other cells in a statement
 * @param edges moments that no cell may have inside it (milliseconds)
 * @param cut hours that aren't taken from the aggregates
 */
export function cellsOf(
  composition: Composition,
  { name, edges = [], hours = composition.hours, cut = [] }: CellOptions,
): Cells {
  const cutHours = [...new Set([...cut, ...edges.filter((edge) => edge % hourMs !== 0).map(hourOf)])].filter(
    (hour) => hour >= hours.start && hour < hours.end,
  )
  return {
    aggregated: aggregatedCells(composition.span, composition.snapshot, { name, edges, hours, cutHours }),
    raw: rawCells(composition, { name, hours, cutHours }),
    atHand: rowsAtHand(composition, hours, cutHours),
  }
}

export interface CellOptions {
  readonly name: string
  readonly edges?: readonly number[]
  readonly hours?: HourSpan
  readonly cut?: readonly number[]
}

function rawCells(
  composition: Composition,
  { name, hours, cutHours }: { name: string; hours: HourSpan; cutHours: readonly number[] },
): BoundSql[] {
  const between = (part: string, spans: readonly Span[], more = '', params: Record<string, unknown> = {}) => {
    const inSpans = inAnySpan(`${name}_${part}`, spans)
    return {
      sql: `workspace_id = {workspace:UInt32} AND ${inSpans.sql}${more}`,
      params: { workspace: composition.span.workspaceId, ...inSpans.params, ...params },
    }
  }
  const { to, pending } = composition
  const cells: BoundSql[] = []
  const { raw } = edgesOf(composition, hours)
  if (raw.length > 0) cells.push(between('edges', raw))
  const wholeFrom = hours.start * hourMs
  const wholeTo = Math.min(to, hours.end * hourMs)
  const cutParams = { [`${name}_cut_hours`]: cutHours.map((hour) => hour * 3600) }
  const isCut = `toUInt32(toStartOfHour(occurred_at)) IN {${name}_cut_hours:Array(UInt32)}`
  if (cutHours.length > 0) {
    cells.push(between('cut', [{ start: wholeFrom, end: wholeTo }], ` AND ${isCut}`, cutParams))
  }
  if (pending !== undefined && pending.atHand === undefined) {
    const start = Math.max(wholeFrom, pending.hours.start * hourMs)
    const end = Math.min(wholeTo, pending.hours.end * hourMs)
    const ids = idsIn(pending.ids, `${name}_pending_ids`)
    const notCut = cutHours.length === 0 ? '' : ` AND NOT ${isCut}`
    const params = { ...ids.params, ...(cutHours.length === 0 ? {} : cutParams) }
    if (start < end) cells.push(between('pending', [{ start, end }], ` AND ${ids.sql}${notCut}`, params))
  }
  return cells
}

/** Those of the rows that were taken at hand which no raw cell has. */
function rowsAtHand(composition: Composition, hours: HourSpan, cutHours: readonly number[]): HeldRows[] {
  const { to, pending, edges } = composition
  const ofEdges = edgesOf(composition, hours).atHand.flatMap((part) => edges!.rowsIn(part))
  if (pending?.atHand === undefined || hours.start >= hours.end) return ofEdges
  const end = Math.min(to, hours.end * hourMs)
  const cuts = cutHours.toSorted((one, other) => one - other)
  const ofHours = [hours.start, ...cuts.map((hour) => hour + 1)].flatMap((from, nth) =>
    rowsBetween(pending.atHand!, from * hourMs, Math.min(end, (cuts[nth] ?? hours.end) * hourMs)),
  )
  return [...ofEdges, passingRows(ofHours)]
}

/** What of a range lies before and after its whole hours, all of it where there are none: by where its rows, or its sessions, are found. */
export function edgesOf(
  { from, to, edges }: Pick<Composition, 'from' | 'to' | 'edges'>,
  hours: HourSpan,
  known: 'spans' | 'sessionSpans' = 'spans',
): { atHand: Span[]; raw: Span[] } {
  const isAll = hours.start >= hours.end
  const outside = [
    { start: from, end: isAll ? to : Math.min(to, hours.start * hourMs) },
    { start: isAll ? to : Math.max(from, hours.end * hourMs), end: to },
  ].filter(({ start, end }) => start < end)
  const isAtHand = ({ start, end }: Span) =>
    edges?.[known].some((span) => span.start <= start && span.end >= end) === true
  return { atHand: outside.filter(isAtHand), raw: outside.filter((span) => !isAtHand(span)) }
}
