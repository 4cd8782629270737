/** Raw rows that a reader holds, in portions: what those that stay the same come to is counted once, for all questions. */

import type { Span } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { type AggregateRow, MergedRows } from '../../aggregates/aggregate-rows.ts'
import { DistinctSet } from '../../aggregates/distinct-set.ts'
import { type AlikeRows, type PickedRows, rowsBetween, rowsCounted } from '../../aggregates/rows-at-hand.ts'
import { inOrder, pickBetween, type RowsInOrder } from '../../aggregates/rows-in-order.ts'
import type { AggregateTable } from '../../aggregates/tables.ts'

export interface HeldRows {
  /** Picked out when they are asked for. */
  readonly picked: () => readonly PickedRows[]
  /** Where they lie, if that is known. */
  readonly span?: Span
  /** Whether this is the same object from one question to the next. */
  readonly isLasting: boolean
}

/** Those that are another object for the next question. */
export function passingRows(picked: readonly PickedRows[], span?: Span): HeldRows {
  return { picked: () => picked, isLasting: false, ...(span && { span }) }
}

interface Portion extends HeldRows {
  readonly span: Span
}

/** What rows come to, by how long it stays what it is. */
export interface HeldCounts {
  /** The same objects from one question to the next. */
  readonly lasting: readonly AggregateRow[]
  readonly passing: readonly AggregateRow[]
}

export const noneHeld: HeldCounts = { lasting: [], passing: [] }

export function joinHeld(some: readonly HeldCounts[]): HeldCounts {
  return { lasting: some.flatMap(({ lasting }) => lasting), passing: some.flatMap(({ passing }) => passing) }
}

/** An hour's rows are counted in so many portions: of the one that a range ends inside of, only a part is. */
const portionsOfHour = 12
const portionMs = hourMs / portionsOfHour

/** By what an hour was read as. Their rows aren't kept: thousands of short lists take more room than the hour's. */
const portions = new WeakMap<readonly AlikeRows[], readonly Portion[]>()
/** But for those of the portion that ranges begin or end inside of: each question takes another part of it. */
const divided = new WeakMap<readonly AlikeRows[], { readonly portion: Portion; readonly rows: RowsInOrder }>()

/**
 * The rows of an hour that lie in a part of it.
 * @param hour when it begins, in milliseconds since 1970
 * @param alike all of its rows; the same object for every question
 */
export function heldIn(hour: number, alike: readonly AlikeRows[], part: Span): HeldRows[] {
  let all = portions.get(alike)
  if (all === undefined) {
    all = piecesOf(hour, { start: hour, end: hour + hourMs }).map(({ start, end }) => ({
      span: { start, end },
      picked: () => rowsBetween(alike, start, end),
      isLasting: true,
    }))
    portions.set(alike, all)
  }
  return piecesOf(hour, part).map(({ nth, isWhole, start, end }) => {
    const portion = all[nth]!
    if (isWhole) return portion
    return passingRows(pickBetween(rowsDivided(alike, portion), start, end), { start, end })
  })
}

/** A portion of an hour, or a part of one. */
interface Piece extends Span {
  readonly nth: number
  readonly isWhole: boolean
}

/** The whole of a piece's portion. */
export function portionOf(hour: number, { nth }: Piece): Span {
  return { start: hour + nth * portionMs, end: hour + (nth + 1) * portionMs }
}

/** The portions that a part of an hour has something of, in order. */
export function piecesOf(hour: number, part: Span): Piece[] {
  const pieces: Piece[] = []
  for (let nth = 0; nth < portionsOfHour; nth++) {
    const start = Math.max(hour + nth * portionMs, part.start)
    const end = Math.min(hour + (nth + 1) * portionMs, part.end)
    if (start < end) pieces.push({ nth, start, end, isWhole: end - start === portionMs })
  }
  return pieces
}

