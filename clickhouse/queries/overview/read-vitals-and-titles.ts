/** Percentiles of web vitals, and the newest titles of pages. */
import { groupBy } from '../../../runtime/lists.ts'
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import { type VitalName, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket, Span } from '../../../schemas/time/time-range.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { cellKinds, cellOfPage } from '../../rollups/appearance.ts'
import { metricNames } from '../../rollups/cells.ts'
import { idsIn, isSample, moment } from '../../rollups/event-sql.ts'
import { vitalUnit, vitalValue } from '../../rollups/round-vital.ts'
import { fewRowsStatement, type Reader } from '../reader.ts'
import type { DaySpan } from './pieces.ts'
import type { PageCounts } from './read-figures.ts'

interface VitalSample {
  readonly count: number
  readonly p75: number
}

interface VitalTotals extends VitalSample {
  readonly p90: number
  readonly p99: number
  readonly latest: number
  readonly average: number
}

/** A metric without samples isn't listed. */
type VitalPoint = ReadonlyMap<VitalName, VitalSample>

interface PageVital extends VitalSample {
  readonly p90: number
  readonly good: number
  readonly poor: number
}

export interface PageVitals {
  readonly path: string
  readonly pageviews: number
  readonly metrics: ReadonlyMap<VitalName, PageVital>
}

export interface Details {
  readonly vitals: {
    readonly total: ReadonlyMap<VitalName, VitalTotals>
    /** One for each bucket, in order. */
    readonly series: readonly VitalPoint[]
  }
  readonly pageVitals: readonly PageVitals[]
  /** By path. */
  readonly titles: ReadonlyMap<string, string>
}

export interface DetailsRequest {
  readonly workspaceId: number
  readonly build: number
  /** Days whose cells are read, but for the stale ones; and the spans that are read from events, in order. */
  readonly days: DaySpan
  readonly staleDays: readonly number[]
  readonly spans: readonly Span[]
  readonly buckets: readonly Bucket[]
  /** Local days in which buckets begin; undefined where they are hours, and `days` is empty. */
  readonly bucketDays: readonly number[] | undefined
  readonly pages: readonly PageCounts[]
  readonly sampledPages: readonly PageCounts[]
  /** Ids of the events that are seen. */
  readonly folded: readonly IdRange[]
  /** Where sessions are chosen: samples of their events alone count, and are read from `events` of a span. */
  readonly chosen: { readonly isCounted: BoundSql; readonly span: Span | undefined } | undefined
}

/** Rows of the whole period have no bucket. */
const wholePeriod = -1
/** Rows of titles have no metric. */
const noMetric = 0
const { all, page } = cellKinds

interface Row {
  readonly kind: number
  readonly key: string
  readonly bucket: number
  readonly metric: number
  readonly count: number
  readonly levels: readonly [p75: number, p90: number, p99: number]
  readonly good: number
  readonly poor: number
  readonly total: number
  readonly latest: number
  readonly title: string
}

export async function readDetails(ch: Reader, request: DetailsRequest): Promise<Details> {
  const { sql, params } = detailsSql(request)
  const rows = await ch.query<Row>(sql, params, { settings: fewRowsStatement })
  const { sampledPages, buckets } = request
  const named = rows.filter(({ metric }) => metric !== noMetric)
  const byBucket = groupBy(
    named.filter(({ kind }) => kind === all),
    ({ bucket }) => bucket,
  )
  const byPage = groupBy(
    named.filter(({ kind }) => kind === page),
    ({ key }) => key,
  )
  return {
    vitals: {
      total: byMetric(byBucket.get(wholePeriod), totalsOf),
      series: buckets.map(({ start }) => byMetric(byBucket.get(start), sampleOf)),
    },
    // Erased events are gone before the figures that list their pages are computed anew.
    pageVitals: sampledPages
      .filter(({ path }) => byPage.has(path))
      .map(({ path, pageviews }) => ({ path, pageviews, metrics: byMetric(byPage.get(path), pageVitalOf) })),
    titles: new Map(rows.filter(({ metric }) => metric === noMetric).map(({ key, title }) => [key, title])),
  }
}

