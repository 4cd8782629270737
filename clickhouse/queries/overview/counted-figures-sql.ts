/**
 * The SQL of an overview's figures that are counted row by row: those of chosen sessions, of which first appearances (`prev_day`)
 * say nothing, and those of a day or less that begins inside of a local day, where this takes half of the time. Held by
 * test/property/overview-filters.test.ts and overview.test.ts.
 *
 * A session's row counts by its `seen`; what a day that is cut, or an hour, has of pages and events is counted from `events`.
 * The period before has totals alone. When an appearance or an event was says which period it is of.
 */
import type { Span } from '../../../schemas/time/time-range.ts'
import { dayMs } from '../../../schemas/time/time-zone.ts'
import { cellKinds, sumNames } from '../../rollups/appearance.ts'
import { eventMs, isSample, moment } from '../../rollups/event-sql.ts'
import { type FigureName, inBuild, inWorkspace, isFolded, type PeriodSql, part, seriesPeriod } from './figure-parts.ts'
import { composed } from './figures-sql.ts'
import type { DaySpan } from './pieces.ts'
import { type Around, localDay, nextRows, type Selection } from './selection.ts'

const { all, converting, page } = cellKinds

/**
 * @param periods the period, and the one before if it is asked for, of which totals are wanted
 * @param selection undefined: all events count; periods have at most two local days each
 */
export function countedFiguresSql(periods: readonly PeriodSql[], selection: Selection | undefined): string {
  if (periods.length === 0) return composed([])
  const bucket = periods.some(({ hasDayBuckets }) => hasDayBuckets)
    ? 'toInt64(roundDown(day,{bucket_days:Array(UInt16)}))'
    : 'toInt64(roundDown(at,{bucket_starts:Array(Int64)}))'
  const inPeriod = '[(period,toInt64(0))]'
  const inSeries = `if(kind=${all} AND period=0,[(period,toInt64(0)),(toUInt8(${seriesPeriod}),${bucket})],${inPeriod})`
  const visitors = 'uniqExactIf(visitor,is_present)'
  const sessions = 'uniqExactIf(cityHash64(visitor,session,begin_day),is_present)'
  const figures: Partial<Record<FigureName, string>> = {
    ...{ visitors, sessions, bucket_visitors: visitors, bucket_sessions: sessions },
    ...Object.fromEntries(summed.map((name) => [name, `sum(counted.${name})`])),
  }
  const isCounted = countedSpans(periods).length > 0
  const rows = [sessionRows(periods, selection), ...(isCounted ? [eventRows(periods, selection)] : [])]
  const of = periods.some(({ wanted }) => wanted === 'all kinds') ? inSeries : inPeriod
  return composed([
    part(
      'of.1',
      'kind,key,detail,of.2 AS bucket',
      figures,
      `FROM (SELECT *,arrayJoin(${of}) AS of FROM (${rows.join(' UNION ALL ')})) AS counted GROUP BY of,kind,key,detail`,
    ),
  ])
}

/**
 * Parameters beside `periodParams`: local days that have rows (`days`) and with those beside them (`days_around`); days whose pages
 * and events are counted from `events` (`counted_days`, by period), and those on which their sessions begin (`begin_days`).
 */
export function countedParams(periods: readonly PeriodSql[]): Record<string, unknown> {
  const days = periods.map(daysOf)
  const spans = countedSpans(periods)
  const values = {
    days: days.flatMap(({ from, to }) => range(from, to)),
    days_around: days.flatMap(({ from, to }) => range(from - 1, to + 1)),
    counted_days: spans.flatMap(({ period, days }) => days.map((day) => period * daysMax + day)),
    begin_days: spans.flatMap(({ days }) => days.flatMap((day) => [day - 1, day])),
  }
  const windows = periods.flatMap(({ number, pieces }): [string, number][] => [
    [`look_from_${number}`, pieces.startOf(pieces.sinceDay) - 2 * dayMs],
    [`look_to_${number}`, pieces.end + 3 * dayMs],
  ])
  const counted = spans.flatMap(({ start, end }, at): [string, number][] => [
    [`counted_from_${at}`, start],
    [`counted_to_${at}`, end],
  ])
  return { ...values, ...Object.fromEntries([...windows, ...counted]) }
}

const daysMax = 65_536

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

function daysOf({ pieces: { days, cutEnd, sinceDay } }: PeriodSql): DaySpan {
  return { from: sinceDay, to: Math.max(days.to, cutEnd?.day ?? 0, sinceDay) }
}

interface CountedSpan extends Span {
  readonly period: number
  readonly days: readonly number[]
}

