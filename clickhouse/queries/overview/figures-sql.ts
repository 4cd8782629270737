/**
 * The SQL of an overview's figures: one SELECT of rows (kind, key, bucket) put together from the pieces of a period.
 *
 * Visitors are counted by first appearance. A visitor's appearances with a key know the day of the one before
 * (`prev_day`). So the distinct visitors since day A are the appearances with `prev_day` < A. Held by
 * test/property/overview.test.ts.
 */
import { cellKinds, sampledPage } from '../../rollups/appearance.ts'
import { seenAt } from '../../rollups/cells.ts'
import { moment } from '../../rollups/event-sql.ts'
import { cutEndPart, cutStartParts } from './cut-days-sql.ts'
import {
  closedDays,
  countedFromSessions,
  type FigureName,
  figure,
  figureNames,
  inBuild,
  inWorkspace,
  isFolded,
  isSome,
  ofBucket,
  openDays,
  type PeriodSql,
  part,
  plainSums,
  seriesPeriod,
  staleDays,
  termsOf,
} from './figure-parts.ts'

const { all, converting, page } = cellKinds

/** The coverage: events that the rows of `sessions` reflect. The statement reads it at the same moment as the rows. */
export const coverageSql =
  '(SELECT argMax((folded,version,toUnixTimestamp64Milli(first_at)),version) FROM sessions WHERE workspace_id=0 AND build=0)'

/**
 * The statement of the figures of some periods; its rows are those of `composed`. Parameters: `periodParams`.
 * @param others parts that are counted beside the periods
 */
export function figuresSql(periods: readonly PeriodSql[], others: readonly string[]): string {
  return composed([
    ...cellsPart(periods),
    ...sessionsPart(periods),
    ...periods.flatMap((period) => [...cutEndPart(period), ...cutStartParts(period)]),
    ...others,
  ])
}

/**
 * Adds parts up to rows: period, list (a kind), key, detail, bucket, and the figures. In parts `coverage` is the result
 * of `coverageSql`.
 */
export function composed(parts: readonly string[]): string {
  // A row of its own, so that the coverage is answered where there is nothing to count.
  const ofCoverage = part(coveragePeriod, "0 AS kind,'' AS key,'' AS detail,0 AS bucket", {}, 'FROM system.one')
  // A page with samples of web vitals is listed twice, so that both lists have their own first ones.
  const list = `arrayJoin(if(kind=${page} AND ${figure('samples')}>0,[kind,${sampledPage}],[kind]))`
  const [views, visitors, conversions] = [figure('pageviews'), figure('visitors'), figure('conversions')]
  return `WITH ${coverageSql} AS coverage
    SELECT period,${list} AS list,key,detail,bucket,f,coverage.1 AS folded,coverage.2 AS version,coverage.3 AS as_of,max(${figure('is_cut')}) OVER () AS lists_cut
    FROM (SELECT period,kind,key,detail,bucket,[${figureNames.map((name) => `sum(${name})`).join(',')}] AS f
      FROM (${[...parts, ofCoverage].join(' UNION ALL ')}) GROUP BY period,kind,key,detail,bucket)
    ORDER BY period,list,bucket,if(kind=${page},${views},${visitors}) DESC,if(kind=${page},0,${conversions}) DESC,key,detail
    LIMIT {limit:UInt32} BY period,list,bucket`
}

/** Whole days that have cells, of both periods. */
function cellsPart(periods: readonly PeriodSql[]): string[] {
  const closed = periods.filter(({ pieces, cells }) => isSome(closedDays(pieces.days, cells)))
  if (closed.length === 0) return []
  const conditions = closed.map((period) => {
    const { day, value } = termsOf(period)
    const kinds = period.wanted === 'totals' ? `kind IN (${all},${converting}) AND ` : ''
    const fresh = hasStale(period) ? ` AND day NOT IN ${value('stale', 'Array(UInt16)')}` : ''
    return `(${kinds}day>=${day('closed_from')} AND day<=${day('closed_to')}${fresh})`
  })
  const choose = chooser(closed, 'closed_from')
  const since = String(choose((period) => termsOf(period).since))
  const visitors = (before: string) => `arraySum((prev,n)->if(prev<${before},n,0),seen.prev_days,seen.visitors)`
  return [
    part(
      choose(({ number }) => number),
      `kind,seen.key AS key,seen.detail AS detail,${choose((period) => termsOf(period).bucket)} AS bucket`,
      {
        ...plainSums,
        visitors: visitors(since),
        sessions: `if(day>${since},seen.fresh,seen.sessions)`,
        ...inBuckets(closed[0]!, 'kind', visitors),
        is_cut: 'is_cut',
      },
      `FROM cells FINAL ARRAY JOIN seen WHERE ${inBuild} AND cells.key='' AND (${conditions.join(' OR ')})`,
    ),
  ]
}

const hasStale = ({ pieces, cells }: PeriodSql) => staleDays(pieces.days, cells).length > 0

/**
 * For both periods: days without fresh cells, and the day that a period ends inside of, but for its pageviews, events
 * and samples.
 */
