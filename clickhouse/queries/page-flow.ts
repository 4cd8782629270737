/**
 * The pages that visitors viewed right before and right after a page (docs/metrics.md, "Page flow"). Held by
 * test/property/page-flow.test.ts against a naive computation.
 *
 * Sessions with the page in range are found first. Their page views are lists of numbers, ordered by time, then id. A
 * path is its hash there, and gets its name where pages are counted. A view that repeats the page right before it is
 * dropped from the list, so the neighbours of a page are other pages.
 */
import type { FunnelStep } from '../../schemas/funnel-steps.ts'
import { pageFlowHours, pageFlowViewsOfSessionMax } from '../../schemas/limits/overview-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { type EventsOfRange, isOfChosen } from './chosen-events.ts'
import { inWorkspace, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { composedStatement, type Reader } from './reader.ts'
import { stepsSql } from './step-sql.ts'

export interface PageFlowRequest extends EventsOfRange {
  readonly page: FunnelStep
  /** Events before the first moment and from the second one on aren't looked at. */
  readonly since: number
  readonly latest: number
  /** Rows of each side. */
  readonly limit: number
}

export interface PageFlowCounts {
  readonly pageviews: number
  /** Page views but those that repeat the one before. */
  readonly views: number
  readonly visitors: number
  readonly sessions: number
  readonly before: readonly NextPage[]
  readonly after: readonly NextPage[]
  /** All events that were answered before it are counted; milliseconds since 1970. */
  readonly asOf: number
}

export interface NextPage {
  /** Null: there is none. */
  readonly path: string | null
  readonly views: number
}

/** Values of `side` in the statement's rows: the page's own views, the pages before it, the pages after it. */
const sides = { all: 0, before: 1, after: 2 } as const
/** In place of a page's hash: no page came before or after. */
const none = 'toUInt64(0)'

interface Row extends Omit<PageFlowCounts, 'before' | 'after' | 'asOf'> {
  readonly side: number
  readonly path: string
  readonly is_none: number
  readonly as_of: number
}

/** By one statement (two with a filter of channels). */
export async function readPageFlow(ch: Reader, request: PageFlowRequest): Promise<PageFlowCounts> {
  const { page, start, end, since, latest, limit } = request
  const chosen = await isOfChosen(ch, request)
  const { conditions, params } = stepsSql([page])
  const isCounted = `${conditions[0]} AND ${chosen.sql}`
  const reachMs = pageFlowHours * hourMs
  const rows = await ch.query<Row>(
    `WITH ${coverageSql} AS coverage
     SELECT side,max(name) AS path,page=${none} AS is_none,${sums.map((sum) => `sum(of_page.${sum}) AS ${sum}`).join(',')},coverage.3 AS as_of
     FROM (${countsSql(isCounted)} UNION ALL ${namesSql(candidatesSql(isCounted))} UNION ALL ${nothingSql}) AS of_page
     GROUP BY side,page HAVING views>0 OR side=${sides.all}
     ORDER BY side,views DESC,is_none DESC,path LIMIT {limit:UInt32} BY side`,
    {
      ...chosen.params,
      ...params,
      limit,
      reach: reachMs,
      look_since: Math.max(start - reachMs, since),
      look_until: Math.max(start, Math.min(end + reachMs, latest)),
    },
    { settings: composedStatement },
  )
  const { pageviews, views, visitors, sessions, as_of } = rows.find(({ side }) => side === sides.all)!
  const pagesOf = (wanted: number) =>
    rows.filter(({ side }) => side === wanted).map((row) => ({ path: row.is_none ? null : row.path, views: row.views }))
  return {
    pageviews,
    views,
    visitors,
    sessions,
    asOf: as_of,
    before: pagesOf(sides.before),
    after: pagesOf(sides.after),
  }
}

const sums = ['views', 'pageviews', 'visitors', 'sessions'] as const

/** One part of the statement: a SELECT of some figures of each page of a side, which add up over all parts. */
function part(page: string, figures: Partial<Record<'side' | 'name' | (typeof sums)[number], string>>, source: string) {
  const { side = String(sides.all), name = "''" } = figures
  const values = sums.map((sum) => `toInt64(${figures[sum] ?? '0'}) AS ${sum}`)
  return `SELECT toUInt8(${side}) AS side,${page} AS page,${name} AS name,${values.join(',')} ${source}`
}

/** A row of its own, so that the coverage is answered where there is nothing to count. */
const nothingSql = part(none, {}, 'FROM system.one')

const looked = `${inWorkspace} AND visitor!=0 AND kind='pageview' AND ${isFolded}
  AND occurred_at>=${moment('look_since')} AND occurred_at<${moment('look_until')}`

/** @param candidates SQL of the sessions that may count: only their pages have names, however many others there are */
const namesSql = (candidates: string) =>
  part(
    'cityHash64(path)',
    { side: `arrayJoin([${sides.before},${sides.after}])`, name: 'toString(path)' },
    `FROM events WHERE ${looked} AND cityHash64(visitor,session) IN (${candidates}) GROUP BY path`,
  )

/** Hashes are looked up faster than pairs. A session that only has the hash of a wanted one has no counted view. */
const candidatesSql = (isCounted: string) =>
  `SELECT cityHash64(visitor,session) FROM events WHERE ${looked} AND ${countsHere(isCounted)}`

const countsHere = (isCounted: string) =>
  `occurred_at>=${moment('start')} AND occurred_at<${moment('end')} AND ${isCounted}`

/** @param isCounted SQL condition: an event of the range is a page view of the page, in a session that counts */
function countsSql(isCounted: string): string {
  const counts = countsHere(isCounted)
  const candidates = candidatesSql(isCounted)
  // Lists of numbers are gathered in half of the time that one of tuples takes.
  const lists = [eventMs, 'id', 'cityHash64(path)', `toUInt8(${counts})`].map((value) => `groupArray(${value})`)
  const views = `SELECT visitor,arraySlice(arraySort(arrayZip(${lists.join(',')})),1,${pageFlowViewsOfSessionMax}) AS views,countIf(${counts}) AS all_pageviews
    FROM events WHERE ${looked} AND cityHash64(visitor,session) IN (${candidates}) GROUP BY visitor,session HAVING all_pageviews>0`
  // At the ends stands a view beyond any reach. A step has a view’s time and page, whether it counts, and the page before.
  const steps = `SELECT visitor,all_pageviews,arrayFilter(step->step.4!=step.2,
      arrayMap((view,prev)->(view.1,view.3,view.4,if(view.1-prev.1<={reach:Int64},prev.3,${none})),
        views,arraySlice(arrayPushFront(views,(toInt64(-1e15),toUInt64(0),${none},toUInt8(0))),1,length(views)))) AS steps
    FROM (${views})`
  const counted = `SELECT visitor,all_pageviews,arrayFilter(step->step.1=1,
      arrayMap((step,next)->(step.3,step.4,if(next.1-step.1<={reach:Int64},next.2,${none})),
        steps,arraySlice(arrayPushBack(steps,(toInt64(1e15),${none},toUInt8(0),${none})),2))) AS counted
    FROM (${steps})`
  return part(
    'one.2',
    {
      side: 'one.1',
      views: 'sum(one.3)',
      pageviews: 'sum(one.4)',
      visitors: `uniqExactIf(visitor,one.1=${sides.all})`,
      sessions: `countIf(one.1=${sides.all})`,
    },
    `FROM (${counted}) ARRAY JOIN arrayConcat([(toUInt8(${sides.all}),${none},toUInt64(length(counted)),toUInt64(all_pageviews))],
        arrayMap(step->(toUInt8(${sides.before}),step.2,toUInt64(1),toUInt64(0)),counted),
        arrayMap(step->(toUInt8(${sides.after}),step.3,toUInt64(1),toUInt64(0)),counted)) AS one
      GROUP BY one.1,one.2`,
  )
}
