/**
 * The SQL of an overview's figures: one SELECT of rows (kind, key, bucket) put together from the pieces of a period.
 *
 * Visitors are counted by first appearance. A visitor's appearances with a key know the day of the one before (`prev_day`),
 * so the distinct visitors since day A are the appearances with `prev_day` < A. Held by test/property/overview.test.ts.
 */
import { appearancesOf, cellKinds, creditKeys } from '../../rollups/cells.ts'
import { cutEndPart, cutStartParts } from './cut-days-sql.ts'
import {
  closedDays,
  type FigureName,
  figureNumbers,
  inBuild,
  inWorkspace,
  isFolded,
  isSome,
  noTitle,
  ofBucket,
  openDays,
  type PeriodSql,
  part,
  seriesPeriod,
  sumsOf,
  termsOf,
} from './figure-parts.ts'

const { all, page } = cellKinds

/** Events that the rows of `sessions` reflect: the mark is read in the statement, of the same moment as the rows. */
export const markSql =
  '(SELECT argMax((folded,version,toUnixTimestamp64Milli(first_at)),version) FROM sessions WHERE workspace_id=0 AND build=0)'

/**
 * The statement's rows: period, kind, key, detail, bucket, title, and the figures. Parameters: `periodParams`.
 * @param others parts that are counted beside the periods
 */
export function figuresSql(periods: readonly PeriodSql[], others: readonly string[]): string {
  const parts = periods.flatMap((period) => [
    ...cellsPart(period),
    ...sessionsPart(period),
    ...samplesPart(period),
    ...creditsPart(period),
    ...cutEndPart(period),
    ...cutStartParts(period),
  ])
  parts.push(...others)
  // A row of its own, so that the mark is answered where there is nothing to count.
  parts.push(
    part(
      markPeriod,
      `${all} AS kind,'' AS key,'' AS detail,0 AS bucket`,
      { visitors: 'toUInt64(0)' },
      'FROM system.one',
    ),
  )
  // A page with samples of web vitals is listed twice, so that both lists have their own first ones.
  const list = `arrayJoin(if(kind=${page} AND f[${figureNumbers.samples}]>0,[kind,${sampledPage}],[kind]))`
  return `WITH ${markSql} AS mark
    SELECT period,${list} AS list,key,detail,bucket,f,newest.3 AS title,toUnixTimestamp64Milli(newest.1) AS title_at,newest.2 AS title_id,
      mark.1 AS folded,mark.2 AS version,mark.3 AS as_of,max(f[${figureNumbers.is_cut}]) OVER () AS lists_cut
    FROM (SELECT period,kind,key,detail,bucket,max(page_title) AS newest,sumMap(figures) AS f
      FROM (${parts.join(' UNION ALL ')}) GROUP BY period,kind,key,detail,bucket)
    ORDER BY period,list,bucket,if(kind=${page},f[5],f[1]) DESC,if(kind=${page},0,f[7]) DESC,key,detail
    LIMIT {limit:UInt32} BY period,list,bucket`
}

/** The list of pages with samples of web vitals, beside the kinds of cells. */
export const sampledPage = 7

/** Whole days that have cells: each day's newest version. */
function cellsPart(period: PeriodSql): string[] {
  if (!isSome(closedDays(period.pieces.days, period.cellsThrough))) return []
  const { day, since, bucket, bucketSince } = termsOf(period)
  const newTo = (first: string) => `arraySum((seen,n)->if(seen<${first},n,0),prev_days,prev_counts)`
  const sessionsOf = (first: string) => `sessions-if(day>${first},continued,0)`
  const inDays = `${inBuild} AND day>=${day('closed_from')} AND day<=${day('closed_to')}`
  const isOfAll = `kind=${all}`
  const figures: Partial<Record<FigureName, string>> = {
    ...{ visitors: `sum(${newTo(since)})`, sessions: `toUInt64(sum(${sessionsOf(since)}))` },
    ...ofBucket(
      period,
      `sumIf(${newTo(bucketSince)},${isOfAll})`,
      `toUInt64(sumIf(${sessionsOf(bucketSince)},${isOfAll}))`,
    ),
    ...{ pageviews: 'sum(pageviews)', events: 'sum(events)', conversions: 'sum(conversions)' },
    ...{ begun: 'sum(begun)', bounces: 'sum(bounces)', duration_ms: 'sum(duration_ms)' },
    ...(period.wanted === 'all kinds' && {
      samples: `sumIf(arraySum(vital_samples),kind=${page})`,
      is_cut: 'sum(is_cut)',
    }),
  }
  const isTotals = period.wanted === 'totals'
  return [
    part(
      period.number,
      `toUInt8(c.kind) AS kind,key,detail,${bucket} AS bucket`,
      figures,
      `FROM cells AS c WHERE ${inDays}${isTotals ? " AND c.kind IN ('all','converting')" : ''}
        AND (day,version) IN (SELECT day,max(version) FROM cells WHERE ${inDays} AND kind='all' GROUP BY day)
      GROUP BY kind,key,detail,bucket`,
      isTotals ? noTitle : 'max(title)',
    ),
  ]
}

