/** The pages of a range with their figures. Held by test/property/pages.test.ts against a naive computation. */
import type { PageSort } from '../../schemas/resources/page-report.ts'
import { localDays } from '../../schemas/time/local-days.ts'
import { localDayAt } from '../../schemas/time/time-zone.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { type EventsOfRange, isOfChosen } from './chosen-events.ts'
import { inBuild, inWorkspace, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { localDay, selectionOf } from './overview/selection.ts'
import { composedStatement, type Reader } from './reader.ts'

export interface PagesRequest extends EventsOfRange {
  readonly sort: PageSort
  readonly limit: number
}

export interface PageGroup {
  readonly path: string
  readonly title: string
  readonly pageviews: number
  readonly visitors: number
  readonly sessions: number
  readonly entries: number
  readonly bounces: number
  readonly exits: number
  /** The time in sight, and the pageviews that it is of. */
  readonly engaged_ms: number
  readonly timed_views: number
  /** The sum of greatest depths in per cent, and how many there are. */
  readonly depths: number
  readonly scrolled: number
}

const sums = [
  ...(['pageviews', 'visitors', 'sessions', 'entries', 'bounces', 'exits'] as const),
  ...(['engaged_ms', 'timed_views', 'depths', 'scrolled'] as const),
] as const

/** SQL of the figure that pages are ordered by, the greatest first. */
const orders: Readonly<Record<PageSort, string>> = {
  ...{ pageviews: 'pageviews', visitors: 'visitors', entries: 'entries', exits: 'exits' },
  time_on_page_seconds: 'if(timed_views=0,-1,engaged_ms/timed_views)',
}

export async function readPages(ch: Reader, request: PagesRequest): Promise<PageGroup[]> {
  const { timezone, filters, start, end, sort, limit } = request
  if (start >= end) return []
  const chosen = await isOfChosen(ch, request)
  const { wantedPathSql } = selectionOf(filters ?? new Map(), undefined)
  const isInRange = `${inWorkspace} AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')} AND ${isFolded}`
  const parts = [
    ofEvents(`${isInRange} AND ${chosen.sql}${wantedPathSql ? ` AND ${wantedPathSql('path')}` : ''}`),
    ofSessions(chosen.sessionSql),
    ofTitles(isInRange),
  ]
  const { starts, numbers } = localDays(timezone, start, end)
  return ch.query<PageGroup>(
    `WITH ${coverageSql} AS coverage
     SELECT max(name) AS path,max(newest) AS title,${sums.map((name) => `sum(of_page.${name}) AS ${name}`).join(',')}
     FROM (${parts.join(' UNION ALL ')}) AS of_page GROUP BY page HAVING pageviews>0
     ORDER BY ${orders[sort]} DESC,pageviews DESC,path LIMIT {limit:UInt32}`,
    {
      ...{ day_starts: starts, day_numbers: numbers },
      ...{ first_day: localDayAt(start, timezone), last_day: localDayAt(end, timezone) },
      ...{ ...chosen.params, limit },
    },
    { settings: composedStatement },
  )
}

/** Selects rows of one part. Pages are told apart by a hash, because grouping by paths takes twice the time. */
function part(known: Partial<Record<'name' | 'newest' | (typeof sums)[number], string>>, source: string): string {
  const { name = "''", newest = "''", ...figures } = known
  return `SELECT page,${name} AS name,${newest} AS newest,${sums.map((name) => `toUInt64(${figures[name] ?? '0'}) AS ${name}`).join(',')} FROM (${source}) GROUP BY page`
}

/**
 * Pageviews and leaves, a row for each page and pair of visitor and session. A leave doesn't name its pageview. So time in sight is
 * that of all pageviews that a pair has of a page. Leaves of a pageview before the range aren't counted.
 */
function ofEvents(which: string): string {
  const isTimed = 'visitor!=0 AND views>0 AND leaves>0'
  const isScrolled = 'visitor!=0 AND views>0 AND depth>0'
  return part(
    {
      ...{ pageviews: 'sum(views)', visitors: 'uniqExactIf(visitor,visitor!=0 AND views>0)' },
      // After a silent day the session of a page begins anew.
      sessions: 'sumIf(length(arrayFilter(day->NOT has(days,toUInt16(day-1)),days)),visitor!=0)',
      ...{ engaged_ms: `sumIf(engaged,${isTimed})`, timed_views: `sumIf(views,${isTimed})` },
      ...{ depths: `sumIf(depth,${isScrolled})`, scrolled: `countIf(${isScrolled})` },
    },
    `SELECT cityHash64(path) AS page,visitor,session,countIf(kind='pageview') AS views,countIf(kind='page_leave') AS leaves,
       sumIf(engagement_ms,kind='page_leave') AS engaged,maxIf(scroll_depth,kind='page_leave') AS depth,
       groupUniqArrayIf(${localDay},kind='pageview') AS days
     FROM events WHERE ${which} AND kind IN ('pageview','page_leave') GROUP BY page,visitor,session`,
  )
}

/** Entries and exits of the sessions that begin in the range. */
function ofSessions(which: string): string {
  return part(
    { entries: 'sum(of.2)', bounces: 'sum(of.3)', exits: 'sum(of.4)' },
    `SELECT of.1 AS page,of FROM (
       SELECT arrayJoin([(cityHash64(entry_path),1,is_bounce,0),(cityHash64(exit_path),0,0,1)]) AS of FROM sessions FINAL
       WHERE ${inBuild} AND day>={first_day:UInt16} AND day<={last_day:UInt16} AND nth_day=1 AND session_pageviews>0
         AND first_at>=${moment('start')} AND first_at<${moment('end')} AND ${which})`,
  )
}

/** Paths, and the newest titles, in whichever session. */
function ofTitles(which: string): string {
  return part(
    { name: 'toString(any(path))', newest: "argMaxIf(toString(title),moment,title!='')" },
    `SELECT cityHash64(path) AS page,path,title,bitShiftLeft(toUInt128(${eventMs}),64)+id AS moment
     FROM events WHERE ${which} AND kind='pageview'`,
  )
}
