/** Percentiles of web vitals, and the newest titles of pages. */
import type { IdRange } from '../../../schemas/id-ranges.ts'
import { type VitalName, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { Bucket, Span } from '../../../schemas/time-range.ts'
import { cellKinds, metricNames } from '../../rollups/cells.ts'
import { idsIn, isSample } from '../../rollups/event-sql.ts'
import { vitalUnit, vitalValue } from '../../rollups/vitals.ts'
import { composedStatement, type Reader } from '../reader.ts'
import type { DaySpan } from './pieces.ts'
import type { PageCounts } from './read-figures.ts'

export interface VitalSample {
  readonly count: number
  readonly p75: number
}

export interface VitalTotals extends VitalSample {
  readonly p90: number
  readonly p99: number
  readonly latest: number
  readonly average: number
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
  /** Days whose cells are read; and the spans that are read from events, in order. */
  readonly days: DaySpan
  readonly spans: readonly Span[]
  readonly buckets: readonly Bucket[]
  /** Local days in which buckets begin; undefined where they are hours, and `days` is empty. */
  readonly bucketDays: readonly number[] | undefined
  readonly pages: readonly PageCounts[]
  readonly sampledPages: readonly PageCounts[]
  /** Ids of the events that are seen. */
  readonly folded: readonly IdRange[]
}

/** Rows of the whole period have no bucket. */
const wholePeriod = -1
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
  readonly title: readonly [at: number, id: number, text: string]
}

export async function readDetails(ch: Reader, request: DetailsRequest): Promise<Details> {
  const { sql, params } = detailsSql(request)
  const rows = await ch.query<Row>(sql, params, { settings: composedStatement })
  const { pages, sampledPages, buckets } = request
  const named = rows.filter(({ metric }) => metric !== 0)
  const ofMetric = (row: Row) => metricNames.get(row.metric)!
  const ofWorkspace = named.filter(({ kind }) => kind === all)
  return {
    vitals: {
      total: new Map(
        ofWorkspace.filter(({ bucket }) => bucket === wholePeriod).map((row) => [ofMetric(row), totalsOf(row)]),
      ),
      series: buckets.map(
        ({ start }) =>
          new Map(ofWorkspace.filter(({ bucket }) => bucket === start).map((row) => [ofMetric(row), sampleOf(row)])),
      ),
    },
    pageVitals: sampledPages.map(({ path, pageviews }) => ({
      ...{ path, pageviews },
      metrics: new Map(
        named.filter(({ kind, key }) => kind === page && key === path).map((row) => [ofMetric(row), pageVitalOf(row)]),
      ),
    })),
    titles: new Map(
      pages.map(({ path, title }) => [
        path,
        newestTitle(title, rows.find((row) => row.metric === 0 && row.key === path)?.title),
      ]),
    ),
  }
}

function newestTitle(known: PageCounts['title'], [at, id, text]: Row['title'] = [0, 0, '']): string {
  return at > known.at || (at === known.at && id > known.id) ? text : known.text
}

/** Parts of rows (kind, key, bucket, metric, value, samples, total, latest, title). */
function detailsSql(request: DetailsRequest): { sql: string; params: Record<string, unknown> } {
  const { workspaceId, build, days, spans, buckets, bucketDays, pages, sampledPages, folded } = request
  const seen = idsIn(folded, 'folded')
  const params: Record<string, unknown> = {
    ...seen.params,
    ...{ workspace: workspaceId, build, from_day: days.from, to_day: days.to },
    bucket_starts: buckets.map(({ start }) => start),
    ...{
      bucket_days: bucketDays ?? [],
      paths: pages.map(({ path }) => path),
      sampled: sampledPages.map(({ path }) => path),
    },
  }
  const parts: string[] = []
  if (days.from <= days.to) parts.push(...cellParts)
  for (const [at, { start, end }] of spans.entries()) {
    Object.assign(params, { [`span_from_${at}`]: start, [`span_to_${at}`]: end })
  }
  const isReached = spans.map((_, at) => {
    const moment = (name: string) => `fromUnixTimestamp64Milli({span_${name}_${at}:Int64}, 'UTC')`
    return `(occurred_at >= ${moment('from')} AND occurred_at < ${moment('to')})`
  })
  if (isReached.length > 0) {
    parts.push(...eventParts(`workspace_id = {workspace:UInt32} AND (${isReached.join(' OR ')}) AND ${seen.sql}`))
  }
  if (parts.length === 0) parts.push(`SELECT ${columnsSql({})} WHERE 0`)
  const limits = (name: 'good' | 'poor') =>
    `transform(metric, [${[...metricNames.keys()].join(', ')}], [${[...metricNames.values()].map((metric) => Math.round(vitals[metric][name] * vitalUnit)).join(', ')}], 0)`
  return {
    params,
    sql: `SELECT kind, key, bucket, metric, sum(samples) AS count,
        arrayMap(level -> level / ${vitalUnit}, quantilesExactWeightedInterpolated(0.75, 0.9, 0.99)(value, toUInt64(samples))) AS levels,
        sumIf(samples, value <= ${limits('good')}) AS good, sumIf(samples, value > ${limits('poor')}) AS poor,
        sum(part_total) AS total, max(part_latest).3 AS latest,
        (toUnixTimestamp64Milli(max(part_title).1), max(part_title).2, max(part_title).3) AS title
      FROM (SELECT kind, key, arrayJoin(if(kind = ${all}, [toInt64(${wholePeriod}), in_bucket], [toInt64(${wholePeriod})])) AS bucket, metric, value,
          samples, part_total, part_latest, part_title
        FROM (${parts.join(' UNION ALL ')}))
      GROUP BY kind, key, bucket, metric`,
  }
}

