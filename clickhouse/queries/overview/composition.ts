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
import type { Bucket } from '../../../schemas/time-range.ts'
import { chooseBlocks, daysOf } from '../../aggregates/blocks.ts'
import { type Condition, idsIn } from '../../aggregates/id-ranges.ts'
import { liveRowsIn } from '../../aggregates/live-rows.ts'
import { type HourSpan, hourMs, sessionHours } from '../../aggregates/row-scope.ts'
import type { EventRow } from '../../aggregates/rows-at-hand.ts'
import type { SessionRows } from '../../aggregates/session-changes.ts'
import { moment, type ReadableSpan, spanParams } from './span.ts'

const dayHours = 24

/** Raw rows that the aggregates don't have, of one workspace around a range: where the first and the last of them lie. */
export interface PendingRows {
  readonly ids: readonly IdRange[]
  readonly rows: number
  readonly hours: HourSpan
  /** The rows themselves with the others of their sessions; undefined where they are too many to be taken at hand. */
  readonly atHand: SessionRows | undefined
}

export interface Composition {
  readonly span: ReadableSpan
  readonly snapshot: AggregateSnapshot
  /** The readable part of the range, in milliseconds. */
  readonly from: number
  readonly to: number
  /** Taken from the aggregates; empty where `start` = `end`. */
  readonly hours: HourSpan
  /** Undefined when there are none. */
  readonly pending: PendingRows | undefined
}

export function composeSpan(
  snapshot: AggregateSnapshot,
  span: ReadableSpan,
  pending: PendingRows | undefined,
): Composition {
  const { from, to } = spanParams(span) as { from: number; to: number }
  const start = Math.ceil(from / hourMs)
  // Nothing lies behind `to` in its hour, mostly because it is now: then the hour can be taken whole.
  const lastHour = Math.floor(to / hourMs)
  const lastDay = Math.floor(lastHour / dayHours)
  const isLastWhole = snapshot.generations.every(({ day, lastAt }) => day !== lastDay || lastAt < to)
  const end = to % hourMs !== 0 && isLastWhole ? lastHour + 1 : lastHour
  if (snapshot.aggregated.length === 0 || start >= end) {
    return { span, snapshot, from, to, hours: { start, end: start }, pending }
  }
  // With all rows in the aggregates, and none behind `to` in its hour, that hour's end is as good, and asks the same for an hour.
  const isClosed = pending === undefined && end > lastHour
  return { span, snapshot, from, to: isClosed ? end * hourMs : to, hours: { start, end }, pending }
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
  /** Over an aggregate table: rows of whole days that are over, and those of hours, which change with every commit. */
  readonly days: Condition | undefined
  readonly hours: Condition | undefined
  /** Over `events`, each for a query of its own: time and id are then both looked up. */
  readonly raw: readonly Condition[]
  readonly atHand: readonly EventRow[]
  /** Tells what stands in a statement for these cells from what stands for others. */
  readonly name: string
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
    ...aggregatedCells(composition, { name, edges, hours, cutHours }),
    raw: rawCells(composition, { name, hours, cutHours }),
    atHand: rowsAtHand(composition, hours, cutHours),
    name,
  }
}

export interface CellOptions {
  readonly name: string
  readonly edges?: readonly number[]
  readonly hours?: HourSpan
  readonly cut?: readonly number[]
}

function aggregatedCells(
  { span, snapshot }: Composition,
  { name, edges, hours, cutHours }: Required<Omit<CellOptions, 'cut'>> & { cutHours: readonly number[] },
): Pick<Cells, 'days' | 'hours'> {
  if (hours.start >= hours.end) return { days: undefined, hours: undefined }
  const resets = snapshot.resets.filter(({ workspaceId }) => workspaceId === span.workspaceId)
  const divided = new Set([
    ...cutHours.map(dayOf),
    ...resets.map(({ hour }) => dayOf(hour)),
    ...edges.filter((edge) => edge % (dayHours * hourMs) !== 0).map((edge) => dayOf(hourOf(edge))),
  ])
  const isWholeTaken = (day: number) =>
    day * dayHours >= hours.start && (day + 1) * dayHours <= hours.end && !divided.has(day)
  const edgeDays = edges.map((edge) => dayOf(hourOf(edge)))
  const blocks = chooseBlocks(snapshot.blocks, (block) => {
    const isCut = edgeDays.some((day) => day > block.firstDay && day < block.firstDay + block.days)
    return !isCut && daysOf(block).every(isWholeTaken)
  })
  const inBlocks = new Set(blocks.flatMap(daysOf))
  const whole = blocks.map(({ generation, firstDay }) => ({ generation, day: firstDay }))
  const parts: number[] = []
  for (const { day, generation, isWhole } of snapshot.generations) {
    if (isWhole && isWholeTaken(day)) {
      if (!inBlocks.has(day)) whole.push({ generation, day })
    } else if ((day + 1) * dayHours > hours.start && day * dayHours < hours.end) {
      parts.push(generation)
    }
  }
  const live = liveRowsIn({ generations: parts, resets }, `${name}_parts`)
  const cutSql = cutHours.length === 0 ? '' : ` AND hour NOT IN {${name}_cut:Array(UInt32)}`
  return {
    days:
      whole.length === 0
        ? undefined
        : {
            sql: `workspace_id = {workspace:UInt32} AND is_day = 1
        AND hour IN {${name}_day_hours:Array(UInt32)} AND generation IN {${name}_days:Array(UInt64)}`,
            params: {
              workspace: span.workspaceId,
              [`${name}_days`]: whole.map(({ generation }) => generation),
              // They say nothing new, but where to look.
              [`${name}_day_hours`]: whole.map(({ day }) => day * dayHours),
            },
          },
    hours:
      parts.length === 0
        ? undefined
        : {
            sql: `workspace_id = {workspace:UInt32} AND is_day = 0
        AND hour >= {${name}_start:UInt32} AND hour < {${name}_end:UInt32} AND ${live.sql}${cutSql}`,
            params: {
              workspace: span.workspaceId,
              [`${name}_start`]: hours.start,
              [`${name}_end`]: hours.end,
              ...live.params,
              ...(cutHours.length === 0 ? {} : { [`${name}_cut`]: cutHours }),
            },
          },
  }
}

