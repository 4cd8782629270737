/** Web vitals: of a range, of each of its buckets, and of its busiest pages. */
import { type VitalName, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import type { MergedRow } from '../../aggregates/aggregate-rows.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Cells, type Composition, cellsOf } from './composition.ts'
import { type BusyPage, pathsOf } from './pages.ts'
import { type BucketPart, generationsIn, readSeries } from './series.ts'
import type { Reader } from './span.ts'
import { mergeParts, readParts, type UnitedOptions, unitedSql } from './united.ts'

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
  for (const row of mergeParts(open).all) {
    points.get(row.number('bucket'))?.set(metricOf(row), sampleOf(row))
  }
  const totals = mergeParts(total).all.map((row) => [metricOf(row), totalsOf(row)] as const)
  return { total: new Map(totals), series: [...points.values()] }
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
  for (const row of mergeParts(parts).all) metricsOf.get(row.text('path'))?.set(metricOf(row), pageVitalOf(row))
  return busiest.map((page) => ({ ...page, metrics: metricsOf.get(page.path)! }))
}

function metricOf(row: MergedRow): VitalName {
  return row.text('metric') as VitalName
}

function sampleOf(row: MergedRow): VitalSample {
  return { count: row.distribution('samples').count, p75: quantile(row, 0.75) }
}

function totalsOf(row: MergedRow): VitalTotals {
  return { ...sampleOf(row), p90: quantile(row, 0.9), p99: quantile(row, 0.99) }
}

function pageVitalOf(row: MergedRow): PageVital {
  const samples = row.distribution('samples')
  const { good, poor } = vitals[metricOf(row)]
  return {
    ...sampleOf(row),
    p90: quantile(row, 0.9),
    good: samples.countUpTo(good * millionths),
    poor: samples.count - samples.countUpTo(poor * millionths),
  }
}

function quantile(row: MergedRow, level: number): number {
  return row.distribution('samples').quantile(level) / millionths
}
