/** Web vitals: of a range, of each of its buckets, and of its busiest pages. */
import { type VitalName, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import type { AggregateKeys, MergedRows } from '../../aggregates/aggregate-rows.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Cells, type Composition, cellsOf } from './composition.ts'
import { type BusyPage, pathsOf } from './pages.ts'
import { type BucketPart, generationsIn, readSeries } from './series.ts'
import type { Reader } from './span.ts'
import { type RowParts, readParts, type UnitedOptions, unitedSql } from './united.ts'

export interface VitalSample {
  readonly count: number
  readonly p75: number
}

export interface VitalTotals extends VitalSample {
  readonly p90: number
  readonly p99: number
}

/** What has no samples isn't listed. */
export type VitalPoint = ReadonlyMap<VitalName, VitalSample>

export interface PageVital extends VitalSample {
  readonly p90: number
  readonly good: number
  readonly poor: number
}

export interface PageVitals {
  readonly path: string
  readonly pageviews: number
  readonly metrics: ReadonlyMap<VitalName, PageVital>
}

export interface RangeVitals {
  readonly total: ReadonlyMap<VitalName, VitalTotals>
  /** One for each bucket, in order. */
  readonly series: readonly VitalPoint[]
}

const table = aggregateTables.agg_vitals
/** The values of a table's rows are in millionths. */
const millionths = 1e6

/** Percentiles of the range, samples and p75 of each bucket. */
export async function readVitals(
  ch: Reader,
  composition: Composition,
  buckets: readonly Bucket[],
): Promise<RangeVitals> {
  const { total, closed, open, names } = await readSeries(ch, table, composition, buckets, {
    columns: ['samples'],
    readClosed: (cells, options, part) => readClosed(ch, cells, options, part),
  })
  const points = new Map(names.map((name) => [name, new Map<VitalName, VitalSample>()]))
  for (const sample of closed) points.get(sample.bucket)?.set(sample.metric, sample)
  for (const [name, values] of distributionsOf(open, ({ bucket, metric }) => `${bucket} ${metric}`)) {
    const [bucket, metric] = name.split(' ') as [string, VitalName]
    points.get(Number(bucket))?.set(metric, { count: countOf(values), p75: percentiles(values, [0.75])[0]! })
  }
  const totals = new Map<VitalName, VitalTotals>()
  for (const [metric, values] of distributionsOf(total, ({ metric }) => `${metric}`)) {
    const [p75, p90, p99] = percentiles(values, [0.75, 0.9, 0.99])
    totals.set(metric as VitalName, { count: countOf(values), p75: p75!, p90: p90!, p99: p99! })
  }
  return { total: totals, series: [...points.values()] }
}

async function readClosed(
  ch: Reader,
  cells: Cells,
  options: UnitedOptions,
  { composition }: BucketPart,
): Promise<(VitalSample & { readonly metric: VitalName; readonly bucket: number })[]> {
  const united = unitedSql(table, cells, options)
  if (united === undefined) return []
  return ch.query(
    `SELECT metric, bucket, sum(amount) AS count, quantileExactWeightedInterpolated(0.75)(value, toUInt64(amount)) / ${millionths} AS p75
     FROM (SELECT toString(metric) AS metric, value, bucket, sum(samples) AS amount FROM ${united.sql} GROUP BY metric, value, bucket)
     GROUP BY metric, bucket`,
    { ...united.params, vitals_generations: generationsIn(composition) },
    { isLasting: true },
  )
}

/** Of pages, in their order. */
export async function readPageVitals(
  ch: Reader,
  composition: Composition,
  busiest: readonly BusyPage[],
): Promise<PageVitals[]> {
  if (busiest.length === 0) return []
  const parts = await readParts(ch, aggregateTables.agg_page_vitals, cellsOf(composition, { name: 'vitals' }), {
    columns: ['samples'],
    paths: pathsOf(busiest),
  })
  const metricsOf = new Map(busiest.map(({ path }) => [path, new Map<VitalName, PageVital>()]))
  for (const [name, values] of distributionsOf(parts, ({ metric, path }) => `${metric} ${path}`)) {
    const metric = name.slice(0, name.indexOf(' ')) as VitalName
    const [p75, p90] = percentiles(values, [0.75, 0.9])
    const { good, poor } = vitals[metric]
    metricsOf.get(name.slice(metric.length + 1))?.set(metric, {
      count: countOf(values),
      p75: p75!,
      p90: p90!,
      good: countOf(values.filter(({ value }) => value <= good)),
      poor: countOf(values.filter(({ value }) => value > poor)),
    })
  }
  return busiest.map((page) => ({ ...page, metrics: metricsOf.get(page.path)! }))
}

/** How often a value occurs. */
interface Weighted {
  readonly value: number
  readonly weight: number
}

type NameOf = (keys: AggregateKeys) => string

const distributions = new WeakMap<MergedRows, ReadonlyMap<string, readonly Weighted[]>>()

/** Of the rows of each name, the values that occur, in ascending order. Rows are asked for one kind of names only. */
function distributionsOf({ lasting, passing }: RowParts, nameOf: NameOf): Map<string, readonly Weighted[]> {
  const known =
    distributions.get(lasting) ??
    gather(
      lasting.all.map((row) => [row.keys, row.sum('samples')]),
      nameOf,
    )
  distributions.set(lasting, known)
  const merged = new Map(known)
  const added = gather(
    passing.map(({ keys, values }) => [keys, values['samples'] as number]),
    nameOf,
  )
  for (const [name, values] of added) merged.set(name, mergeAscending(merged.get(name) ?? [], values))
  return merged
}

function gather(rows: readonly (readonly [AggregateKeys, samples: number])[], nameOf: NameOf): Map<string, Weighted[]> {
  const found = new Map<string, Map<number, number>>()
  for (const [keys, samples] of rows) {
    const name = nameOf(keys)
    const value = (keys['value'] as number) / millionths
    const weights = found.get(name) ?? new Map<number, number>()
    weights.set(value, (weights.get(value) ?? 0) + samples)
    found.set(name, weights)
  }
  const ascending = (weights: Map<number, number>) =>
    [...weights]
      .map(([value, weight]) => ({ value, weight }))
      .filter(({ weight }) => weight > 0)
      .sort((one, other) => one.value - other.value)
  return new Map(
    [...found].map(([name, weights]) => [name, ascending(weights)] as const).filter(([, values]) => values.length > 0),
  )
}

/** Both in ascending order, each value once. */
function mergeAscending(one: readonly Weighted[], other: readonly Weighted[]): Weighted[] {
  const merged: Weighted[] = []
  let [at, there] = [0, 0]
  while (at < one.length || there < other.length) {
    const [left, right] = [one[at], other[there]]
    const value = Math.min(left?.value ?? Number.POSITIVE_INFINITY, right?.value ?? Number.POSITIVE_INFINITY)
    let weight = 0
    if (left?.value === value) {
      weight += left.weight
      at++
    }
    if (right?.value === value) {
      weight += right.weight
      there++
    }
    merged.push({ value, weight })
  }
  return merged
}

function countOf(values: readonly Weighted[]): number {
  return values.reduce((sum, { weight }) => sum + weight, 0)
}

/** Interpolated between the samples on both sides of a level's place, as `quantileExactWeightedInterpolated` does. */
export function percentiles(values: readonly Weighted[], levels: readonly number[]): number[] {
  const count = countOf(values)
  return levels.map((level) => {
    const place = (count - 1) * level
    const below = valueAt(values, Math.floor(place))
    return below + (valueAt(values, Math.ceil(place)) - below) * (place - Math.floor(place))
  })
}

/** The value of the sample with so many before it. */
function valueAt(values: readonly Weighted[], place: number): number {
  let before = 0
  for (const { value, weight } of values) {
    before += weight
    if (place < before) return value
  }
  return Number.NaN
}
