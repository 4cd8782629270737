/** Web vitals: of a range, of each of its buckets, and of its busiest pages. */
import { type VitalName, vitalNames, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Composition, cellsOf, divideAtOpen } from './composition.ts'
import { edgesOf } from './counts.ts'
import type { BusyPage } from './pages.ts'
import type { Reader } from './span.ts'
import { isLasting, unitedSql } from './united.ts'

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

/** Values are in millionths. A set of buckets of values gives each percentile within half a per cent. */
const percentiles = (...levels: number[]) =>
  `arrayMap(value -> value / 1e6, quantilesExactWeightedInterpolated(${levels.join(', ')})(value, toUInt64(amount)))`

export interface RangeVitals {
  readonly total: ReadonlyMap<VitalName, VitalTotals>
  /** One for each bucket, in order. */
  readonly series: readonly VitalPoint[]
}

/** Percentiles of the range, samples and p75 of each bucket: apart, because most buckets can be remembered. */
export async function readVitals(
  ch: Reader,
  composition: Composition,
  buckets: readonly Bucket[],
): Promise<RangeVitals> {
  const [{ total }, ...parts] = await Promise.all([
    readPercentiles(ch, composition, []),
    ...divideAtOpen(composition, buckets).map((part) => readPercentiles(ch, part.composition, part.buckets)),
  ])
  return { total, series: parts.flatMap(({ series }) => series) }
}

/** Of each bucket, or, where there are none, of the range. */
async function readPercentiles(ch: Reader, composition: Composition, buckets: readonly Bucket[]): Promise<RangeVitals> {
  const cells = cellsOf(composition, { name: 'vitals', edges: edgesOf(buckets) })
  const united = unitedSql(aggregateTables.agg_vitals, cells, {
    columns: ['samples'],
    bucket: buckets.length === 0 ? 0 : buckets.map(({ start }) => start),
  })
  const levels = buckets.length === 0 ? [0.75, 0.9, 0.99] : [0.75]
  const rows = await ch.query<VitalTotals & { metric: VitalName; bucket: number }>(
    `SELECT toString(metric) AS metric, bucket, sum(amount) AS count, ${percentiles(...levels)} AS p,
       p[1] AS p75, p[2] AS p90, p[3] AS p99
     FROM (SELECT metric, value, bucket, sum(samples) AS amount FROM ${united.sql} GROUP BY metric, value, bucket)
     GROUP BY metric, bucket`,
    united.params,
    { isLasting: isLasting(cells) },
  )
  const byBucket = new Map(buckets.map((bucket) => [bucket.start, new Map<VitalName, VitalSample>()]))
  const total = new Map<VitalName, VitalTotals>()
  for (const row of rows) (buckets.length === 0 ? total : byBucket.get(row.bucket))?.set(row.metric, row)
  return { total, series: [...byBucket.values()] }
}

/** Of pages, in their order. */
export async function readPageVitals(
  ch: Reader,
  composition: Composition,
  busiest: readonly BusyPage[],
): Promise<PageVitals[]> {
  if (busiest.length === 0) return []
  const cells = cellsOf(composition, { name: 'vitals' })
  const united = unitedSql(aggregateTables.agg_page_vitals, cells, {
    columns: ['samples'],
    where: 'path IN {paths:Array(String)}',
  })
  const threshold = (of: string) => `transform(metric, {names:Array(String)}, {${of}:Array(UInt64)}, toUInt64(0))`
  const rows = await ch.query<PageVital & { path: string; metric: VitalName }>(
    `SELECT path, metric, sum(amount) AS count, ${percentiles(0.75, 0.9)} AS p, p[1] AS p75, p[2] AS p90,
       sumIf(amount, value <= ${threshold('good')}) AS good, sumIf(amount, value > ${threshold('poor')}) AS poor
     FROM (SELECT path, toString(metric) AS metric, value, sum(samples) AS amount FROM ${united.sql} GROUP BY path, metric, value)
     GROUP BY path, metric`,
    {
      ...united.params,
      paths: busiest.map(({ path }) => path),
      names: vitalNames,
      good: vitalNames.map((name) => Math.round(vitals[name].good * 1e6)),
      poor: vitalNames.map((name) => Math.round(vitals[name].poor * 1e6)),
    },
    { isLasting: isLasting(cells) },
  )
  return busiest.map((page) => ({
    ...page,
    metrics: new Map(rows.filter(({ path }) => path === page.path).map((row) => [row.metric, row])),
  }))
}
