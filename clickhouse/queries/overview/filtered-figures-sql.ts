/**
 * The SQL of an overview's figures for chosen sessions. Who appeared first (`prev_day`) says nothing of a part of the sessions,
 * so distinct visitors and sessions are counted here. Held by test/property/overview-filters.test.ts.
 *
 * A session's row counts by its `seen`; what a day that is cut, or an hour, has of pages and events is counted from `events`.
 */
import { dayMs } from '../../../schemas/time/time-zone.ts'
import { cellKinds, sumNames } from '../../rollups/appearance.ts'
import { eventMs, isSample } from '../../rollups/event-sql.ts'
import {
  type FigureName,
  inBuild,
  inWorkspace,
  isFolded,
  type PeriodSql,
  part,
  seriesPeriod,
  termsOf,
} from './figure-parts.ts'
import { composed } from './figures-sql.ts'
import { localDay, type Selection } from './selection.ts'

const { all, converting, page } = cellKinds

/** The statement, with rows as `composed` has them; the series has a period of its own. */
export function filteredFiguresSql(periods: readonly PeriodSql[], selection: Selection): string {
  return composed(periods.map((period) => periodPart(period, selection)))
}

/**
 * Parameters of a period, beside `periodParams`: its days (`first_day` to `final_day`), the days whose pages and events are counted
 * from `events` (`counted_days`), and when those events were: from `counted_from` to `counted_to`, and from `last_from` to the end.
 */