function sessionsPart(periods: readonly PeriodSql[]): string[] {
  const some = periods.filter(({ pieces, cells }) => countedFromSessions(pieces, cells) !== undefined)
  if (some.length === 0) return []
  const choose = chooser(some, 'sessions_from')
  const inDays = some.flatMap((period) => {
    const { pieces, cells, wanted } = period
    const { day, value } = termsOf(period)
    const kinds = wanted === 'totals' ? `seen.kind IN (${all},${converting}) AND ` : ''
    const open = `day>=${day('open_from')} AND day<=${day('open_to')}`
    const stale = `day IN ${value('stale', 'Array(UInt16)')}`
    const cut = `day=${day('cut_end_day')}`
    return [
      ...(hasStale(period) ? [{ days: stale, which: `${kinds}${stale}` }] : []),
      ...(isSome(openDays(pieces.days, cells)) ? [{ days: open, which: `${kinds}${open}` }] : []),
      ...(pieces.cutEnd ? [{ days: cut, which: `${kinds}${cut} AND ${seenAt}<${value('end', 'Int64')}` }] : []),
    ]
  })
  // By days alone first: the index doesn't cover `seen`.
  const either = (of: 'days' | 'which') => `(${inDays.map((each) => `(${each[of]})`).join(' OR ')})`
  const cutDays = some.filter(({ pieces }) => pieces.cutEnd).map((period) => termsOf(period).day('cut_end_day'))
  const ifCounted = (name: 'pageviews' | 'events' | 'samples') => ({
    [name]: `if(day NOT IN (${cutDays.join(',')}) OR seen.kind NOT IN (${all},${page}),seen.${name},0)`,
  })
  const since = String(choose((period) => termsOf(period).since))
  return [
    part(
      choose(({ number }) => number),
      `seen.kind AS kind,seen.key AS key,seen.detail AS detail,${choose((period) => termsOf(period).bucket)} AS bucket`,
      {
        ...plainSums,
        ...(cutDays.length > 0 && { ...ifCounted('pageviews'), ...ifCounted('events'), ...ifCounted('samples') }),
        visitors: `seen.prev_day<${since}`,
        sessions: `if(day>${since},seen.fresh,seen.sessions)`,
        ...inBuckets(some[0]!, 'seen.kind', (before) => `seen.prev_day<${before}`),
      },
      `FROM sessions FINAL ARRAY JOIN seen WHERE ${inBuild} AND ${either('days')} AND ${either('which')}`,
    ),
  ]
}

/**
 * SQL of what differs between the periods that a part has rows of. Their days are apart: the first has the later ones.
 * @param from the parameter that is the first of a period's days
 */
function chooser([first, second]: readonly PeriodSql[], from: 'closed_from' | 'sessions_from') {
  const isFirst = `day>=${termsOf(first!).day(from)}`
  return (of: (period: PeriodSql) => string | number) =>
    second === undefined ? of(first!) : `if(${isFirst},${of(first!)},${of(second)})`
}

/** @param visitors SQL of how many appeared that weren't seen since a day */
function inBuckets(
  period: PeriodSql,
  kind: string,
  visitors: (before: string) => string,
): Partial<Record<FigureName, string>> {
  const { bucketSince } = termsOf(period)
  return ofBucket(
    period,
    `if(${kind}=${all},${visitors(bucketSince)},0)`,
    `if(${kind}=${all},if(day>${bucketSince},seen.fresh,seen.sessions),0)`,
  )
}

/**
 * The series of hour buckets. Who was there is counted from `events`; a session counts with its own facts in the hour in
 * which it begins.
 */
export function hourSeries(): string[] {
  const keys = (at: string) =>
    `${all} AS kind, '' AS key, '' AS detail, roundDown(toUnixTimestamp64Milli(${at}), {bucket_starts:Array(Int64)}) AS bucket`
  const isWithin = (at: string) => `${at} >= ${moment('start_0')} AND ${at} < ${moment('hours_end')}`
  const ofEvents = part(
    seriesPeriod,
    keys('occurred_at'),
    {
      bucket_visitors: 'uniqExactIf(visitor, visitor != 0)',
      bucket_sessions: 'uniqExactIf((visitor, session), visitor != 0)',
      pageviews: "countIf(event_kind = 'pageview')",
      conversions: "countIf(event_kind = 'conversion')",
    },
    `FROM (SELECT visitor, session, kind AS event_kind, occurred_at FROM events WHERE ${inWorkspace}
      AND ${isWithin('occurred_at')} AND ${isFolded}) GROUP BY bucket`,
  )
  const days = 'day >= {since_0:UInt16} AND day <= greatest({since_0:UInt16}, {last_day_0:UInt16})'
  const ofBegun = part(
    seriesPeriod,
    keys('first_at'),
    { begun: 'count()', bounces: 'sum(is_bounce)', duration_ms: 'sum(session_ms)' },
    `FROM (SELECT first_at, is_bounce, session_ms FROM sessions FINAL
      WHERE ${inBuild} AND ${days} AND nth_day = 1 AND ${isWithin('first_at')}) GROUP BY bucket`,
  )
  return [ofEvents, ofBegun]
}

const coveragePeriod = 3
