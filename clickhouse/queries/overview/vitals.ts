/** Web vitals: of a range, of each of its buckets, and of its busiest pages. */
import { type VitalName, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import type { MergedRow, MergedRows } from '../../aggregates/aggregate-rows.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Cells, type Composition, cellsOf } from './composition.ts'
import type { BusyPage } from './pages.ts'
import { type BucketPart, generationsIn, readSeries } from './series.ts'
import type { Reader } from './span.ts'
import { readUnited, type UnitedOptions, unitedSql } from './united.ts'

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
  const { total, closed, open } = await readSeries(ch, table, composition, buckets, {
    columns: ['samples'],
    readClosed: (cells, options, part) => readClosed(ch, cells, options, part),
  })
  const points = new Map(buckets.map(({ start }) => [start, new Map<VitalName, VitalSample>()]))
  for (const sample of closed) points.get(sample.bucket)?.set(sample.metric, sample)
  for (const [name, values] of distributionsOf(open, (row) => `${row.number('bucket')} ${row.text('metric')}`)) {
    const [start, metric] = name.split(' ') as [string, VitalName]
    points.get(Number(start))?.set(metric, { count: countOf(values), p75: percentiles(values, [0.75])[0]! })
  }
  const totals = new Map<VitalName, VitalTotals>()
  for (const [metric, values] of distributionsOf(total, (row) => row.text('metric'))) {
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
  const united = await readUnited(ch, aggregateTables.agg_page_vitals, cellsOf(composition, { name: 'vitals' }), {
    columns: ['samples'],
    paths: busiest.map(({ path }) => path),
  })
  const metricsOf = new Map(busiest.map(({ path }) => [path, new Map<VitalName, PageVital>()]))
  for (const [name, values] of distributionsOf(united, (row) => `${row.text('metric')} ${row.text('path')}`)) {
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

const distributions = new WeakMap<MergedRows, Map<string, Weighted[]>>()

/** Of the rows of each name, the values that occur at all, in ascending order. Rows are asked for one kind of names only. */
function distributionsOf(rows: MergedRows, nameOf: (row: MergedRow) => string): Map<string, Weighted[]> {
  const known = distributions.get(rows)
  if (known !== undefined) return known
  const found = new Map<string, Weighted[]>()
  for (const row of rows.all) {
    const weight = row.sum('samples')
    if (weight <= 0) continue
    const name = nameOf(row)
    const weighted = { value: row.number('value') / millionths, weight }
    const values = found.get(name)
    if (values === undefined) found.set(name, [weighted])
    else values.push(weighted)
  }
  for (const values of found.values()) values.sort((one, other) => one.value - other.value)
  distributions.set(rows, found)
  return found
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
