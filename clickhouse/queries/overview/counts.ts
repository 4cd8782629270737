/** Counts of distinct ids and events: of a range, and of each of its buckets. */
import type { Bucket } from '../../../schemas/time-range.ts'
import { bucketStart, inRange, type ReadableSpan, type Reader, spanParams } from './span.ts'

export interface Counts {
  readonly visitors: number
  readonly sessions: number
  readonly pageviews: number
  readonly events: number
  readonly conversions: number
  /** Visitors with a conversion. */
  readonly converting: number
}

export interface CountsAndSeries {
  readonly total: Counts
  /** One for each bucket, in order. */
  readonly series: readonly Counts[]
}

interface BucketRow extends Counts {
  readonly is_total: number
  readonly bucket: number
}

const noCounts: Counts = { visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 0, converting: 0 }

const countColumns = `
  uniqExactIf(visitor, visitor != 0) AS visitors,
  uniqExactIf(session, visitor != 0) AS sessions,
  countIf(kind = 'pageview') AS pageviews,
  count() AS events,
  countIf(kind = 'conversion') AS conversions,
  uniqExactIf(visitor, kind = 'conversion' AND visitor != 0) AS converting`

export async function readCounts(ch: Reader, span: ReadableSpan): Promise<Counts> {
  const [row] = await ch.query<Counts>(`SELECT ${countColumns} FROM events WHERE ${inRange}`, spanParams(span))
  return row ?? noCounts
}

/** One pass over the rows: the total's distinct ids are united from those of the buckets. */
export async function readSeries(ch: Reader, span: ReadableSpan, buckets: readonly Bucket[]): Promise<CountsAndSeries> {
  const rows = await ch.query<BucketRow>(
    `SELECT grouping(bucket) AS is_total, bucket, ${countColumns}
     FROM (SELECT ${bucketStart} AS bucket, visitor, session, kind FROM events WHERE ${inRange})
     GROUP BY bucket WITH ROLLUP`,
    { ...spanParams(span), bucket_starts: buckets.map((bucket) => bucket.start) },
  )
  const byBucket = new Map(rows.filter((row) => row.is_total === 0).map((row) => [row.bucket, row]))
  return {
    total: rows.find((row) => row.is_total === 1) ?? noCounts,
    series: buckets.map((bucket) => byBucket.get(bucket.start) ?? noCounts),
  }
}
