/** The figures of an overview that visitors' events give: totals, series and lists, all of one moment. */
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import type { Bucket } from '../../../schemas/time/time-range.ts'
import { cellKinds, sampledPage } from '../../rollups/appearance.ts'
import { fewRowsStatement, type Reader } from '../reader.ts'
import { areCountedByRow, countedFiguresSql, countedParams } from './counted-figures-sql.ts'
import { type FigureName, figureNames, type PeriodSql, periodParams, seriesPeriod } from './figure-parts.ts'
import { figuresSql, hourSeries } from './figures-sql.ts'

export interface Counts {
  readonly visitors: number
  readonly sessions: number
  readonly pageviews: number
  readonly events: number
  readonly conversions: number
  /** Visitors with a conversion. */
  readonly converting: number
  /** Sessions that begin in the period, with the sums of each whole session. */
  readonly begun: number
  readonly bounces: number
  readonly durationMs: number
}

/** Sessions that begin in a span, with the sums of each whole session. */
export type BegunCounts = Pick<Counts, 'begun' | 'bounces' | 'durationMs'>

/** Counts of one bucket of the series. */
type BucketCounts = Pick<Counts, 'visitors' | 'sessions' | 'pageviews' | 'conversions'> & BegunCounts

/** Sessions that begin in the period, by one key of their entry, and the conversions that count for the key. */
export interface SessionGroup {
  readonly key: string
  /** The medium, where the key is a source. */
  readonly detail: string
  readonly visitors: number
  readonly sessions: number
  readonly pageviews: number
  readonly events: number
  readonly conversions: number
}

export interface PageCounts {
  readonly path: string
  readonly pageviews: number
  readonly visitors: number
  readonly sessions: number
  readonly conversions: number
  /** Sessions that entered here, and how many of them bounced. */
  readonly entries: number
  readonly bounces: number
}

export interface Figures {
  readonly current: Counts
  /** Undefined where it wasn't asked for. */
  readonly previous: Counts | undefined
  /** One for each bucket, in order. */
  readonly series: readonly BucketCounts[]
  readonly sources: readonly SessionGroup[]
  readonly devices: readonly SessionGroup[]
  readonly browsers: readonly SessionGroup[]
  readonly countries: readonly SessionGroup[]
  readonly pages: readonly PageCounts[]
  /** The busiest pages with samples of web vitals. */
  readonly sampledPages: readonly PageCounts[]
  /** Whether a day had more keys of a list than are kept. */
  readonly areListsCut: boolean
  /** The events that all of this is counted from. */
  readonly folded: readonly IdRange[]
  /** Version and time of the last fold that wrote them: every event answered 202 before it is among them. */
  readonly version: number
  readonly asOf: number
}

export interface FiguresRequest {
  readonly workspaceId: number
  readonly build: number
  /** Undefined where nothing of the period is readable. */
  readonly current: PeriodSql | undefined
  readonly previous: PeriodSql | undefined
  readonly buckets: readonly Bucket[]
  /** Local days in which buckets begin, where they are days or longer. */
  readonly bucketDays: readonly number[] | undefined
  readonly limit: number
}

interface Row {
  /** Figures in the order of their names. */
  readonly f: readonly number[]
  readonly period: number
  readonly list: number
  readonly key: string
  readonly detail: string
  readonly bucket: number
  readonly folded: readonly (readonly [number, number])[]
  readonly version: number
  readonly as_of: number
  /** Above 0: some day had more keys than cells keep, whether or not its keys are answered. */
  readonly lists_cut: number
}

/**
 * @returns `isCutCounted`: `previous` has the pageviews and events of the day that it ends inside of; else read-counts.ts has them
 */
export async function readFigures(ch: Reader, request: FiguresRequest): Promise<Figures & { isCutCounted: boolean }> {
  const { current, previous, bucketDays } = request
  const periods = [current, previous].filter((period) => period !== undefined)
  if (areCountedByRow(periods)) {
    const params = countedParams(periods)
    const figures = await askFigures(ch, countedFiguresSql(periods, undefined), seriesPeriod, request, params)
    return { ...figures, isCutCounted: true }
  }
  const isByHours = bucketDays === undefined
  const sql = figuresSql(periods, isByHours && current !== undefined ? hourSeries() : [])
  return { ...(await askFigures(ch, sql, isByHours ? seriesPeriod : 0, request)), isCutCounted: false }
}

/**
 * @param sql a statement of `composed`, with the parameters of the periods and buckets
 * @param seriesOn the period that the series is of
 */