const noTime = "toDateTime64(0, 3, 'UTC')"
const columnDefaults = {
  ...{
    kind: `toUInt8(${all})`,
    key: "''",
    in_bucket: `toInt64(${wholePeriod})`,
    metric: 'toUInt8(0)',
    value: 'toUInt64(0)',
  },
  ...{ samples: 'toUInt64(0)', part_total: 'toFloat64(0)', part_latest: `(${noTime}, toUInt64(0), toFloat64(0))` },
  part_title: `(${noTime}, toUInt64(0), '')`,
}

function columnsSql(values: Partial<Record<keyof typeof columnDefaults, string>>): string {
  return Object.entries(columnDefaults)
    .map(([name, none]) => `${values[name as keyof typeof columnDefaults] ?? none} AS ${name}`)
    .join(', ')
}

const newestCells = (kind: 'all' | 'page', more = '1') => `(SELECT * FROM cells
  WHERE workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND kind = '${kind}' AND day >= {from_day:UInt16} AND day <= {to_day:UInt16} AND ${more}
    AND (day, version) IN (SELECT day, max(version) FROM cells
      WHERE workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND kind = 'all' AND day >= {from_day:UInt16} AND day <= {to_day:UInt16} GROUP BY day)) AS cell`
const bucketOfDay =
  'toInt64(transform(roundDown(day, {bucket_days:Array(UInt16)}), {bucket_days:Array(UInt16)}, {bucket_starts:Array(Int64)}, toInt64(0)))'
const valuesOfCell = { metric: 'sample_metric', value: 'sample_value', samples: 'toUInt64(sample_count)' }
const joinSamples =
  'ARRAY JOIN vital_metric AS sample_metric, vital_value AS sample_value, vital_samples AS sample_count'

const cellParts = [
  `SELECT ${columnsSql({ ...valuesOfCell, in_bucket: bucketOfDay })} FROM ${newestCells('all')} ${joinSamples}`,
  `SELECT ${columnsSql({ metric: 'metric_', part_total: 'total_', part_latest: 'latest_', in_bucket: bucketOfDay })}
    FROM ${newestCells('all')} ARRAY JOIN metric_metric AS metric_, metric_total AS total_, metric_latest AS latest_`,
  `SELECT ${columnsSql({ ...valuesOfCell, kind: `toUInt8(${page})`, key: 'cell.key' })}
    FROM ${newestCells('page', 'key IN {sampled:Array(String)}')} ${joinSamples}`,
]

function eventParts(where: string): string[] {
  const bucket = 'toInt64(roundDown(toUnixTimestamp64Milli(occurred_at), {bucket_starts:Array(Int64)}))'
  return [
    `SELECT ${columnsSql({ kind: 'kind_', key: 'key_', in_bucket: 'bucket_', metric: 'metric_', value: 'value_', samples: 'count()', part_total: 'sum(metric_value)', part_latest: 'max((occurred_at, id, metric_value))' })}
      FROM (SELECT occurred_at, id, metric_value, toUInt8(metric) AS metric_, ${vitalValue} AS value_, ${bucket} AS bucket_, of.1 AS kind_, of.2 AS key_,
          arrayJoin(arrayConcat([(toUInt8(${all}), '')], if(path IN {sampled:Array(String)}, [(toUInt8(${page}), toString(path))], []))) AS of
        FROM events WHERE ${where} AND ${isSample})
      GROUP BY kind_, key_, bucket_, metric_, value_`,
    `SELECT ${columnsSql({ kind: `toUInt8(${page})`, key: 'path_', part_title: 'max((occurred_at, id, title_))' })}
      FROM (SELECT toString(path) AS path_, occurred_at, id, toString(title) AS title_
        FROM events WHERE ${where} AND kind = 'pageview' AND title != '' AND path IN {paths:Array(String)})
      GROUP BY path_`,
  ]
}

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
