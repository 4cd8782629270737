/** The rows of `sessions` and their counts, where figures are counted row by row. */
import { cellKinds, countNames } from '../../rollups/appearance.ts'
import { moment } from '../../rollups/event-sql.ts'
import { inBuild, inWorkspace, isFolded, type PeriodSql } from './figure-parts.ts'
import { beginDay, localDay, type Selection } from './selection.ts'

const { all, page } = cellKinds

/** Columns of `seen` that figures of an overview are made of. Rows of `seenDays` have them as `seen_…`. */
export const seenColumns = ['kind', 'key', 'detail', 'after_ms', ...countNames] as const

/** SQL of an ARRAY JOIN of such rows: a row for each appearance. */
export const joined = seenColumns.map((name) => `seen_${name} AS ${name}`).join(',')

/**
 * Selects the rows of `sessions` that count, with their appearances, and with the wanted pageviews and events of the
 * day and the whole session.
 * @param days SQL condition over `day`
 * @param period that the days are of
 */
export function seenDays(days: string, period: PeriodSql, selection: Selection | undefined): string {
  const { wantedPathSql } = selection ?? {}
  const columns = [
    ...namesOf(selection),
    ...seenColumns.map((name) => `seen.${name} AS seen_${name}`),
    ...(wantedPathSql ? wantedViews(wantedPathSql) : []),
  ]
  return sessionDays(columns, days, period, selection)
}

/**
 * Selects such rows with the sums of their day and the whole session: columns of the entry, `day_views`,
 * `session_views`, `day_events` and `session_events`. Pageviews and events are the wanted ones, where some are; other
 * columns are changed by no filter.
 */
export function ownDays(days: string, period: PeriodSql, selection: Selection | undefined): string {
  const { wantedPathSql, wantedEventSql } = selection ?? {}
  const columns = [
    ...namesOf(selection),
    'nth_day',
    'source',
    'medium',
    'device',
    'browser',
    'country',
    'entry_path',
    'session_pageviews',
    'session_ms',
    'is_bounce',
    'day_conversions',
    ...(wantedPathSql
      ? wantedViews(wantedPathSql)
      : ['day_pageviews AS day_views', 'session_pageviews AS session_views']),
    ...(wantedEventSql ? [] : ['day_events', 'session_events']),
  ]
  return sessionDays(columns, days, period, selection)
}

function namesOf(selection: Selection | undefined): string[] {
  return ['visitor', 'session', 'day', `${selection ? beginDay : 'toUInt16(0)'} AS begin_day`, 'first_at']
}

function sessionDays(
  columns: readonly string[],
  days: string,
  period: PeriodSql,
  selection: Selection | undefined,
): string {
  const { wantedEventSql, chosenSql } = selection ?? {}
  const events = eventsAround([period])
  const chosen = chosenSql ? ` AND ${chosenSql(events)}` : ''
  const rows = `SELECT ${columns.join(',')} FROM sessions FINAL WHERE ${inBuild} AND ${days}${chosen}`
  if (wantedEventSql === undefined) return rows
  const counts = wantedEvents(events, wantedEventSql)
  return `SELECT * FROM (${rows}) AS days LEFT ANY JOIN (${counts}) AS counts USING (visitor,session,day)`
}

/**
 * SQL of an appearance's wanted pageviews and events: those of the session itself, not those of its conversions'
 * credits.
 */
export function wantedOf(selection: Selection | undefined): { readonly pageviews: string; readonly events: string } {
  const { wantedPathSql, wantedEventSql } = selection ?? {}
  return {
    pageviews: wantedPathSql
      ? `multiIf(sessions=0,0,kind=${all},day_views,kind=${page},if(${wantedPathSql('key')},pageviews,0),session_views)`
      : 'pageviews',
    events: wantedEventSql ? `multiIf(sessions=0,0,kind=${all},day_events,session_events)` : 'events',
  }
}

/** Counts pageviews of a wanted path on a row's day, and on both days of its session. */
function wantedViews(isWanted: (path: string) => string): string[] {
  return [
    `arraySum((kind,key,n)->if(kind=${page} AND ${isWanted('key')},n,0),seen.kind,seen.key,seen.pageviews) AS day_views`,
    `day_views+arraySum((key,n)->if(${isWanted('key')},n,0),other_pages.path,other_pages.pageviews) AS session_views`,
  ]
}

/** Counts events of a wanted name on each day of a session, and on this day and the next. */
function wantedEvents(events: string, isWanted: (name: string) => string): string {
  return `SELECT visitor,session,of.1 AS day,sum(of.2) AS day_events,count() AS session_events
    FROM (SELECT visitor,session,${localDay} AS at_day,arrayJoin([(at_day,1),(toUInt16(at_day-1),0)]) AS of FROM events
      WHERE ${inWorkspace} AND visitor!=0 AND ${events} AND ${isWanted('toString(event_name)')}) GROUP BY visitor,session,day`
}

/** SQL condition over events of the periods' days and, because a session is of two days, of the days beside them. */
export function eventsAround(periods: readonly PeriodSql[]): string {
  const windows = periods.map(
    ({ number }) => `(occurred_at>=${moment(`look_from_${number}`)} AND occurred_at<${moment(`look_to_${number}`)})`,
  )
  return `(${windows.join(' OR ')}) AND ${isFolded}`
}
