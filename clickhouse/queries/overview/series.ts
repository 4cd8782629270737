/**
 * Rows of a range and of its buckets. Those that nothing changes any more are asked for once, and what they come to is
 * remembered; of the open ones all rows are read, which then also count for the range.
 */
import type { Bucket } from '../../../schemas/time-range.ts'
import { type AggregateRow, aggregateRow, MergedRows } from '../../aggregates/aggregate-rows.ts'
import { hourMs } from '../../aggregates/row-scope.ts'
import type { AggregateTable } from '../../aggregates/tables.ts'
import { type Cells, type Composition, cellsOf, dayOf, hourOf } from './composition.ts'
import type { Reader } from './span.ts'
import { type RowParts, readParts, type UnitedOptions } from './united.ts'

export interface SeriesOptions<Closed> {
  readonly columns: readonly string[]
  /** Reads what closed buckets come to. */
  readonly readClosed: (cells: Cells, options: UnitedOptions, part: BucketPart) => Promise<readonly Closed[]>
}

export interface SeriesRows<Closed> {
  readonly total: MergedRows
  readonly closed: readonly Closed[]
  /** With the key `bucket`: the begin of each. */
  readonly open: MergedRows
}

export async function readSeries<Closed>(
  ch: Reader,
  table: AggregateTable,
  composition: Composition,
  buckets: readonly Bucket[],
  { columns, readClosed }: SeriesOptions<Closed>,
): Promise<SeriesRows<Closed>> {
  const parts = divideAtOpen(composition, buckets)
  const optionsOf = (part: BucketPart) => ({ columns, buckets: part.buckets.map(({ start }) => start) })
  const cellsIn = (part: BucketPart) => {
    const edges = part.buckets.slice(1).map(({ start }) => start)
    return cellsOf(part.composition, { name: 'series', edges })
  }
  const readOpen = (part: BucketPart) => readParts(ch, table, cellsIn(part), optionsOf(part))
  const last = parts.at(-1)
  const isShared = last !== undefined && !last.isClosed && parts.length > 1 && last.composition.from % hourMs === 0
  const [rest, open, ofLast, closed] = await Promise.all([
    readParts(ch, table, cellsOf(isShared ? before(composition, last) : composition, { name: 'range' }), { columns }),
    Promise.all(parts.filter((part) => !part.isClosed && part !== last).map(readOpen)),
    last?.isClosed === false ? readOpen(last) : undefined,
    Promise.all(
      parts.filter(({ isClosed }) => isClosed).map((part) => readClosed(cellsIn(part), optionsOf(part), part)),
    ),
  ])
  const opened = ofLast === undefined ? open : [ofLast, ...open]
  const [first, ...others] = opened
  const total = isShared && ofLast ? joinBuckets(rest, ofLast) : rest
  return {
    total: total.lasting.with(total.passing),
    closed: closed.flat(),
    open: first === undefined ? new MergedRows([]) : first.lasting.with([...first.passing, ...others.flatMap(rowsOf)]),
  }
}

function rowsOf({ lasting, passing }: RowParts): AggregateRow[] {
  return [...lasting.parts, ...passing]
}

/** What the rest of a range and its last buckets came to together, by the rest. */
const joins = new WeakMap<MergedRows, { last: MergedRows; joined: MergedRows }>()

/** The rest of a range and its last buckets, as one. */
function joinBuckets(rest: RowParts, last: RowParts): RowParts {
  const known = joins.get(rest.lasting)
  const joined = known?.last === last.lasting ? known.joined : rest.lasting.with(withoutBucket(last.lasting.parts))
  joins.set(rest.lasting, { last: last.lasting, joined })
  return { lasting: joined, passing: [...rest.passing, ...withoutBucket(last.passing)] }
}

function withoutBucket(rows: readonly AggregateRow[]): AggregateRow[] {
  return rows.map(({ keys: { bucket: _, ...keys }, values }) => aggregateRow(keys, values))
}

/** What of a range lies before some of its last buckets. */
function before(composition: Composition, { composition: { from } }: BucketPart): Composition {
  const { start, end } = composition.hours
  const hours = { start, end: Math.max(start, Math.min(end, from / hourMs)) }
  return { ...composition, to: from, hours }
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
    const { pending, edges } = isClosed ? { pending: undefined, edges: undefined } : composition
    return [
      {
        composition: { ...composition, from, to, hours: { start, end: Math.max(start, end) }, pending, edges },
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
  const last = dayOf(hourOf(to - 1))
  return snapshot.generations.filter(({ day }) => day >= first && day <= last).map(({ generation }) => generation)
}
