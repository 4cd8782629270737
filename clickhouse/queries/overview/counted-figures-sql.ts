/**
 * The SQL of an overview's figures that are counted row by row, in two cases. Filtered sessions: first appearances
 * (`prev_day`) are known for all sessions together, not for some. Ranges of at most two local days that begin inside a
 * day: counting rows takes half the time. Held by test/property/overview.test.ts.
 *
 * A session's row counts by its `seen`. Pages and events of an hour, or of a cut day, are counted from `events`. The
 * previous period has totals only. The time of an appearance or an event decides its period.
 */
import type { Span } from '../../../schemas/time/time-range.ts'
import { dayMs } from '../../../schemas/time/time-zone.ts'
import { cellKinds } from '../../rollups/appearance.ts'
import { eventMs, isSample, moment } from '../../rollups/event-sql.ts'
import { eventsAround, joined, ownDays, seenColumns, seenDays, wantedOf } from './counted-rows-sql.ts'
import { type FigureName, inWorkspace, isFolded, type PeriodSql, part, seriesPeriod } from './figure-parts.ts'
import { composed } from './figures-sql.ts'
import type { DaySpan } from './pieces.ts'
import { chosenRows, localDay, type Selection } from './selection.ts'
import { isWholeDays, wholeDaysParts } from './whole-days-sql.ts'

const { all, converting, page } = cellKinds

/**
 * @param periods the period (number 0), then, if it is asked for, the one before (1), which has totals alone
 * @param selection undefined: all events count; periods have at most two local days each
 */
export function countedFiguresSql(periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const whole = selection ? periods.filter(isWholeDays).flatMap((period) => wholeDaysParts(period, selection)) : []
  const cut = periods.filter((period) => !isWholeDays(period))
  return composed([...whole, ...(cut.length > 0 ? [countedPart(cut, selection)] : [])])
}

function countedPart(periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const current = periods.find(({ wanted }) => wanted === 'all kinds')
  const bucket = current?.hasDayBuckets
    ? 'toInt64(roundDown(day,{bucket_days:Array(UInt16)}))'
    : 'toInt64(roundDown(at,{bucket_starts:Array(Int64)}))'
  const inBucket = current ? `if(kind=${all} AND period=0,[(toUInt8(${seriesPeriod}),${bucket})],[])` : '[]'
  const buckets = `arrayConcat([(period,toInt64(0))],${inBucket})`
  const visitors = 'uniqExactIf(visitor,is_present)'
  const sessions = 'uniqExactIf(cityHash64(visitor,session,begin_day),is_present)'
  const figures: Partial<Record<FigureName, string>> = {
    visitors,
    sessions,
    bucket_visitors: visitors,
    bucket_sessions: sessions,
    ...Object.fromEntries(summed.map((name) => [name, `sum(counted.${name})`])),
  }
  const hasEventRows = eventSpans(periods).length > 0
  const rows = [
    ...periods.map((period) => (period.wanted === 'totals' ? ownRows : seenRows)(period, periods, selection)),
    ...(hasEventRows ? [eventRows(periods, selection)] : []),
  ]
  return part(
    'of.1',
    'kind,key,detail,of.2 AS bucket',
    figures,
    `FROM (SELECT *,arrayJoin(${buckets}) AS of FROM (${rows.join(' UNION ALL ')})) AS counted GROUP BY of,kind,key,detail`,
  )
}

/**
 * Parameters beside `periodParams`. `days_…` are local days of a period that isn't whole days. `span_days`, and by
 * period `event_days`, are those whose pages and events are counted from `events`.
 */