function byMetric<Figures>(rows: readonly Row[] = [], figuresOf: (row: Row) => Figures): Map<VitalName, Figures> {
  return new Map(rows.map((row) => [metricNames.get(row.metric)!, figuresOf(row)]))
}

function detailsSql(request: DetailsRequest): { sql: string; params: Record<string, unknown> } {
  const { workspaceId, build, days, staleDays, spans, buckets, bucketDays, pages, sampledPages, folded, chosen } =
    request
  const seen = idsIn(folded, 'folded')
  const params: Record<string, unknown> = {
    ...seen.params,
    ...chosen?.isCounted.params,
    workspace: workspaceId,
    build,
    from_day: days.from,
    to_day: days.to,
    stale_days: staleDays,
    bucket_starts: buckets.map(({ start }) => start),
    bucket_days: bucketDays ?? [],
    chosen_start: chosen?.span?.start ?? 0,
    chosen_end: chosen?.span?.end ?? 0,
    paths: [...new Set([...pages, ...sampledPages].map(({ path }) => path))],
  }
  for (const [at, { start, end }] of spans.entries()) {
    Object.assign(params, { [`span_from_${at}`]: start, [`span_to_${at}`]: end })
  }
  const within = (from: string, to: string) => `(occurred_at >= ${moment(from)} AND occurred_at < ${moment(to)})`
  const isReached = spans.map((_, at) => within(`span_from_${at}`, `span_to_${at}`)).join(' OR ')
  const isSeen = `workspace_id = {workspace:UInt32} AND ${seen.sql}`
  const [ofCells, ofEvents] = chosen === undefined ? [isEitherCell, isEither] : [isTitledCell, isTitled]
  const parts = [
    ...(days.from <= days.to ? [cellsPart(ofCells)] : []),
    ...(spans.length > 0 ? [eventsPart(`${isSeen} AND (${isReached}) AND ${ofEvents}`)] : []),
  ]
  const statements = [
    ...(parts.length > 0 ? [addedUp(parts)] : []),
    ...(chosen?.span
      ? [
          chosenSamples(
            `${isSeen} AND ${within('chosen_start', 'chosen_end')} AND ${isSample} AND ${chosen.isCounted.sql}`,
          ),
        ]
      : []),
  ]
  return { params, sql: statements.length === 0 ? 'SELECT 0 AS metric WHERE 0' : statements.join(' UNION ALL ') }
}

/** Selects the rows of the answer, from parts of rows as `cells.sample` has them: kind, key, in_bucket, metric, values, counts, total, latest. */
function addedUp(parts: readonly string[]): string {
  const countOf = (which: string) => `sum(arraySum((value, n) -> if(${which}, n, 0), values, counts))`
  return `SELECT kind, key, bucket, metric, sum(arraySum(counts)) AS count,
      ${levelsOf('quantilesExactWeightedInterpolatedArray', 'values, counts')} AS levels,
      ${countOf(`value <= ${limitOf('good')}`)} AS good, ${countOf(`value > ${limitOf('poor')}`)} AS poor,
      sum(part_total) AS total, max(part_latest).3 AS latest, max(part_latest).4 AS title
    FROM (SELECT *, arrayJoin(if(kind = ${all}, [toInt64(${wholePeriod}), in_bucket], [toInt64(${wholePeriod})])) AS bucket
      FROM (${parts.join(' UNION ALL ')}))
    GROUP BY kind, key, bucket, metric`
}

/** Selects the same rows, without titles, from samples: each counts for the period, for its bucket, and for its page if that is listed. */
function chosenSamples(where: string): string {
  return `SELECT toUInt8(if(is_page, ${page}, ${all})) AS kind, listed AS key, if(is_bucket, of_bucket, toInt64(${wholePeriod})) AS bucket,
      metric_ AS metric, samples AS count, levels, good, poor, total, newest AS latest, '' AS title
    FROM (SELECT metric_, of_bucket, is_listed, listed, grouping(of_bucket) = 0 AS is_bucket, grouping(listed) = 0 AS is_page,
        count() AS samples, ${levelsOf('quantilesExactWeightedInterpolated', 'value_, 1')} AS levels,
        countIf(value_ <= ${limitOf('good', 'metric_')}) AS good, countIf(value_ > ${limitOf('poor', 'metric_')}) AS poor,
        sum(metric_value_) AS total, argMax(metric_value_, bitShiftLeft(toUInt128(toUnixTimestamp64Milli(at)), 64) + id) AS newest
      FROM (SELECT path IN {paths:Array(String)} AS is_listed, if(is_listed, toString(path), '') AS listed,
          ${bucketOfEvent} AS of_bucket,
          toUInt8(metric) AS metric_, ${vitalValue} AS value_, toFloat64(metric_value) AS metric_value_, occurred_at AS at, id
        FROM events WHERE ${where})
      GROUP BY GROUPING SETS ((metric_), (metric_, of_bucket), (metric_, is_listed, listed)))
    WHERE NOT is_page OR is_listed`
}