export async function askFigures(
  ch: Reader,
  sql: string,
  seriesOn: number,
  request: FiguresRequest,
  params: Record<string, unknown> = {},
): Promise<Figures> {
  const { workspaceId, build, current, previous, buckets, bucketDays, limit } = request
  const rows = await ch.query<Row>(
    sql,
    {
      ...(current && periodParams(current)),
      ...(previous && periodParams(previous)),
      workspace: workspaceId,
      build,
      limit,
      ...(bucketDays === undefined
        ? { bucket_starts: buckets.map(({ start }) => start), hours_end: current?.pieces.end ?? 0 }
        : { bucket_days: bucketDays }),
      ...params,
    },
    { settings: fewRowsStatement },
  )
  return figuresOf(rows, seriesOn, request)
}

function figuresOf(rows: readonly Row[], seriesOn: number, request: FiguresRequest): Figures {
  const rowsOf = (period: number, list: number) => rows.filter((row) => row.period === period && row.list === list)
  const groups = (list: number) =>
    rowsOf(0, list)
      .filter((row) => figureOf(row, 'sessions') > 0 || figureOf(row, 'conversions') > 0)
      .map(groupOf)
  const pages = (list: number) => rowsOf(0, list).filter(isShownPage(list)).map(pageOf)
  const [any] = rows
  return {
    current: countsOf(rows, 0),
    previous: request.previous && countsOf(rows, 1),
    series: seriesOf(rows, seriesOn, request),
    sources: groups(cellKinds.source),
    devices: groups(cellKinds.device),
    browsers: groups(cellKinds.browser),
    countries: groups(cellKinds.country),
    pages: pages(cellKinds.page),
    sampledPages: pages(sampledPage),
    areListsCut: rows.some(({ lists_cut }) => lists_cut > 0),
    folded: any!.folded.map(([from, through]) => ({ from, through })),
    version: any!.version,
    asOf: any!.as_of,
  }
}

const places = new Map(figureNames.map((name, at) => [name, at]))

/** 0 where there is no row. */
function figureOf(row: Row | undefined, name: FigureName): number {
  return row?.f[places.get(name)!] ?? 0
}

function isShownPage(list: number): (row: Row) => boolean {
  return list === sampledPage ? () => true : (row) => figureOf(row, 'pageviews') > 0
}

function countsOf(rows: readonly Row[], period: number): Counts {
  const sum = (name: FigureName, list: number = cellKinds.all) =>
    rows.reduce((total, row) => total + (row.period === period && row.list === list ? figureOf(row, name) : 0), 0)
  return {
    visitors: sum('visitors'),
    sessions: sum('sessions'),
    pageviews: sum('pageviews'),
    events: sum('events'),
    conversions: sum('conversions'),
    converting: sum('visitors', cellKinds.converting),
    begun: sum('begun'),
    bounces: sum('bounces'),
    durationMs: sum('duration_ms'),
  }
}

function seriesOf(rows: readonly Row[], period: number, { buckets, bucketDays }: FiguresRequest): BucketCounts[] {
  const byBucket = new Map(
    rows.filter((row) => row.period === period && row.list === cellKinds.all).map((row) => [row.bucket, row]),
  )
  return buckets.map(({ start }, at) => {
    const row = byBucket.get(bucketDays === undefined ? start : bucketDays[at]!)
    return {
      visitors: figureOf(row, 'bucket_visitors'),
      sessions: figureOf(row, 'bucket_sessions'),
      pageviews: figureOf(row, 'pageviews'),
      conversions: figureOf(row, 'conversions'),
      begun: figureOf(row, 'begun'),
      bounces: figureOf(row, 'bounces'),
      durationMs: figureOf(row, 'duration_ms'),
    }
  })
}

function groupOf(row: Row): SessionGroup {
  return {
    key: row.key,
    detail: row.detail,
    visitors: figureOf(row, 'visitors'),
    sessions: figureOf(row, 'sessions'),
    pageviews: figureOf(row, 'pageviews'),
    events: figureOf(row, 'events'),
    conversions: figureOf(row, 'conversions'),
  }
}

function pageOf(row: Row): PageCounts {
  return {
    path: row.key,
    pageviews: figureOf(row, 'pageviews'),
    visitors: figureOf(row, 'visitors'),
    sessions: figureOf(row, 'sessions'),
    conversions: figureOf(row, 'conversions'),
    entries: figureOf(row, 'begun'),
    bounces: figureOf(row, 'bounces'),
  }
}