export function countedParams(periods: readonly PeriodSql[]): Record<string, unknown> {
  const cut = periods.filter((period) => !isWholeDays(period))
  const spans = eventSpans(cut)
  const values = {
    span_days: spans.flatMap(({ days }) => days),
    event_days: spans.flatMap(({ period, days }) => days.map((day) => period * dayNumbers + day)),
  }
  const windows = periods.flatMap(({ number, pieces }): [string, number][] => [
    [`look_from_${number}`, pieces.startOf(pieces.sinceDay) - 2 * dayMs],
    [`look_to_${number}`, pieces.end + 3 * dayMs],
  ])
  const days = cut.map((period): [string, number[]] => {
    const { from, to } = daysOf(period)
    return [`days_${period.number}`, daysBetween(from, to)]
  })
  const moments = spans.flatMap(({ start, end }, at): [string, number][] => [
    [`events_from_${at}`, start],
    [`events_to_${at}`, end],
  ])
  return { ...values, ...Object.fromEntries([...days, ...windows, ...moments]) }
}

/** A period and a day of it are one number here: the period times this, and the day, which has 16 bits. */
const dayNumbers = 65_536

function daysBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

function daysOf({ pieces: { days, cutEnd, sinceDay } }: PeriodSql): DaySpan {
  return { from: sinceDay, to: Math.max(days.to, cutEnd?.day ?? 0, sinceDay) }
}

interface EventSpan extends Span {
  readonly period: number
  readonly days: readonly number[]
}

/** The spans that are counted from `events`: hours, and the days that periods begin and end inside of. */
function eventSpans(periods: readonly PeriodSql[]): EventSpan[] {
  return periods.flatMap((period) => {
    const { number, pieces, hasDayBuckets, wanted } = period
    const { start, end, cutStart, cutEnd, sinceDay } = pieces
    const { from, to } = daysOf(period)
    if (wanted === 'all kinds' && !hasDayBuckets) return [{ period: number, start, end, days: daysBetween(from, to) }]
    return [
      ...(cutStart ? [{ period: number, start: cutStart.start, end: cutStart.end, days: [sinceDay] }] : []),
      ...(cutEnd ? [{ period: number, start: cutEnd.start, end: cutEnd.end, days: [cutEnd.day] }] : []),
    ]
  })
}

/**
 * Whether periods are counted row by row where nothing is filtered: in buckets of hours, from inside a day. A session is
 * a pair of visitor and id here. That holds for two days in a row, and not where there is a day between.
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
  'kind',
  'key',
  'detail',
  'day',
  'at',
  'period',
  'visitor',
  'session',
  'begin_day',
  'is_present',
  ...summed,
] as const

function rowsOf(columns: Readonly<Record<(typeof rowColumns)[number], string>>): string {
  return rowColumns.map((name) => `${columns[name]} AS ${name}`).join(',')
}

/** The period begins where the one before ends, or after it. */
const periodSql = 'toUInt8(if(at>={start_0:Int64},0,1))'

/** SQL condition: the row's counts aren't counted from `events`. */
function isOfRow(periods: readonly PeriodSql[]): string {
  if (eventSpans(periods).length === 0) return '1'
  return `(NOT (kind IN (${all},${converting},${page}) AND has({event_days:Array(UInt32)},toUInt32(period*${dayNumbers}+day))))`
}

const isWithin = ({ number }: PeriodSql) => `at>={start_${number}:Int64} AND at<{end_${number}:Int64}`
const daysIn = ({ number }: PeriodSql) => `day IN {days_${number}:Array(UInt16)}`

/** Selects a row for each element of `seen` of the sessions that count. */
function seenRows(period: PeriodSql, periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const ofRow = isOfRow(periods)
  const { pageviews, events } = wantedOf(selection)
  const columns = rowsOf({
    kind: 'kind',
    key: 'toString(key)',
    detail: 'toString(detail)',
    day: 'day',
    at: 'at',
    period: 'period',
    visitor: 'visitor',
    session: 'session',
    begin_day: 'begin_day',
    is_present: `toUInt8(visitor!=0 AND (kind=${converting} OR sessions>0) AND ${ofRow})`,
    begun: 'begun',
    bounces: 'bounces',
    duration_ms: 'duration_ms',
    conversions: `if(kind=${all} AND NOT ${ofRow},0,conversions)`,
    pageviews: `if(${ofRow},${pageviews},0)`,
    events: `if(${ofRow},${events},0)`,
    samples: `if(${ofRow},samples,0)`,
  })
  return `SELECT ${columns} FROM (SELECT *,${seenColumns.join(',')},toUnixTimestamp64Milli(first_at)+after_ms AS at,toUInt8(${period.number}) AS period
    FROM (${seenDays(daysIn(period), period, selection)}) ARRAY JOIN ${joined}) WHERE ${isWithin(period)}`
}

