/** Raw rows that a reader holds, in portions: what those that stay the same come to is counted once, for all questions. */

import type { Span } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { type AggregateRow, MergedRows } from '../../aggregates/aggregate-rows.ts'
import { DistinctSet } from '../../aggregates/distinct-set.ts'
import { type AlikeRows, rowsBetween, rowsCounted } from '../../aggregates/rows-at-hand.ts'
import type { AggregateTable } from '../../aggregates/tables.ts'

export interface HeldRows {
  /** Picked out when they are asked for. */
  readonly alike: () => readonly AlikeRows[]
  /** Where they lie, if this is the same object from one question to the next. */
  readonly lasting?: Span
}

/** What rows come to, by how long it stays what it is. */
export interface HeldCounts {
  /** The same objects from one question to the next. */
  readonly lasting: readonly AggregateRow[]
  readonly passing: readonly AggregateRow[]
}

export function joinHeld(some: readonly HeldCounts[]): HeldCounts {
  return { lasting: some.flatMap(({ lasting }) => lasting), passing: some.flatMap(({ passing }) => passing) }
}

/** An hour's rows are counted in so many portions: of the one that a range ends inside of, only a part is. */
const portionsOfHour = 12
const portionMs = hourMs / portionsOfHour

/** By what an hour was read as. Their rows aren't kept: thousands of short lists take more room than the hour's. */
const portions = new WeakMap<readonly AlikeRows[], readonly HeldRows[]>()
/** But for those of the portion that ranges begin or end inside of: each question takes another part of it. */
const divided = new WeakMap<readonly AlikeRows[], { readonly start: number; readonly alike: readonly AlikeRows[] }>()

/**
 * The rows of an hour that lie in a part of it.
 * @param hour when it begins, in milliseconds since 1970
 * @param alike all of its rows; the same object for every question
 */
export function heldIn(hour: number, alike: readonly AlikeRows[], part: Span): HeldRows[] {
  let all = portions.get(alike)
  if (all === undefined) {
    all = piecesOf(hour, { start: hour, end: hour + hourMs }).map(({ start, end }) => ({
      lasting: { start, end },
      alike: () => rowsBetween(alike, start, end),
    }))
    portions.set(alike, all)
  }
  return piecesOf(hour, part).map(({ nth, isWhole, start, end }) => {
    const portion = all[nth]!
    if (isWhole) return portion
    const some = rowsBetween(rowsDivided(alike, portion.lasting!), start, end)
    return { alike: () => some }
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

function rowsDivided(alike: readonly AlikeRows[], { start, end }: Span): readonly AlikeRows[] {
  const known = divided.get(alike)
  if (known?.start === start) return known.alike
  const some = rowsBetween(alike, start, end)
  divided.set(alike, { start, alike: some })
  return some
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
  const isWanted = (path: string) => paths === undefined || paths.includes(path)
  const runs: Run[] = []
  const passing: AlikeRows[] = []
  for (const portion of held) {
    const { lasting } = portion
    const bucket = lasting && bucketOf?.(lasting.start)
    if (lasting === undefined || bucket !== bucketOf?.(lasting.end - 1)) {
      passing.push(...portion.alike().filter(({ path }) => isWanted(path)))
      continue
    }
    const last = runs.at(-1)
    if (last?.end === lasting.start && last.bucket === bucket) {
      last.portions.push(portion)
      last.end = lasting.end
    } else {
      runs.push({ portions: [portion], end: lasting.end, bucket })
    }
  }
  const counted = runs.flatMap((run) => countRun(table, run, columns))
  return {
    lasting: paths === undefined ? counted : counted.filter(({ keys }) => isWanted(String(keys['path']))),
    passing: rowsCounted(table, passing, columns, bucketOf),
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
  { alike }: HeldRows,
  columns: readonly string[],
  bucket: number | undefined,
): AggregateRow[] {
  const rows = rowsCounted(table, alike(), columns, bucket === undefined ? undefined : () => bucket)
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
