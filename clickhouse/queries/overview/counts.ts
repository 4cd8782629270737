/** Counts of distinct ids and events, and totals of web vitals: of a range, and of each of its buckets. */
import type { VitalName } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import { hourMs } from '../../aggregates/row-scope.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Composition, cellsOf } from './composition.ts'
import type { Reader } from './span.ts'
import { shown, unitedSql } from './united.ts'

export interface Counts {
  readonly visitors: number
  readonly sessions: number
  readonly pageviews: number
  readonly events: number
  readonly conversions: number
  /** Visitors with a conversion. */
  readonly converting: number
}

/** Sum and newest value of the samples of each metric that has any. */
export type VitalSums = ReadonlyMap<VitalName, { readonly total: number; readonly latest: number }>

export interface RangeCounts {
  readonly counts: Counts
  readonly vitals: VitalSums
}

const noCounts: Counts = { visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 0, converting: 0 }
const names = Object.keys(noCounts)
const vitalColumns: Readonly<Record<VitalName, string>> = { FCP: 'fcp', LCP: 'lcp', INP: 'inp', CLS: 'cls' }
const table = aggregateTables.agg_traffic
const countList = names.map((name) => `${shown(table, name)} AS ${name}`).join(', ')

export async function readCounts(ch: Reader, composition: Composition): Promise<RangeCounts> {
  const sums = Object.values(vitalColumns)
  const columns = [...names, ...sums.flatMap((name) => [`${name}_total`, `${name}_latest`])]
  const united = unitedSql(table, cellsOf(composition, { name: 'range' }), { columns })
  const latest = (name: string) => `max(${name}_latest) AS newest_${name}, newest_${name}.2 AS ${name}_id`
  const [row] = await ch.query<Counts & Record<string, number>>(
    `SELECT ${countList}, ${sums.map((name) => `sum(${name}_total) AS ${name}_sum, ${latest(name)}, newest_${name}.3 AS ${name}_value`).join(', ')}
     FROM ${united.sql}`,
    united.params,
  )
  if (row === undefined) return { counts: noCounts, vitals: new Map() }
  const vitals = Object.entries(vitalColumns).filter(([, name]) => row[`${name}_id`] !== 0)
  return {
    counts: row,
    vitals: new Map(
      vitals.map(([metric, name]) => [
        metric as VitalName,
        { total: row[`${name}_sum`]!, latest: row[`${name}_value`]! },
      ]),
    ),
  }
}

/** Counts of each bucket, in order. */
export async function readSeries(
  ch: Reader,
  composition: Composition,
  buckets: readonly Bucket[],
): Promise<readonly Counts[]> {
  const cells = cellsOf(composition, { name: 'series', edges: edgesOf(buckets) })
  const united = unitedSql(table, cells, { columns: names, isBucketed: true })
  const rows = await ch.query<Counts & { bucket: number }>(
    `SELECT bucket, ${countList} FROM ${united.sql} GROUP BY bucket`,
    { ...united.params, bucket_starts: buckets.map((bucket) => bucket.start) },
  )
  const byBucket = new Map(rows.map((row) => [row.bucket, row]))
  return buckets.map((bucket) => byBucket.get(bucket.start) ?? noCounts)
}

/** The moments between buckets. */
export function edgesOf(buckets: readonly Bucket[]): number[] {
  return buckets.slice(1).map((bucket) => bucket.start)
}

/** Whether the buckets are made of whole UTC days: then one pass over the days gives the range and its buckets. */
export function areDays(buckets: readonly Bucket[]): boolean {
  return edgesOf(buckets).every((edge) => edge % (24 * hourMs) === 0)
}