/** What is counted from `events`: hours, and the days that periods begin and end inside of. */
function countedSpans(periods: readonly PeriodSql[]): CountedSpan[] {
  return periods.flatMap((period) => {
    const { number, pieces, hasDayBuckets, wanted } = period
    const { start, end, cutStart, cutEnd, sinceDay } = pieces
    const { from, to } = daysOf(period)
    if (wanted === 'all kinds' && !hasDayBuckets) return [{ period: number, start, end, days: range(from, to) }]
    return [
      ...(cutStart ? [{ period: number, start: cutStart.start, end: cutStart.end, days: [sinceDay] }] : []),
      ...(cutEnd ? [{ period: number, start: cutEnd.start, end: cutEnd.end, days: [cutEnd.day] }] : []),
    ]
  })
}

/**
 * Whether periods are counted row by row where nothing is filtered: in buckets of hours, from inside a day. A session is a pair of
 * visitor and id here, which holds for two days in a row and not where there is a day between.
 */
export function areCountedByRow(periods: readonly PeriodSql[]): boolean {
  return (
    periods.length > 0 &&
    periods.every((period) => {
      const { from, to } = daysOf(period)
      return period.pieces.cutStart !== undefined && to - from <= 1 && !period.hasDayBuckets
    })
  )
}

const summed = ['begun', 'bounces', 'duration_ms', 'pageviews', 'events', 'conversions', 'samples'] as const
const rowColumns = [
  ...(['kind', 'key', 'detail', 'day', 'at', 'period', 'visitor', 'session', 'begin_day', 'is_present'] as const),
  ...summed,
] as const

function rowsOf(columns: Readonly<Record<(typeof rowColumns)[number], string>>): string {
  return rowColumns.map((name) => `${columns[name]} AS ${name}`).join(',')
}

/** The later period begins where the earlier one ends, or after it. */
function periodOf(at: string, periods: readonly PeriodSql[]): string {
  const [one, other] = periods
  return other === undefined ? `toUInt8(${one!.number})` : `toUInt8(if(${at}>={start_0:Int64},0,1))`
}

/** Rows of the elements of `seen` of chosen sessions. */
function sessionRows(periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const { isWantedPath, isWantedEvent } = selection ?? {}
  const isCounted =
    countedSpans(periods).length === 0
      ? '1'
      : `NOT (kind IN (${all},${converting},${page}) AND has({counted_days:Array(UInt32)},toUInt32(period*${daysMax}+day)))`
  // Of what the session itself counts for, and not of what its conversions are credited to.
  const pageviews = isWantedPath
    ? `multiIf(sessions=0,0,kind=${all},day_views,kind=${page},if(${isWantedPath('key')},pageviews,0),session_views)`
    : 'pageviews'
  const events = isWantedEvent ? `multiIf(sessions=0,0,kind=${all},day_events,session_events)` : 'events'
  const columns = rowsOf({
    ...{ kind: 'kind', key: 'toString(key)', detail: 'toString(detail)', day: 'day', at: 'at', period: 'period' },
    ...{ visitor: 'visitor', session: 'session', begin_day: 'begin_day' },
    is_present: `toUInt8(visitor!=0 AND (kind=${converting} OR sessions>0) AND ${isCounted})`,
    ...{ begun: 'begun', bounces: 'bounces', duration_ms: 'duration_ms', conversions: 'conversions' },
    pageviews: `if(${isCounted},${pageviews},0)`,
    events: `if(${isCounted},${events},0)`,
    samples: `if(${isCounted},samples,0)`,
  })
  const joined = seenColumns.map((name) => `seen_${name} AS ${name}`).join(',')
  const ofPeriods = periods.map(({ number, wanted }) => {
    const kinds = wanted === 'totals' ? ` AND kind IN (${all},${converting})` : ''
    return `(at>={start_${number}:Int64} AND at<{end_${number}:Int64}${kinds})`
  })
  return `SELECT ${columns} FROM (SELECT *,${seenColumns.join(',')},toUnixTimestamp64Milli(first_at)+after_ms AS at,${periodOf('at', periods)} AS period
    FROM (${sessionDays(periods, selection)}) ARRAY JOIN ${joined}) WHERE ${ofPeriods.join(' OR ')}`
}

const seenColumns = ['kind', 'key', 'detail', 'after_ms', ...sumNames.filter((name) => name !== 'fresh')] as const

