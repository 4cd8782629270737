/**
 * The SQL of pages of a range that begins or ends inside a local day. They are counted from its events and the sessions
 * that begin in it.
 */
import { localDays } from '../../../schemas/time/local-days.ts'
import { localDayAt } from '../../../schemas/time/time-zone.ts'
import { moment } from '../../rollups/event-sql.ts'
import { type EventsOfRange, isOfChosen } from '../chosen-events.ts'
import { inBuild, inWorkspace, isFolded } from '../overview/figure-parts.ts'
import { localDay, selectionOf } from '../overview/selection.ts'
import type { Reader } from '../reader.ts'
import { type PageParts, pagePart } from './page-part.ts'

export async function cutPagesSql(ch: Reader, request: EventsOfRange): Promise<PageParts> {
  const { timezone, filters, start, end } = request
  const chosen = await isOfChosen(ch, request)
  const { wantedPathSql } = selectionOf(filters ?? new Map(), undefined)
  const isInRange = `${inWorkspace} AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')} AND ${isFolded}`
  const { starts, numbers } = localDays(timezone, start, end)
  return {
    parts: [
      ofEvents(`${isInRange} AND ${chosen.sql}${wantedPathSql ? ` AND ${wantedPathSql('path')}` : ''}`),
      ofSessions(chosen.sessionSql),
      ofPaths(isInRange),
    ],
    params: {
      day_starts: starts,
      day_numbers: numbers,
      ...chosen.params,
      first_day: localDayAt(start, timezone),
      last_day: localDayAt(end, timezone),
    },
  }
}

/**
 * Page views, conversions and leaves, by page, visitor, session and local day, then by the first three. A leave doesn't name its
 * page view. So time in sight is that of all page views of a page, session and day. Leaves of other days aren't counted.
 */
function ofEvents(which: string): string {
  const isTimed = 'visitor!=0 AND views>0 AND leaves>0'
  const isScrolled = 'visitor!=0 AND views>0 AND depth>0'
  const ofDays = `SELECT any(cityHash64(path)) AS page,any(events.visitor) AS visitor,any(cityHash64(path,events.visitor,events.session)) AS pair,
      any(${localDay}) AS day,countIf(kind='pageview') AS views,countIf(kind='page_leave') AS leaves,countIf(kind='conversion') AS converted,
      sumIf(engagement_ms,kind='page_leave') AS engaged,maxIf(scroll_depth,kind='page_leave') AS depth
    FROM events WHERE ${which} AND kind IN ('pageview','page_leave','conversion')
    GROUP BY cityHash64(path,events.visitor,events.session,${localDay})`
  const ofPairs = `SELECT any(page) AS its_page,any(visitor) AS its_visitor,sum(views) AS all_views,sum(converted) AS all_converted,
      groupArrayIf(day,views>0) AS days,
      sumIf(engaged,${isTimed}) AS engaged_ms,sumIf(views,${isTimed}) AS timed_views,sumIf(depth,${isScrolled}) AS depths,countIf(${isScrolled}) AS scrolled
    FROM (${ofDays}) GROUP BY pair`
  return pagePart(
    {
      page: 'its_page',
      pageviews: 'sum(all_views)',
      conversions: 'sum(all_converted)',
      visitors: 'uniqExactIf(its_visitor,its_visitor!=0 AND all_views>0)',
      // After a silent day the session of a page begins anew.
      sessions: 'sumIf(length(arrayFilter(day->NOT has(days,toUInt16(day-1)),days)),its_visitor!=0)',
      engaged_ms: 'sum(pairs.engaged_ms)',
      timed_views: 'sum(pairs.timed_views)',
      depths: 'sum(pairs.depths)',
      scrolled: 'sum(pairs.scrolled)',
    },
    `FROM (${ofPairs}) AS pairs GROUP BY its_page`,
  )
}

/** Entries and exits of the sessions that begin in the range. */
function ofSessions(which: string): string {
  return pagePart(
    { page: 'of.1', entries: 'sum(of.2)', bounces: 'sum(of.3)', exits: 'sum(of.4)' },
    `FROM (SELECT arrayJoin([(cityHash64(entry_path),1,is_bounce,0),(cityHash64(exit_path),0,0,1)]) AS of FROM sessions FINAL
      WHERE ${inBuild} AND day>={first_day:UInt16} AND day<={last_day:UInt16} AND nth_day=1 AND session_pageviews>0
        AND first_at>=${moment('start')} AND first_at<${moment('end')} AND ${which}) GROUP BY of.1`,
  )
}

function ofPaths(which: string): string {
  return pagePart(
    { page: 'cityHash64(path)', name: 'toString(path)' },
    `FROM events WHERE ${which} AND kind='pageview' GROUP BY path`,
  )
}
