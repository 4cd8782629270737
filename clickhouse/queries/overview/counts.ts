/** Counts of distinct ids and events, and totals of web vitals: of a range, and of each of its buckets. */
import { type VitalName, vitalNames } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Composition, cellsOf, divideAtOpen } from './composition.ts'
import type { Reader } from './span.ts'
import { isLasting, shown, unitedSql } from './united.ts'

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
  readonly total: Counts
  /** One for each bucket, in order. */
  readonly series: readonly Counts[]
  readonly vitals: VitalSums
}

type CountRow = Counts & Record<`${string}_vital`, [number, number, number]>

const noCounts: Counts = { visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 0, converting: 0 }
const names = Object.keys(noCounts)
const columnOf: Readonly<Record<VitalName, string>> = { FCP: 'fcp', LCP: 'lcp', INP: 'inp', CLS: 'cls' }
const vitalColumns = vitalNames.flatMap((metric) => [`${columnOf[metric]}_total`, `${columnOf[metric]}_latest`])
const table = aggregateTables.agg_traffic
const countList = names.map((name) => `${shown(table, name)} AS ${name}`).join(', ')
/** Sum, newest value, and the id that it came with: 0 where there is none. */
const vitalList = vitalNames
  .map((metric) => columnOf[metric])
  .map((name) => `(sum(${name}_total), max(${name}_latest).3, max(${name}_latest).2) AS ${name}_vital`)
  .join(', ')

/** The range from its days, its buckets apart from it: of those most can be remembered. */
export async function readCounts(
  ch: Reader,
  composition: Composition,
  buckets: readonly Bucket[],
): Promise<RangeCounts> {
  const cells = cellsOf(composition, { name: 'range' })
  const united = unitedSql(table, cells, { columns: [...names, ...vitalColumns] })
  const [[total], series] = await Promise.all([
    ch.query<CountRow>(`SELECT ${countList}, ${vitalList} FROM ${united.sql}`, united.params, {
      isLasting: isLasting(cells),
    }),
    readSeries(ch, composition, buckets),
  ])
  return { total: total ?? noCounts, series, vitals: total === undefined ? new Map() : vitalSumsOf(total) }
}

/** The counts of a range alone. */
export async function readTotals(ch: Reader, composition: Composition): Promise<Counts> {
  const cells = cellsOf(composition, { name: 'range' })
  const united = unitedSql(table, cells, { columns: names })
  const [row] = await ch.query<Counts>(`SELECT ${countList} FROM ${united.sql}`, united.params, {
    isLasting: isLasting(cells),
  })
  return row ?? noCounts
}

/** Closed buckets apart from those that still change: they are asked for once. */
async function readSeries(ch: Reader, composition: Composition, buckets: readonly Bucket[]): Promise<Counts[]> {
  const parts = divideAtOpen(composition, buckets)
  const rows = await Promise.all(
    parts.map(({ composition, buckets }) => {
      const cells = cellsOf(composition, { name: 'series', edges: edgesOf(buckets) })
      const united = unitedSql(table, cells, {
        columns: names,
        bucket: buckets.map(({ start }) => start),
      })
      return ch.query<Counts & { bucket: number }>(
        `SELECT bucket, ${countList} FROM ${united.sql} GROUP BY bucket`,
        united.params,
        { isLasting: isLasting(cells) },
      )
    }),
  )
  const byBucket = new Map(rows.flat().map((row) => [row.bucket, row]))
  return buckets.map((bucket) => byBucket.get(bucket.start) ?? noCounts)
}

function vitalSumsOf(row: CountRow): VitalSums {
  const sums = new Map<VitalName, { total: number; latest: number }>()
  for (const metric of vitalNames) {
    const [total, latest, id] = row[`${columnOf[metric]}_vital`]!
    if (id !== 0) sums.set(metric, { total, latest })
  }
  return sums
}

/** The moments between buckets. */
export function edgesOf(buckets: readonly Bucket[]): number[] {
  return buckets.slice(1).map((bucket) => bucket.start)
}
