/** Counts of distinct ids and events, and totals of web vitals: of a range, and of each of its buckets. */
import { type VitalName, vitalNames } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket } from '../../../schemas/time-range.ts'
import type { MergedRow } from '../../aggregates/aggregate-rows.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Cells, type Composition, cellsOf } from './composition.ts'
import { type BucketPart, generationsIn, readSeries } from './series.ts'
import type { Reader } from './span.ts'
import { mergeParts, readUnited, shown, type UnitedOptions, unitedSql } from './united.ts'

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

const noCounts: Counts = { visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 0, converting: 0 }
const names = Object.keys(noCounts) as (keyof Counts)[]
const columnOf: Readonly<Record<VitalName, string>> = { FCP: 'fcp', LCP: 'lcp', INP: 'inp', CLS: 'cls' }
const vitalColumns = vitalNames.flatMap((metric) => [`${columnOf[metric]}_total`, `${columnOf[metric]}_latest`])
const table = aggregateTables.agg_traffic
const countList = names.map((name) => `${shown(table, name)} AS ${name}`).join(', ')

export async function readCounts(
  ch: Reader,
  composition: Composition,
  buckets: readonly Bucket[],
): Promise<RangeCounts> {
  const {
    total,
    closed,
    open,
    names: bucketNames,
  } = await readSeries(ch, table, composition, buckets, {
    columns: [...names, ...vitalColumns],
    readClosed: (cells, options, part) => readClosed(ch, cells, { ...options, columns: names }, part),
  })
  const [row] = mergeParts(total).all
  const byBucket = new Map([
    ...closed,
    ...mergeParts(open).all.map((row) => [row.number('bucket'), countsOf(row)] as const),
  ])
  return {
    total: countsOf(row),
    series: bucketNames.map((name) => byBucket.get(name) ?? noCounts),
    vitals: row === undefined ? new Map() : vitalSumsOf(row),
  }
}

/** The counts of a range alone. */
export async function readTotals(ch: Reader, composition: Composition): Promise<Counts> {
  const { all } = await readUnited(ch, table, cellsOf(composition, { name: 'range' }), { columns: names })
  return countsOf(all[0])
}

async function readClosed(
  ch: Reader,
  cells: Cells,
  options: UnitedOptions,
  { composition }: BucketPart,
): Promise<(readonly [bucket: number, Counts])[]> {
  const united = unitedSql(table, cells, options)
  if (united === undefined) return []
  const rows = await ch.query<Counts & { bucket: number }>(
    `SELECT bucket, ${countList} FROM ${united.sql} GROUP BY bucket`,
    { ...united.params, series_generations: generationsIn(composition) },
    { isLasting: true },
  )
  return rows.map((row) => [row.bucket, row])
}

function countsOf(row: MergedRow | undefined): Counts {
  if (row === undefined) return noCounts
  return {
    visitors: row.count('visitors'),
    sessions: row.count('sessions'),
    pageviews: row.sum('pageviews'),
    events: row.sum('events'),
    conversions: row.sum('conversions'),
    converting: row.count('converting'),
  }
}

function vitalSumsOf(row: MergedRow): VitalSums {
  const sums = new Map<VitalName, { total: number; latest: number }>()
  for (const metric of vitalNames) {
    const [, id, latest] = row.newest(`${columnOf[metric]}_latest`)
    if (id !== 0) sums.set(metric, { total: row.sum(`${columnOf[metric]}_total`), latest: Number(latest) })
  }
  return sums
}
