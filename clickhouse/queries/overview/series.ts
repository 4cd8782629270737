/**
 * Rows of a range and of its buckets. Those that nothing changes any more are asked for once, and what they come to is
 * remembered; of the open ones all rows are read, which then also count for the range.
 */
import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { type AggregateRow, aggregateRow, MergedRows } from '../../aggregates/aggregate-rows.ts'
import type { AggregateTable } from '../../aggregates/tables.ts'
import { dayHours, dayOf, hourOf, isFresh } from './aggregated-cells.ts'
import { type Cells, type Composition, cellsOf } from './composition.ts'
import type { Reader } from './span.ts'
import { type RowParts, readParts, type UnitedOptions } from './united.ts'

export interface SeriesOptions<Closed> {
  readonly columns: readonly string[]
  /** Reads what closed buckets come to. */
  readonly readClosed: (cells: Cells, options: UnitedOptions, part: BucketPart) => Promise<readonly Closed[]>
}

export interface SeriesRows<Closed> {
  readonly total: RowParts
  readonly closed: readonly Closed[]
  /** With the key `bucket`: the name of each. */
  readonly open: RowParts
  /** Of the buckets, in order. */
  readonly names: readonly number[]
}

export async function readSeries<Closed>(
  ch: Reader,
  table: AggregateTable,
  composition: Composition,
  buckets: readonly Bucket[],
  { columns, readClosed }: SeriesOptions<Closed>,
): Promise<SeriesRows<Closed>> {
  const parts = divideAtOpen(composition, buckets)
  const names = namesOf(buckets)
  const optionsOf = (part: BucketPart) => ({ columns, buckets: part.buckets.map((bucket) => names.get(bucket)!) })
  const cellsIn = (part: BucketPart) => {
    const edges = part.buckets.slice(1).map(({ start }) => start)
    return cellsOf(part.composition, { name: 'series', edges })
  }
  const closed = parts.filter(({ isClosed }) => isClosed)
  const open = parts.filter(({ isClosed }) => !isClosed)
  // Their rows count for the range too, where whole hours lie between them.
  const shared = closed.length === 0 ? [] : open.filter((part) => isAlignedTo(part, closed))
  const [rest, rows, ofClosed] = await Promise.all([
    readParts(ch, table, cellsOf(between(composition, shared), { name: 'range' }), { columns }),
    Promise.all(open.map((part) => readParts(ch, table, cellsIn(part), optionsOf(part)))),
    Promise.all(closed.map((part) => readClosed(cellsIn(part), optionsOf(part), part))),
  ])
  const [largest, ...others] = rows.toReversed()
  return {
    total: joinBuckets(
      rest,
      rows.filter((_, at) => shared.includes(open[at]!)),
    ),
    names: [...names.values()],
    closed: ofClosed.flat(),
    open: {
      lasting: largest?.lasting ?? new MergedRows([]),
      passing: [
        ...(largest?.passing ?? []),
        ...others.flatMap(({ lasting, passing }) => [...lasting.rows, ...passing]),
      ],
    },
  }
}

/**
 * What rows call buckets: by their begins, but the first by the begin of its hour. Nothing lies between, and it is the same
 * for all ranges that begin in that hour.
 */
function namesOf(buckets: readonly Bucket[]): Map<Bucket, number> {
  return new Map(buckets.map((bucket, at) => [bucket, at === 0 ? hourOf(bucket.start) * hourMs : bucket.start]))
}

/** What the rest of a range and its open buckets came to together, by the rest. */
const joins = new WeakMap<MergedRows, { buckets: readonly MergedRows[]; joined: MergedRows }>()

/** The rest of a range and its open buckets, as one. */
function joinBuckets(rest: RowParts, buckets: readonly RowParts[]): RowParts {
  const known = joins.get(rest.lasting)
  const isSame =
    known?.buckets.length === buckets.length && buckets.every(({ lasting }, at) => lasting === known.buckets[at])
  const joined = isSame
    ? known.joined
    : rest.lasting.with(buckets.flatMap(({ lasting }) => withoutBucket(lasting.rows)))
  joins.set(rest.lasting, { buckets: buckets.map(({ lasting }) => lasting), joined })
  return { lasting: joined, passing: [...rest.passing, ...buckets.flatMap(({ passing }) => withoutBucket(passing))] }
}

function withoutBucket(rows: readonly AggregateRow[]): AggregateRow[] {
  return rows.map(({ keys: { bucket: _, ...keys }, values }) => aggregateRow(keys, values))
}

/** Whether a part meets the closed ones at a whole hour. */
function isAlignedTo({ composition: { from, to } }: BucketPart, closed: readonly BucketPart[]): boolean {
  const start = closed[0]!.composition.from
  return (to <= start ? to : from) % hourMs === 0
}

/** What of a range lies between the parts that are its first and its last buckets, or the one of both that is given. */
function between(composition: Composition, ends: readonly BucketPart[]): Composition {
  const isFirst = ({ composition: part }: BucketPart) => part.from === composition.from
  const from = ends.find(isFirst)?.composition.to ?? composition.from
  const to = ends.find((part) => !isFirst(part))?.composition.from ?? composition.to
  const start = Math.max(composition.hours.start, Math.ceil(from / hourMs))
  const end = Math.min(composition.hours.end, Math.ceil(to / hourMs))
  return { ...composition, from, to, hours: { start, end: Math.max(start, end) } }
}

/** Some neighbouring buckets, with the part of the range that they divide. */
export interface BucketPart {
  readonly composition: Composition
  readonly buckets: readonly Bucket[]
  /** Nothing that comes changes them, as long as the aggregates of their days stay what they are. */
  readonly isClosed: boolean
}

/** The buckets that lie where the aggregates are settled and no pending row is, apart from those before and after. */
function divideAtOpen(composition: Composition, buckets: readonly Bucket[]): BucketPart[] {
  const { hours, pending } = composition
  if (hours.start >= hours.end) return [{ composition, buckets, isClosed: false }]
  const firstFresh = Math.min(...freshDaysIn(composition)) * dayHours
  const closedUntil = Math.min(hours.end, pending?.hours.start ?? hours.end, firstFresh) * hourMs
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
export function generationsIn(composition: Composition): number[] {
  return listedIn(composition).map(({ generation }) => generation)
}

function freshDaysIn(composition: Composition): number[] {
  return listedIn(composition)
    .filter(isFresh)
    .map(({ day }) => day)
}

function listedIn({ snapshot, from, to }: Composition): AggregateSnapshot['generations'] {
  const first = dayOf(hourOf(from))
  const last = dayOf(hourOf(to - 1))
  return snapshot.generations.filter(({ day }) => day >= first && day <= last)
}