/**
 * Selects rows of kinds `all` and `converting` alone. A day's first conversion may have come after the session's first event:
 * on days that are cut it is counted from `events`.
 */
function ownRows(period: PeriodSql, periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const ofRow = isOfRow(periods)
  const ofAll = (value: string) => `if(kind=${all},${value},0)`
  const ofAllRows = (value: string) => `if(kind=${all} AND ${ofRow},${value},0)`
  const columns = rowsOf({
    kind: 'kind',
    key: "''",
    detail: "''",
    day: 'day',
    at: 'at',
    period: 'period',
    visitor: 'visitor',
    session: 'session',
    begin_day: 'begin_day',
    is_present: `toUInt8(visitor!=0 AND ${ofRow})`,
    begun: ofAll('nth_day=1'),
    bounces: ofAll('is_bounce'),
    duration_ms: ofAll('session_ms'),
    conversions: ofAllRows('day_conversions'),
    pageviews: ofAllRows('day_views'),
    events: ofAllRows('day_events'),
    samples: '0',
  })
  return `SELECT ${columns} FROM (SELECT *,toUnixTimestamp64Milli(first_at) AS at,toUInt8(${period.number}) AS period,
      arrayJoin(if(day_conversions>0,[${all},${converting}],[${all}])) AS kind
    FROM (${ownDays(daysIn(period), period, selection)})) WHERE ${isWithin(period)}`
}

/** Selects rows for the events that are counted one by one. */
function eventRows(periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const { wantedPathSql, wantedEventSql } = selection ?? {}
  const isView = "event_kind='pageview'"
  const columns = rowsOf({
    kind: 'of.1',
    key: 'of.2',
    detail: "''",
    day: 'day',
    at: 'at',
    period: periodSql,
    visitor: 'visitor',
    session: 'session',
    begin_day: 'begin_day',
    is_present: `toUInt8(visitor!=0 AND (of.1!=${page} OR ${isView}))`,
    begun: '0',
    bounces: '0',
    duration_ms: '0',
    conversions: `(of.1=${all} AND event_kind='conversion')`,
    pageviews: `(of.1!=${converting} AND ${isView}${wantedPathSql ? ` AND ${wantedPathSql('path')}` : ''})`,
    events: `(of.1=${all}${wantedEventSql ? ` AND ${wantedEventSql('name')}` : ''})`,
    samples: `(of.1=${page} AND is_sample)`,
  })
  const keys = `arrayConcat([(${all},'')],if(kind='conversion' AND visitor!=0,[(${converting},'')],[]),if(kind='pageview' OR ${isSample},[(${page},toString(path))],[]))`
  const spans = eventSpans(periods).map(
    (_, at) => `(occurred_at>=${moment(`events_from_${at}`)} AND occurred_at<${moment(`events_to_${at}`)})`,
  )
  const isOf = (nthDay: number) => {
    const days = `day IN {span_days:Array(UInt16)} AND nth_day=${nthDay}`
    return selection && `(visitor,session,day) IN (${chosenRows(selection, days, eventsAround(periods))})`
  }
  return `SELECT ${columns} FROM (
      SELECT visitor,session,kind AS event_kind,toString(path) AS path,toString(event_name) AS name,${isSample} AS is_sample,
        ${eventMs} AS at,${selection ? localDay : 'toUInt16(0)'} AS day,arrayJoin(${keys}) AS of,
        ${selection ? `multiIf(${isOf(1)},day,${isOf(2)},toUInt16(day-1),toUInt16(0))` : 'toUInt16(0)'} AS begin_day
      FROM events WHERE ${inWorkspace} AND ${isFolded} AND (${spans.join(' OR ')})${selection ? ' AND visitor!=0 AND begin_day!=0' : ''})
    WHERE period=0 OR of.1!=${page}`
}