export function filteredParams({ number, pieces, hasDayBuckets, wanted }: PeriodSql): Record<string, unknown> {
  const { start, end, days, cutStart, cutEnd, sinceDay } = pieces
  const isByHours = wanted === 'all kinds' && !hasDayBuckets
  const last = Math.max(days.to, cutEnd?.day ?? 0, sinceDay)
  const counted = isByHours
    ? { counted_from: start, counted_to: end, last_from: end }
    : { counted_from: cutStart?.start ?? end, counted_to: cutStart?.end ?? end, last_from: cutEnd?.start ?? end }
  const values = {
    ...{ first_day: sinceDay, day_before: sinceDay - 1, final_day: last, day_after: last + 1 },
    counted_days: isByHours
      ? Array.from({ length: last - sinceDay + 1 }, (_, at) => sinceDay + at)
      : [...(cutStart ? [sinceDay] : []), ...(cutEnd ? [cutEnd.day] : [])],
    ...{ look_from: pieces.startOf(sinceDay) - 2 * dayMs, look_to: end + 3 * dayMs },
    ...counted,
  }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${name}_${number}`, value]))
}

function periodPart(period: PeriodSql, selection: Selection): string {
  const { number, hasDayBuckets, wanted } = period
  const isTotals = wanted === 'totals'
  const bucket = hasDayBuckets
    ? 'toInt64(roundDown(day,{bucket_days:Array(UInt16)}))'
    : 'toInt64(roundDown(at,{bucket_starts:Array(Int64)}))'
  const inSeries = `arrayJoin(if(kind=${all},[(${number},toInt64(0)),(${seriesPeriod},${bucket})],[(${number},toInt64(0))]))`
  const visitors = 'uniqExactIf(visitor,is_present)'
  const sessions = 'uniqExactIf((visitor,session,begin_day),is_present)'
  const figures: Partial<Record<FigureName, string>> = {
    ...{ visitors, sessions, bucket_visitors: visitors, bucket_sessions: sessions },
    ...Object.fromEntries(summed.map((name) => [name, `sum(rows.${name})`])),
  }
  const rows = [sessionRows(period, selection), eventRows(period, selection)].join(' UNION ALL ')
  const of = isTotals ? `(${number},toInt64(0))` : inSeries
  return part(
    'of.1',
    'kind,key,detail,of.2 AS bucket',
    figures,
    `FROM (SELECT *,${of} AS of FROM (${rows})${isTotals ? ` WHERE kind IN (${all},${converting})` : ''}) AS rows GROUP BY of,kind,key,detail`,
  )
}

const summed = ['begun', 'bounces', 'duration_ms', 'pageviews', 'events', 'conversions', 'samples'] as const
const rowColumns = [
  'kind',
  'key',
  'detail',
  'day',
  'at',
  'visitor',
  'session',
  'begin_day',
  'is_present',
  ...summed,
] as const

function rowsOf(columns: Readonly<Record<(typeof rowColumns)[number], string>>): string {
  return rowColumns.map((name) => `${columns[name]} AS ${name}`).join(',')
}

/** Rows of the elements of `seen` of chosen sessions. */
function sessionRows(period: PeriodSql, selection: Selection): string {
  const { value, day } = termsOf(period)
  const { isWantedPath, isWantedEvent } = selection
  const isCounted = `NOT (day IN ${value('counted_days', 'Array(UInt16)')} AND kind IN (${all},${converting},${page}))`
  // Of what the session itself counts for, and not of what its conversions are credited to.
  const pageviews = isWantedPath
    ? `multiIf(sessions=0,0,kind=${all},day_views,kind=${page},if(${isWantedPath('key')},pageviews,0),session_views)`
    : 'pageviews'
  const events = isWantedEvent ? `multiIf(sessions=0,0,kind=${all},day_events,session_events)` : 'events'
  const columns = rowsOf({
    ...{ kind: 'kind', key: 'toString(key)', detail: 'toString(detail)', day: 'day', at: 'at' },
    ...{ visitor: 'visitor', session: 'session', begin_day: 'begin_day' },
    is_present: `toUInt8((kind=${converting} OR sessions>0) AND ${isCounted})`,
    ...{ begun: 'begun', bounces: 'bounces', duration_ms: 'duration_ms', conversions: 'conversions' },
    pageviews: `if(${isCounted},${pageviews},0)`,
    events: `if(${isCounted},${events},0)`,
    samples: `if(${isCounted},samples,0)`,
  })
  const joined = seenColumns.map((name) => `seen_${name} AS ${name}`).join(',')
  return `SELECT ${columns} FROM (SELECT *,${seenColumns.join(',')},toUnixTimestamp64Milli(first_at)+after_ms AS at FROM (${sessionDays(period, selection)}) ARRAY JOIN ${joined})
    WHERE at>=${value('start', 'Int64')} AND at<${value('end', 'Int64')} AND day<=${day('final_day')}`
}

const seenColumns = ['kind', 'key', 'detail', 'after_ms', ...sumNames.filter((name) => name !== 'fresh')] as const

/** Days of chosen sessions, with what the day and the whole session have of wanted pageviews and events. */
function sessionDays(period: PeriodSql, selection: Selection): string {
  const { day } = termsOf(period)
  const { isWantedPath, isWantedEvent } = selection
  const beginDay = 'if(begins=1,day,toUInt16(day-1))'
  const ofSession = 'OVER (PARTITION BY visitor,session,begin_day)'
  const views =
    isWantedPath &&
    `arraySum((kind,key,n)->if(kind=${page} AND ${isWantedPath('key')},n,0),seen_kind,seen_key,seen_pageviews) AS day_views,
      sum(day_views) ${ofSession} AS session_views`
  const events = isWantedEvent && `wanted AS day_events,sum(wanted) ${ofSession} AS session_events`
  const counts = [views, events].map((columns) => (columns ? `,${columns}` : '')).join('')
  const wanted =
    isWantedEvent &&
    `SELECT visitor,session,${localDay} AS day,count() AS wanted FROM events
      WHERE ${inWorkspace} AND visitor!=0 AND ${isInWindow(period)} AND ${isFolded} AND ${isWantedEvent('toString(event_name)')}
      GROUP BY visitor,session,day`
  return `SELECT *${counts} FROM (
      SELECT visitor,session,day,${beginDay} AS begin_day,first_at,${seenColumns.map((name) => `seen.${name} AS seen_${name}`).join(',')}
      FROM sessions FINAL WHERE ${inBuild} AND visitor!=0 AND day>=${day('first_day')} AND day<=${day('day_after')}
        AND (visitor,session,${beginDay}) IN (${chosenSessions(period, selection)})) AS days
    ${wanted ? `LEFT JOIN (${wanted}) AS counts USING (visitor,session,day)` : ''}`
}

/** Rows of the events that are counted one by one. */
function eventRows(period: PeriodSql, selection: Selection): string {
  const { at, value } = termsOf(period)
  const { isWantedPath, isWantedEvent } = selection
  const sessions = chosenSessions(period, selection)
  const isView = "event_kind='pageview'"
  const columns = rowsOf({
    ...{ kind: 'of.1', key: 'of.2', detail: "''", day: 'day', at: 'at', visitor: 'visitor', session: 'session' },
    begin_day: 'begin_day',
    is_present: `toUInt8(of.1!=${page} OR ${isView})`,
    ...{ begun: '0', bounces: '0', duration_ms: '0', conversions: '0' },
    pageviews: `(of.1!=${converting} AND ${isView}${isWantedPath ? ` AND ${isWantedPath('path')}` : ''})`,
    events: `(of.1=${all}${isWantedEvent ? ` AND ${isWantedEvent('name')}` : ''})`,
    samples: `(of.1=${page} AND is_sample)`,
  })
  const keys = `arrayConcat([(${all},'')],if(${"kind='conversion'"},[(${converting},'')],[]),if(kind='pageview' OR ${isSample},[(${page},toString(path))],[]))`
  return `SELECT ${columns} FROM (
      SELECT visitor,session,kind AS event_kind,toString(path) AS path,toString(event_name) AS name,${isSample} AS is_sample,
        ${eventMs} AS at,${localDay} AS day,arrayJoin(${keys}) AS of,
        multiIf((visitor,session,day) IN (${sessions}),day,(visitor,session,toUInt16(day-1)) IN (${sessions}),toUInt16(day-1),toUInt16(0)) AS begin_day
      FROM events WHERE ${inWorkspace} AND visitor!=0 AND ${isFolded} AND begin_day!=0
        AND ((occurred_at>=${at('counted_from')} AND occurred_at<${at('counted_to')}) OR (occurred_at>=${at('last_from')} AND occurred_at<${at('end')})))
    WHERE at<${value('end', 'Int64')}`
}

/** Sessions that a period can have events of. */
function chosenSessions(period: PeriodSql, { sessions }: Selection): string {
  const { day } = termsOf(period)
  return sessions(day('day_before'), day('final_day'), `${isInWindow(period)} AND ${isFolded}`)
}

/** The days of the period, with one more before and after: a session is of two days. */
function isInWindow(period: PeriodSql): string {
  const { at } = termsOf(period)
  return `occurred_at>=${at('look_from')} AND occurred_at<${at('look_to')}`
}