function levelsOf(quantiles: string, samples: string): string {
  return `arrayMap(level -> level / ${vitalUnit}, ${quantiles}(0.75, 0.9, 0.99)(${samples}))`
}

function limitOf(name: 'good' | 'poor', metric = 'metric'): string {
  const limits = [...metricNames.values()].map((of) => Math.round(vitals[of][name] * vitalUnit))
  return `transform(${metric}, [${[...metricNames.keys()].join(', ')}], [${limits.join(', ')}], 0)`
}

const bucketOfDay =
  'toInt64(transform(roundDown(day, {bucket_days:Array(UInt16)}), {bucket_days:Array(UInt16)}, {bucket_starts:Array(Int64)}, toInt64(0)))'

const bucketOfEvent = 'toInt64(roundDown(toUnixTimestamp64Milli(occurred_at), {bucket_starts:Array(Int64)}))'

function cellsPart(which: string): string {
  return `SELECT if(cells.kind = ${all}, ${all}, ${page}) AS kind, key, ${bucketOfDay} AS in_bucket, sample.metric AS metric,
    sample.values AS values, sample.counts AS counts, sample.total AS part_total, sample.latest AS part_latest
  FROM cells FINAL ARRAY JOIN sample
  WHERE workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND day >= {from_day:UInt16} AND day <= {to_day:UInt16}
    AND day NOT IN {stale_days:Array(UInt16)} AND ${which}`
}

const isPageCell = `cells.kind = ${cellOfPage} AND key IN {paths:Array(String)}`
const isTitledCell = `(${isPageCell} AND sample.metric = ${noMetric})`
const isEitherCell = `((cells.kind = ${all} AND key = '') OR (${isPageCell}))`

/** Events are grouped before each group counts for the workspace, its page, or both. */
function eventsPart(where: string): string {
  return `SELECT of.1 AS kind, of.2 AS key, in_bucket, metric_ AS metric, values, counts, part_total, part_latest
    FROM (SELECT is_listed, listed, in_bucket, metric_,
        groupArrayIf(value_, metric_ != ${noMetric}) AS values, arrayWithConstant(length(values), toUInt32(1)) AS counts,
        sum(toFloat64(metric_value)) AS part_total, max((occurred_at, id, toFloat64(metric_value), toString(title))) AS part_latest,
        arrayJoin(arrayConcat(if(metric_ != ${noMetric}, [(${all}, '')], []), if(is_listed, [(${page}, toString(listed))], []))) AS of
      FROM (SELECT *, path IN {paths:Array(String)} AS is_listed, if(is_listed, path, '') AS listed, ${bucketOfEvent} AS in_bucket,
          if(${isSample}, toUInt8(metric), ${noMetric}) AS metric_, if(${isSample}, ${vitalValue}, 0) AS value_
        FROM events WHERE ${where})
      GROUP BY is_listed, listed, in_bucket, metric_)`
}

const isTitled = "(kind = 'pageview' AND title != '' AND path IN {paths:Array(String)})"
const isEither = `(${isSample} OR ${isTitled})`

function sampleOf({ count, levels: [p75] }: Row): VitalSample {
  return { count, p75 }
}

function totalsOf(row: Row): VitalTotals {
  const { count, levels, total, latest } = row
  return { ...sampleOf(row), p90: levels[1], p99: levels[2], latest, average: total / count }
}

function pageVitalOf(row: Row): PageVital {
  const { levels, good, poor } = row
  return { ...sampleOf(row), p90: levels[1], good, poor }
}