function rowsDivided(alike: readonly AlikeRows[], portion: Portion): RowsInOrder {
  const known = divided.get(alike)
  if (known?.portion === portion) return known.rows
  const rows = inOrder(portion.picked())
  divided.set(alike, { portion, rows })
  return rows
}

export interface CountOptions {
  readonly columns: readonly string[]
  /** Of which the last one that isn't after it is the `bucket` of a row. */
  readonly buckets?: readonly number[] | undefined
  /** If only these are wanted. */
  readonly paths?: readonly string[] | undefined
}

/** What rows add to a table; several may have equal keys. */
export function countHeld(
  table: AggregateTable,
  held: readonly HeldRows[],
  { columns, buckets, paths }: CountOptions,
): HeldCounts {
  const bucketOf = buckets && ((at: number) => startBefore(buckets, at))
  const wanted = paths && new Set(paths)
  const runs: Run[] = []
  /** By the bucket of all of them; undefined where there are several, or none is asked for. */
  const others = new Map<number | undefined, PickedRows[]>()
  for (const portion of held) {
    const { picked, span, isLasting } = portion
    const bucket = span && bucketOf?.(span.start)
    const isInOne = span !== undefined && bucket === bucketOf?.(span.end - 1)
    if (!isLasting || !isInOne) {
      const name = isInOne ? bucket : undefined
      const some = wanted === undefined ? picked() : picked().filter(({ rows }) => wanted.has(rows.path))
      others.set(name, [...(others.get(name) ?? []), ...some])
      continue
    }
    const last = runs.at(-1)
    if (last?.end === span.start && last.bucket === bucket) {
      last.portions.push(portion)
      last.end = span.end
    } else {
      runs.push({ portions: [portion], end: span.end, bucket })
    }
  }
  const counted = runs.flatMap((run) => countRun(table, run, columns))
  return {
    lasting: wanted === undefined ? counted : counted.filter(({ keys }) => wanted.has(String(keys['path']))),
    passing: [...others].flatMap(([bucket, some]) =>
      rowsCounted(table, some, columns, bucket === undefined ? bucketOf : () => bucket),
    ),
  }
}

/** Portions that follow each other, all in one bucket. */
interface Run {
  readonly portions: HeldRows[]
  end: number
  readonly bucket: number | undefined
}

/** A part of an hour has the same run for as long as its end, or its begin, lies in the same portion. */
function countRun(table: AggregateTable, { portions, bucket }: Run, columns: readonly string[]): AggregateRow[] {
  const [first] = portions
  const name = [table.name, ...columns, bucket].join(' ')
  return once(first!, `${name} ${portions.length}`, () => {
    const rows = portions.flatMap((portion) => once(portion, name, () => countPortion(table, portion, columns, bucket)))
    return portions.length === 1 ? rows : new MergedRows(rows).rows
  })
}

/** What portions, and runs that begin with them, came to. */
const counts = new WeakMap<HeldRows, Map<string, AggregateRow[]>>()

function once(portion: HeldRows, name: string, count: () => AggregateRow[]): AggregateRow[] {
  const known = counts.get(portion) ?? new Map<string, AggregateRow[]>()
  counts.set(portion, known)
  const rows = known.get(name) ?? count()
  known.set(name, rows)
  return rows
}

function countPortion(
  table: AggregateTable,
  { picked }: HeldRows,
  columns: readonly string[],
  bucket: number | undefined,
): AggregateRow[] {
  const rows = rowsCounted(table, picked(), columns, bucket === undefined ? undefined : () => bucket)
  // Each visitor once from now on: they have several rows.
  for (const { values } of rows) {
    for (const value of Object.values(values)) if (value instanceof DistinctSet) value.count()
  }
  return rows
}

/** The last of `starts` that isn't after `at`; before all of them, the first: as `roundDown` has it. */
function startBefore(starts: readonly number[], at: number): number {
  return starts.findLast((start) => start <= at) ?? starts[0]!
}