/** Days without cells, and the day that the period ends inside of, but for its pageviews and events. */
function sessionsPart(period: PeriodSql): string[] {
  const { pieces, cellsThrough, wanted, number } = period
  const open = openDays(pieces.days, cellsThrough)
  if (!isSome(open) && pieces.cutEnd === undefined) return []
  const { day, value, since, bucket, bucketSince } = termsOf(period)
  const isCut = pieces.cutEnd !== undefined
  const isWhole = `day!=${day('cut_end_day')}`
  const inDays = [
    ...(isSome(open) ? [`day>=${day('open_from')} AND day<=${day('open_to')}`] : []),
    ...(isCut ? [`day=${day('cut_end_day')}`] : []),
  ]
  const sessionsOf = (first: string) => `toUInt64(sum(n_sessions)-sumIf(n_continued,day>${first}))`
  // Of kinds but `all` and pages they are of the whole sessions that begin.
  const isCounted = `${isWhole} OR kind NOT IN (${all},${page})`
  return [
    part(
      number,
      `kind,key,detail,${bucket} AS bucket`,
      {
        ...sumsOf('sessions'),
        ...(isCut && { pageviews: `sumIf(n_pageviews,${isCounted})`, events: `sumIf(n_events,${isCounted})` }),
        ...{ visitors: `countIf(seen_before<${since})`, sessions: sessionsOf(since) },
        ...ofBucket(period, `countIf(seen_before<${bucketSince})`, sessionsOf(bucketSince)),
      },
      `FROM (${appearancesOf(`${inBuild} AND (${inDays.join(' OR ')})`, wanted)})
      ${isCut ? `WHERE ${isWhole} OR at<${value('end', 'Int64')}` : ''} GROUP BY kind,key,detail,bucket`,
    ),
  ]
}

/** Which pages have samples of web vitals on whole days without cells. */
function samplesPart(period: PeriodSql): string[] {
  if (period.wanted === 'totals' || !isSome(openDays(period.pieces.days, period.cellsThrough))) return []
  const { at } = termsOf(period)
  return [
    part(
      period.number,
      `${page} AS kind,toString(path) AS key,'' AS detail,0 AS bucket`,
      { samples: 'count()' },
      `FROM events WHERE ${inWorkspace} AND occurred_at>=${at('open_start')} AND occurred_at<${at('open_end')}
        AND events.kind='web_vital' AND metric!='none' AND ${isFolded} GROUP BY key`,
    ),
  ]
}

/** Conversions outside the days that have cells. */
function creditsPart(period: PeriodSql): string[] {
  const { pieces, cellsThrough, wanted, number } = period
  const { day, at, since, bucket } = termsOf(period)
  const isReached = [
    ...(pieces.cutStart
      ? [`(day=${since} AND occurred_at>=${at('start')} AND occurred_at<${at('cut_start_end')})`]
      : []),
    ...(isSome(openDays(pieces.days, cellsThrough)) ? [`(day>=${day('open_from')} AND day<=${day('open_to')})`] : []),
    ...(pieces.cutEnd ? [`(day=${day('cut_end_day')} AND occurred_at<${at('end')})`] : []),
  ]
  if (isReached.length === 0) return []
  return [
    part(
      number,
      `of.1 AS kind,of.2 AS key,of.3 AS detail,${bucket} AS bucket`,
      { conversions: 'count()' },
      `FROM (SELECT day,${creditKeys(wanted)} AS of FROM credits FINAL WHERE ${inBuild} AND (${isReached.join(' OR ')}) AND ${isFolded})
      GROUP BY kind,key,detail,bucket`,
    ),
  ]
}

/** The series of hour buckets, counted from `events`: at most three days. */
export function hourSeries(): string {
  return part(
    seriesPeriod,
    `${all} AS kind, '' AS key, '' AS detail, roundDown(toUnixTimestamp64Milli(occurred_at), {bucket_starts:Array(Int64)}) AS bucket`,
    {
      bucket_visitors: 'uniqExactIf(visitor, visitor != 0)',
      bucket_sessions: 'uniqExactIf((visitor, session), visitor != 0)',
      pageviews: "countIf(event_kind = 'pageview')",
      conversions: "countIf(event_kind = 'conversion')",
    },
    `FROM (SELECT visitor, session, kind AS event_kind, occurred_at FROM events WHERE ${inWorkspace}
      AND occurred_at >= fromUnixTimestamp64Milli({start_0:Int64}, 'UTC') AND occurred_at < fromUnixTimestamp64Milli({hours_end:Int64}, 'UTC')
      AND ${isFolded}) GROUP BY bucket`,
  )
}

const markPeriod = 3
