/**
 * What is known of whole sessions: where they came from, with what, where they entered, whether they bounced. A session
 * belongs to the range that holds its first event. They come from three places: the aggregates; what rows that the
 * aggregates don't have change about them; and the raw rows of the hours that can't be taken from the aggregates.
 */
import { bounceEngagementMs } from '../../../schemas/limits.ts'
import { browserKey, countryKey, deviceKey, mediumKey, sourceKey } from '../../aggregates/event-keys.ts'
import { idMax } from '../../aggregates/id-ranges.ts'
import { type HourSpan, hourMs, type RowScope, sessionHours } from '../../aggregates/row-scope.ts'
import { sessionContributionsSql } from '../../aggregates/session-starts.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Composition, cellsOf, sessionHoursOf } from './composition.ts'
import { conversionsSql } from './conversions.ts'
import { topPaths } from './pages.ts'
import { moment, prefixParams, type Reader, type Statement } from './span.ts'
import { shown } from './united.ts'

export interface SessionTotals {
  /** Sessions that start in range. */
  readonly sessions: number
  readonly bounces: number
  readonly durationMs: number
}

/** Sessions that start in range, of one key of a dimension, and the conversions in range that count for that key. */
export interface SessionGroup extends SessionTotals {
  readonly key: string
  /** The medium, where the key is a source. */
  readonly detail: string
  readonly visitors: number
  readonly pageviews: number
  readonly events: number
  readonly conversions: number
}

export interface SessionFigures {
  readonly total: SessionTotals
  readonly sources: readonly SessionGroup[]
  readonly devices: readonly SessionGroup[]
  readonly browsers: readonly SessionGroup[]
  readonly countries: readonly SessionGroup[]
  /** Of the paths with most pageviews: without visitors' conversions. */
  readonly entryPages: readonly SessionGroup[]
}

const table = aggregateTables.agg_sessions
const noSessions: SessionTotals = { sessions: 0, bounces: 0, durationMs: 0 }
const columns =
  'toString(dimension) AS dimension, key, toString(detail) AS detail, sessions, pageviews, events, bounces, duration_ms, visitors'
const sums = `${shown(table, 'sessions')} AS sessions, ${shown(table, 'bounces')} AS bounces, sum(duration_ms) AS durationMs`

/** Sums can be added up: those of the aggregates are asked for apart, because they can be remembered. */
export async function readSessionTotals(ch: Reader, composition: Composition): Promise<SessionTotals> {
  const { aggregated, others } = sessionsSql(composition, [])
  const rows = await Promise.all(
    [aggregated, unite(others)].map(
      (part) =>
        part &&
        ch.query<SessionTotals>(`SELECT ${sums} FROM (${part.sql}) WHERE dimension = 'total'`, part.params, {
          isLasting: part === aggregated,
        }),
    ),
  )
  const sumOf = (name: keyof SessionTotals) => rows.reduce((sum, part) => sum + (part?.[0]?.[name] ?? 0), 0)
  return { sessions: sumOf('sessions'), bounces: sumOf('bounces'), durationMs: sumOf('durationMs') }
}

/** At most `limit` groups of each dimension, by visitors, then conversions, then key. */
export async function readSessionFigures(ch: Reader, composition: Composition, limit: number): Promise<SessionFigures> {
  const rows = await readGroups(ch, composition, limit, [])
  const retracted = rows.filter(({ dimension }) => dimension === 'retracted').map(({ key }) => Number(key))
  // A session turned out to have begun otherwise than the aggregates say: its hour is counted from the raw rows instead.
  const groups = retracted.length === 0 ? rows : await readGroups(ch, composition, limit, retracted)
  const of = (dimension: string) => groups.filter((row) => row.dimension === dimension)
  return {
    total: of('total')[0] ?? noSessions,
    sources: of('source'),
    devices: of('device'),
    browsers: of('browser'),
    countries: of('country'),
    entryPages: of('entry'),
  }
}

function readGroups(
  ch: Reader,
  composition: Composition,
  limit: number,
  cut: readonly number[],
): Promise<(SessionGroup & { dimension: string })[]> {
  const top = topPaths(composition, 'top')
  const { aggregated, others } = sessionsSql(composition, cut)
  const sessions = unite([...(aggregated ? [aggregated] : []), ...others])!
  const conversions = conversionsSql(composition)
  return ch.query(
    `WITH ${conversions.with}
     SELECT dimension, key, detail, ${sums}, ${shown(table, 'visitors')} AS visitors,
       sum(pageviews) AS pageviews, sum(events) AS events, sum(conversions) AS conversions
     FROM (
       SELECT *, toInt64(0) AS conversions FROM (${sessions.sql})
       WHERE dimension != 'entry' OR key IN (${top.sql})
       UNION ALL
       SELECT dimension, key, detail, toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0),
         arrayReduce('uniqCombined64State(17)', emptyArrayUInt64()), conversions
       FROM (${conversions.sql})
     )
     GROUP BY dimension, key, detail
     HAVING sessions != 0 OR conversions != 0 OR dimension = 'retracted'
     ORDER BY dimension, visitors DESC, conversions DESC, key, detail
     LIMIT {limit:UInt32} BY dimension, if(dimension = 'retracted', key, '')`,
    { ...conversions.params, ...top.params, ...sessions.params, limit },
    { isLasting: others.length === 0 && conversions.isLasting },
  )
}

/**
 * Rows of `agg_sessions`' shape, without workspace and hour, for the sessions that start in range: those of immutable
 * aggregates, and all others.
 * @param cut hours that are counted from raw rows
 */
