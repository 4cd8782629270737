/** What rows of `sessions` count for, where figures are counted row by row. */
import { cellKinds, sumNames } from '../../rollups/appearance.ts'
import { moment } from '../../rollups/event-sql.ts'
import { inBuild, inWorkspace, isFolded, type PeriodSql } from './figure-parts.ts'
import { beginDay, localDay, type Selection } from './selection.ts'

const { all, page } = cellKinds

/** Of `seen`. Rows of `sessionDays` have them as `seen_…`. */
export const seenColumns = ['kind', 'key', 'detail', 'after_ms', ...sumNames] as const

/** SQL of an ARRAY JOIN of such rows: a row for each appearance. */
export const joined = seenColumns.map((name) => `seen_${name} AS ${name}`).join(',')

/**
 * Selects the rows of `sessions` that count, with what the day and the whole session have of wanted pageviews and events.
 * @param days SQL condition over `day` @param periods those that the days are of
 */
export function sessionDays(days: string, periods: readonly PeriodSql[], selection: Selection | undefined): string {
  const { isWantedPath, isWantedEvent } = selection ?? {}
  const columns = [
    ...['visitor', 'session', 'day', `${selection ? beginDay : 'toUInt16(0)'} AS begin_day`, 'first_at'],
    ...seenColumns.map((name) => `seen.${name} AS seen_${name}`),
    ...(isWantedPath ? wantedViews(isWantedPath) : []),
  ]
  const isChosen = selection ? ` AND ${selection.isChosen(eventsAround(periods))}` : ''
  const rows = `SELECT ${columns.join(',')} FROM sessions FINAL WHERE ${inBuild} AND ${days}${isChosen}`
  if (isWantedEvent === undefined) return rows
  const counts = wantedEvents(eventsAround(periods), isWantedEvent)
  return `SELECT * FROM (${rows}) AS days LEFT ANY JOIN (${counts}) AS counts USING (visitor,session,day)`
}

/** SQL of what an appearance has of wanted pageviews and events: what the session itself counts for, and not its conversions' credits. */
export function wantedOf(selection: Selection | undefined): { readonly pageviews: string; readonly events: string } {
  const { isWantedPath, isWantedEvent } = selection ?? {}
  return {
    pageviews: isWantedPath
      ? `multiIf(sessions=0,0,kind=${all},day_views,kind=${page},if(${isWantedPath('key')},pageviews,0),session_views)`
      : 'pageviews',
    events: isWantedEvent ? `multiIf(sessions=0,0,kind=${all},day_events,session_events)` : 'events',
  }
}

/** Counts pageviews of a wanted path on a row's day, and on both days of its session. */
export function wantedViews(isWanted: (path: string) => string): string[] {
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
