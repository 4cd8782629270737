/** Web vitals: of a range, of each of its buckets, and of its busiest pages. */
import { type VitalName, vitalNames, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import { bucketStart, inRange, type ReadableSpan, type Reader, spanParams } from './span.ts'

export interface VitalSample {
  readonly count: number
  readonly p75: number
}

export interface VitalTotals extends VitalSample {
  readonly latest: number
  readonly average: number
  readonly p90: number
  readonly p99: number
}

/** What has no samples isn't listed. */
export interface VitalFigures {
  readonly total: ReadonlyMap<VitalName, VitalTotals>
  /** One for each bucket, in order. */
  readonly series: readonly ReadonlyMap<VitalName, VitalSample>[]
}

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

const isSample = "kind = 'web_vital' AND metric != 'none'"

export async function readVitals(ch: Reader, span: ReadableSpan, buckets: readonly Bucket[]): Promise<VitalFigures> {
  const rows = await ch.query<VitalTotals & { is_total: number; metric: VitalName; bucket: number }>(
    `SELECT grouping(bucket) AS is_total, toString(metric) AS metric, bucket,
       count() AS count,
       argMax(metric_value, (occurred_at, id)) AS latest,
       avg(metric_value) AS average,
       quantilesExactInclusive(0.75, 0.9, 0.99)(metric_value) AS percentiles,
       percentiles[1] AS p75, percentiles[2] AS p90, percentiles[3] AS p99
     FROM (SELECT ${bucketStart} AS bucket, metric, metric_value, occurred_at, id FROM events
           WHERE ${inRange} AND ${isSample})
     GROUP BY GROUPING SETS ((metric), (metric, bucket))`,
    { ...spanParams(span), bucket_starts: buckets.map((bucket) => bucket.start) },
  )
  const byBucket = new Map(buckets.map((bucket) => [bucket.start, new Map<VitalName, VitalSample>()]))
  const total = new Map<VitalName, VitalTotals>()
  for (const row of rows) (row.is_total === 1 ? total : byBucket.get(row.bucket))?.set(row.metric, row)
  return { total, series: [...byBucket.values()] }
}

/** The `limit` paths with samples that have most pageviews in range, in that order. */
export async function readPageVitals(ch: Reader, span: ReadableSpan, limit: number): Promise<PageVitals[]> {
  const rows = await ch.query<PageVital & { path: string; metric: VitalName | 'none'; page_pageviews: number }>(
    `SELECT path, if(kind = 'pageview', 'none', toString(metric)) AS metric,
       count() AS count,
       quantilesExactInclusive(0.75, 0.9)(metric_value) AS percentiles,
       percentiles[1] AS p75, percentiles[2] AS p90,
       countIf(metric_value <= transform(metric, {names:Array(String)}, {good:Array(Float64)}, 0.)) AS good,
       countIf(metric_value > transform(metric, {names:Array(String)}, {poor:Array(Float64)}, 0.)) AS poor,
       sum(countIf(kind = 'pageview')) OVER (PARTITION BY path) AS page_pageviews
     FROM events
     WHERE ${inRange} AND (kind = 'pageview' OR ${isSample}) AND path IN (
       SELECT path FROM events WHERE ${inRange} AND (kind = 'pageview' OR ${isSample})
       GROUP BY path HAVING countIf(kind = 'web_vital') > 0
       ORDER BY countIf(kind = 'pageview') DESC, path LIMIT {limit:UInt32})
     GROUP BY path, metric
     ORDER BY page_pageviews DESC, path`,
    {
      ...spanParams(span),
      limit,
      names: vitalNames,
      good: vitalNames.map((name) => vitals[name].good),
      poor: vitalNames.map((name) => vitals[name].poor),
    },
  )
  const pages = new Map<string, { path: string; pageviews: number; metrics: Map<VitalName, PageVital> }>()
  for (const { path, metric, page_pageviews, ...vital } of rows) {
    const page = pages.get(path) ?? { path, pageviews: page_pageviews, metrics: new Map() }
    pages.set(path, page)
    if (metric !== 'none') page.metrics.set(metric, vital)
  }
  return [...pages.values()]
}