function sessionsSql(
  composition: Composition,
  cut: readonly number[],
): { aggregated: Statement | undefined; others: readonly Statement[] } {
  const hours = sessionHoursOf(composition)
  const cells = cellsOf(composition, { name: 'sessions', hours, cut }).aggregated
  return {
    aggregated: cells && {
      sql: `SELECT ${columns} FROM agg_sessions WHERE ${cells.sql} AND dimension != 'retracted'`,
      params: cells.params,
    },
    others: [...changesSql(composition, hours, cut), ...rawSessionsSql(composition, hours, cut)],
  }
}

function unite(parts: readonly Statement[]): Statement | undefined {
  if (parts.length === 0) return undefined
  return {
    sql: parts.map(({ sql }) => sql).join('\nUNION ALL\n'),
    params: Object.assign({}, ...parts.map(({ params }) => params)),
  }
}

/** What pending rows change about the sessions of the hours that are taken from the aggregates. */
function changesSql({ span, from, to, pending }: Composition, hours: HourSpan, cut: readonly number[]): Statement[] {
  if (pending === undefined) return []
  const start = Math.max(hours.start, pending.hours.start - sessionHours)
  const end = Math.min(hours.end, pending.hours.end + sessionHours)
  if (start >= end) return []
  const scope: RowScope = {
    visible: [{ from: 0, through: idMax }],
    uncounted: pending.ids,
    hours: { start, end },
    workspaceIds: [span.workspaceId],
  }
  const notCut = cut.length === 0 ? '' : ' AND hour NOT IN {cut:Array(UInt32)}'
  const inRange = `first_at >= {from:Int64} AND first_at < {to:Int64}${notCut}`
  const { sql, params } = sessionContributionsSql(scope, inRange, false)
  const changes = { sql: `SELECT ${columns} FROM (${sql})`, params: { ...params, from, to, cut } }
  return [prefixParams(changes, 'changes')]
}

/** Sessions that start in what isn't taken from the aggregates, on all their events of a day around. */
function rawSessionsSql({ span, from, to }: Composition, hours: HourSpan, cut: readonly number[]): Statement[] {
  const lookBack = sessionHours * hourMs
  const isAll = hours.start >= hours.end
  const wholeFrom = hours.start * hourMs
  const wholeTo = hours.end * hourMs
  const fragments = (
    isAll
      ? [[from, to]]
      : [
          [from, Math.min(wholeFrom, to)],
          ...cut.map((hour) => [Math.max(from, hour * hourMs), Math.min(to, (hour + 1) * hourMs)]),
          [wholeTo, to],
        ]
  ).filter(([start, end]) => start! < end!) as [number, number][]
  // Of an empty range, one that is empty: there has to be something to select from.
  if (isAll && fragments.length === 0) fragments.push([from, from])
  if (fragments.length === 0) return []
  const params: Record<string, unknown> = { workspace: span.workspaceId }
  const anyOf = (name: string, bounds: (fragment: [number, number]) => [number, number], column: string) =>
    fragments
      .map((fragment, at) => {
        const [start, end] = bounds(fragment)
        params[`${name}_from_${at}`] = start
        params[`${name}_to_${at}`] = end
        return `${column} >= ${moment(`${name}_from_${at}`)} AND ${column} < ${moment(`${name}_to_${at}`)}`
      })
      .join(' OR ')
  const inFragment = anyOf('fragment', (fragment) => fragment, 'occurred_at')
  const near = anyOf(
    'near',
    ([start, end]) => [Math.max(start - lookBack, span.readableFrom), end + lookBack],
    'occurred_at',
  )
  const startsInFragment = inFragment.replaceAll('occurred_at', 'first.1')
  return [
    {
      params,
      sql: `
    SELECT entry.1 AS dimension, entry.2 AS key, entry.3 AS detail,
      toInt64(count()) AS sessions, toInt64(sum(session_pageviews)) AS pageviews, toInt64(sum(session_events)) AS events,
      toInt64(sum(is_bounce)) AS bounces, toInt64(sum(duration)) AS duration_ms,
      uniqCombined64StateIf(17)(first.3, dimension != 'entry') AS visitors
    FROM (
      SELECT first, session_pageviews, session_events, is_bounce, duration, arrayJoin(arrayConcat([
          ('total', '', ''), ('source', first.4, first.5), ('device', first.6, ''), ('browser', first.7, ''), ('country', first.8, '')],
          if(session_pageviews > 0, [('entry', entry_path, '')], []))) AS entry
      FROM (
        SELECT min((occurred_at, id, visitor, ${sourceKey}, ${mediumKey}, ${deviceKey}, ${browserKey}, ${countryKey})) AS first,
          argMinIf(path, (occurred_at, id), kind = 'pageview') AS entry_path,
          dateDiff('millisecond', min(occurred_at), max(occurred_at)) AS duration,
          countIf(kind = 'pageview') AS session_pageviews, count() AS session_events,
          session_pageviews = 1 AND countIf(kind IN ('conversion', 'custom')) = 0
            AND sum(engagement_ms) < ${bounceEngagementMs} AS is_bounce
        FROM events
        WHERE workspace_id = {workspace:UInt32} AND (${near}) AND visitor != 0
          AND session IN (SELECT session FROM events WHERE workspace_id = {workspace:UInt32} AND (${inFragment}) AND visitor != 0)
        GROUP BY session
      )
      WHERE ${startsInFragment}
    )
    GROUP BY dimension, key, detail`,
    },
  ]
}