function rawCells(
  { span, from, to, pending }: Composition,
  { name, hours, cutHours }: { name: string; hours: HourSpan; cutHours: readonly number[] },
): Condition[] {
  const between = (part: string, start: number, end: number, more = '', params: Record<string, unknown> = {}) => ({
    sql: `workspace_id = {workspace:UInt32}
      AND occurred_at >= ${moment(`${name}_${part}_from`)} AND occurred_at < ${moment(`${name}_${part}_to`)}${more}`,
    params: {
      workspace: span.workspaceId,
      [`${name}_${part}_from`]: start,
      [`${name}_${part}_to`]: Math.max(start, end),
      ...params,
    },
  })
  if (hours.start >= hours.end) return [between('all', from, to)]
  const cells: Condition[] = []
  const wholeFrom = hours.start * hourMs
  const wholeTo = Math.min(to, hours.end * hourMs)
  if (from < wholeFrom) cells.push(between('head', from, wholeFrom))
  if (wholeTo < to) cells.push(between('tail', wholeTo, to))
  const cutParams = { [`${name}_cut_hours`]: cutHours.map((hour) => hour * 3600) }
  const isCut = `toUInt32(toStartOfHour(occurred_at)) IN {${name}_cut_hours:Array(UInt32)}`
  if (cutHours.length > 0) cells.push(between('cut', wholeFrom, wholeTo, ` AND ${isCut}`, cutParams))
  if (pending !== undefined && pending.atHand === undefined) {
    const start = Math.max(wholeFrom, pending.hours.start * hourMs)
    const end = Math.min(wholeTo, pending.hours.end * hourMs)
    const ids = idsIn(pending.ids, `${name}_pending`)
    const notCut = cutHours.length === 0 ? '' : ` AND NOT ${isCut}`
    const params = { ...ids.params, ...(cutHours.length === 0 ? {} : cutParams) }
    if (start < end) cells.push(between('pending', start, end, ` AND ${ids.sql}${notCut}`, params))
  }
  return cells
}

/** Those of the pending rows that no raw cell has. */
function rowsAtHand({ to, pending }: Composition, hours: HourSpan, cutHours: readonly number[]): EventRow[] {
  if (pending?.atHand === undefined || hours.start >= hours.end) return []
  const end = Math.min(to, hours.end * hourMs)
  return pending.atHand.uncounted.filter(
    ({ at }) => at >= hours.start * hourMs && at < end && !cutHours.includes(hourOf(at)),
  )
}

/** Some neighbouring buckets, with the part of the range that they divide. */
export interface BucketPart {
  readonly composition: Composition
  readonly buckets: readonly Bucket[]
  /** Nothing that comes changes them, as long as the aggregates of their days stay what they are. */
  readonly isClosed: boolean
}

/** The buckets that lie where the aggregates are and no pending row is, apart from those before and after. */
export function divideAtOpen(composition: Composition, buckets: readonly Bucket[]): BucketPart[] {
  const { hours, pending } = composition
  if (hours.start >= hours.end) return [{ composition, buckets, isClosed: false }]
  const closedUntil = Math.min(hours.end, pending?.hours.start ?? hours.end) * hourMs
  const isBefore = ({ start }: Bucket) => start < hours.start * hourMs
  const isClosed = (bucket: Bucket) => !isBefore(bucket) && bucket.end <= closedUntil
  const part = (some: readonly Bucket[], isClosed: boolean): BucketPart[] => {
    if (some.length === 0) return []
    const from = Math.max(composition.from, some[0]!.start)
    const to = some.at(-1) === buckets.at(-1) ? composition.to : some.at(-1)!.end
    const start = Math.max(hours.start, Math.ceil(from / hourMs))
    const end = Math.min(hours.end, some.at(-1) === buckets.at(-1) ? hours.end : Math.floor(to / hourMs))
    const pending = isClosed ? undefined : composition.pending
    return [
      {
        composition: { ...composition, from, to, hours: { start, end: Math.max(start, end) }, pending },
        buckets: some,
        isClosed,
      },
    ]
  }
  return [
    ...part(buckets.filter(isBefore), false),
    ...part(buckets.filter(isClosed), true),
    ...part(
      buckets.filter((bucket) => !isBefore(bucket) && !isClosed(bucket)),
      false,
    ),
  ]
}

/** The generations of the days of a range: as long as they are the same, and no row is pending, its raw rows are the same. */
export function generationsIn({ snapshot, from, to }: Composition): number[] {
  const first = dayOf(hourOf(from))
  const last = dayOf(hourOf(to))
  return snapshot.generations.filter(({ day }) => day >= first && day <= last).map(({ generation }) => generation)
}

function hourOf(moment: number): number {
  return Math.floor(moment / hourMs)
}

function dayOf(hour: number): number {
  return Math.floor(hour / dayHours)
}