/** Rows of chosen sessions, with what the day and the whole session have of wanted pageviews and events. */
function sessionDays(periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const { isWantedPath, isWantedEvent } = selection ?? {}
  const around = aroundOf(periods)
  const views =
    isWantedPath &&
    `arraySum((kind,key,n)->if(kind=${page} AND ${isWantedPath('key')},n,0),seen.kind,seen.key,seen.pageviews)`
  const seen = seenColumns.map((name) => `seen.${name} AS seen_${name}`)
  const beginDay = `${selection ? 'if(begins=1,day,toUInt16(day-1))' : 'toUInt16(0)'} AS begin_day`
  const isChosen = selection ? ` AND visitor!=0 AND ${selection.isOfChosen(around)}` : ''
  const columns = [
    'visitor',
    'session',
    'day',
    beginDay,
    'first_at',
    ...seen,
    ...(views ? [`${views} AS day_views`] : []),
  ]
  const rows = `SELECT ${columns.join(',')} FROM sessions FINAL
    WHERE ${inBuild} AND day IN {days:Array(UInt16)}${isChosen}`
  const joins = [
    ...(views ? [nextRows(around, views, 'next_views')] : []),
    ...(isWantedEvent ? [wantedEvents(around, isWantedEvent)] : []),
  ].map((counts, at) => ` LEFT ANY JOIN (${counts}) AS counts_${at} USING (visitor,session,day)`)
  return `SELECT *${views ? ',day_views+next_views AS session_views' : ''} FROM (${rows}) AS days${joins.join('')}`
}

/** Events of a wanted name on each day of sessions, and on this day and the next. */
function wantedEvents({ events }: Around, isWanted: (name: string) => string): string {
  return `SELECT visitor,session,of.1 AS day,sum(of.2) AS day_events,count() AS session_events
    FROM (SELECT visitor,session,${localDay} AS at_day,arrayJoin([(at_day,1),(toUInt16(at_day-1),0)]) AS of FROM events
      WHERE ${inWorkspace} AND visitor!=0 AND ${events} AND ${isWanted('toString(event_name)')}) GROUP BY visitor,session,day`
}

/** Rows of the events that are counted one by one. */
function eventRows(periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const { isWantedPath, isWantedEvent } = selection ?? {}
  const sessions = selection?.sessions('day IN {begin_days:Array(UInt16)}', aroundOf(periods))
  const isView = "event_kind='pageview'"
  const columns = rowsOf({
    ...{ kind: 'of.1', key: 'of.2', detail: "''", day: 'day', at: 'at', period: periodOf('at', periods) },
    ...{ visitor: 'visitor', session: 'session', begin_day: 'begin_day' },
    is_present: `toUInt8(visitor!=0 AND (of.1!=${page} OR ${isView}))`,
    ...{ begun: '0', bounces: '0', duration_ms: '0', conversions: '0' },
    pageviews: `(of.1!=${converting} AND ${isView}${isWantedPath ? ` AND ${isWantedPath('path')}` : ''})`,
    events: `(of.1=${all}${isWantedEvent ? ` AND ${isWantedEvent('name')}` : ''})`,
    samples: `(of.1=${page} AND is_sample)`,
  })
  const keys = `arrayConcat([(${all},'')],if(kind='conversion' AND visitor!=0,[(${converting},'')],[]),if(kind='pageview' OR ${isSample},[(${page},toString(path))],[]))`
  const spans = countedSpans(periods).map(
    (_, at) => `(occurred_at>=${moment(`counted_from_${at}`)} AND occurred_at<${moment(`counted_to_${at}`)})`,
  )
  const beginDay = sessions
    ? `multiIf((visitor,session,day) IN (${sessions}),day,(visitor,session,toUInt16(day-1)) IN (${sessions}),toUInt16(day-1),toUInt16(0))`
    : 'toUInt16(0)'
  const totalsAlone = periods.every(({ wanted }) => wanted === 'totals')
  return `SELECT ${columns} FROM (
      SELECT visitor,session,kind AS event_kind,toString(path) AS path,toString(event_name) AS name,${isSample} AS is_sample,
        ${eventMs} AS at,${selection ? localDay : 'toUInt16(0)'} AS day,arrayJoin(${keys}) AS of,
        ${beginDay} AS begin_day
      FROM events WHERE ${inWorkspace} AND ${isFolded} AND (${spans.join(' OR ')})${sessions ? ' AND visitor!=0 AND begin_day!=0' : ''})
    WHERE ${totalsAlone ? `of.1!=${page}` : `period=0 OR of.1!=${page}`}`
}

/** A session is of two days, so that the days beside the periods are looked at too. */
function aroundOf(periods: readonly PeriodSql[]): Around {
  const windows = periods.map(
    ({ number }) => `(occurred_at>=${moment(`look_from_${number}`)} AND occurred_at<${moment(`look_to_${number}`)})`,
  )
  return { days: 'day IN {days_around:Array(UInt16)}', events: `(${windows.join(' OR ')}) AND ${isFolded}` }
}
