/**
 * What is known of whole sessions: where they came from, with what, where they entered, whether they bounced. A session
 * belongs to the range that holds its first event. They come from three places: the aggregates; what rows that the
 * aggregates don't have change about them; and the raw rows of the hours that can't be taken from the aggregates.
 */

import type { FoundConversions } from '../../aggregates/credits.ts'
import { idMax } from '../../aggregates/id-ranges.ts'
import { type HourSpan, hourMs, type RowScope, sessionHours } from '../../aggregates/row-scope.ts'
import { type EventRow, givenRows } from '../../aggregates/rows-at-hand.ts'
import { type SessionChanges, sessionChangesOf } from '../../aggregates/session-changes.ts'
import { sessionContributionsSql } from '../../aggregates/session-starts.ts'
import { aggregateTables, setFunction } from '../../aggregates/tables.ts'
import { type Composition, cellsOf, sessionHoursOf } from './composition.ts'
import { conversionsSql, findConversions } from './conversions.ts'
import { rawSessionsSql, rawSessionTotalsSql } from './raw-sessions.ts'
import { prefixParams, type Reader, type Statement } from './span.ts'
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
  /** Of the paths that were asked for: without visitors' conversions. */
  readonly entryPages: readonly SessionGroup[]
}

const table = aggregateTables.agg_sessions
const noSessions: SessionTotals = { sessions: 0, bounces: 0, durationMs: 0 }
const columns =
  'toString(dimension) AS dimension, key, toString(detail) AS detail, sessions, pageviews, events, bounces, duration_ms, visitors'
const sums = `${shown(table, 'sessions')} AS sessions, ${shown(table, 'bounces')} AS bounces, sum(duration_ms) AS durationMs`

/** Sums can be added up: those of the aggregates are asked for apart, because they can be remembered. */
export async function readSessionTotals(ch: Reader, composition: Composition): Promise<SessionTotals> {
  const hours = sessionHoursOf(composition)
  const { aggregated } = cellsOf(composition, { name: 'sessions', hours })
  const totals = 'SELECT sessions, bounces, duration_ms FROM'
  const parts = [
    ...(aggregated === undefined
      ? []
      : [
          {
            ...aggregated,
            sql: `${totals} agg_sessions WHERE ${aggregated.sql} AND dimension = 'total'`,
            isLasting: true,
          },
        ]),
    ...[
      ...changesSql(composition, hours, []).map(({ sql, params }) => ({
        sql: `${totals} (${sql}) WHERE dimension = 'total'`,
        params,
      })),
      ...rawSessionTotalsSql(composition, hours),
    ].map((part) => ({ ...part, isLasting: false })),
  ]
  const rows = await Promise.all(
    parts.map(({ sql, params, isLasting }) =>
      ch.query<SessionTotals>(`SELECT ${sums} FROM (${sql})`, params, { isLasting }),
    ),
  )
  const atHand = changesAtHand(composition, hours)?.changes.filter(({ dimension }) => dimension === 'total') ?? []
  const sumOf = (name: keyof SessionTotals) => [...rows.flat(), ...atHand].reduce((sum, part) => sum + part[name], 0)
  return { sessions: sumOf('sessions'), bounces: sumOf('bounces'), durationMs: sumOf('durationMs') }
}

export interface ListOptions {
  /** Groups of each dimension, by visitors, then conversions, then key. */
  readonly limit: number
  /** The pages whose entries are wanted: as many as the limit, at most. */
  readonly paths: readonly string[]
}

export async function readSessionFigures(
  ch: Reader,
  composition: Composition,
  options: ListOptions,
): Promise<SessionFigures> {
  const found = await findConversions(ch, composition)
  const atHand = changesAtHand(composition, sessionHoursOf(composition))
  // A session turned out to have begun otherwise than the aggregates say: its hour is counted from the raw rows instead.
  const rows = await readGroups(ch, composition, options, { found, atHand, cut: atHand?.retracted ?? [] })
  const retracted = rows.filter(({ dimension }) => dimension === 'retracted').map(({ key }) => Number(key))
  const groups =
    retracted.length === 0 ? rows : await readGroups(ch, composition, options, { found, atHand, cut: retracted })
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

/** What pending rows change. */
interface PendingChanges {
  /** The conversions; undefined: those that the statement finds. */
  readonly found: FoundConversions | undefined
  /** The sessions; undefined: those that the statement finds. */
  readonly atHand: SessionChanges | undefined
  /** Hours that are counted from raw rows. */
  readonly cut: readonly number[]
}

function readGroups(
  ch: Reader,
  composition: Composition,
  { limit, paths }: ListOptions,
  pending: PendingChanges,
): Promise<(SessionGroup & { dimension: string })[]> {
  const { aggregated, others } = sessionsSql(composition, pending)
  const sessions = unite([...(aggregated ? [aggregated] : []), ...others])!
  const conversions = conversionsSql(composition, pending.found)
  return ch.query(
    `WITH ${conversions.with}
     SELECT dimension, key, detail, ${sums}, ${shown(table, 'visitors')} AS visitors,
       sum(pageviews) AS pageviews, sum(events) AS events, sum(conversions) AS conversions
     FROM (
       SELECT *, toInt64(0) AS conversions FROM (${sessions.sql})
       WHERE dimension != 'entry' OR key IN {paths:Array(String)}
       UNION ALL
       SELECT dimension, key, detail, toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0),
         arrayReduce('${setFunction('list', 'State')}', emptyArrayUInt64()), conversions
       FROM (${conversions.sql})
     )
     GROUP BY dimension, key, detail
     HAVING sessions != 0 OR conversions != 0 OR dimension = 'retracted'
     ORDER BY dimension, visitors DESC, conversions DESC, key, detail
     LIMIT {limit:UInt32} BY dimension, if(dimension = 'retracted', key, '')`,
    { ...conversions.params, ...sessions.params, limit, paths },
    { isLasting: others.length === 0 && conversions.isLasting },
  )
}

/**
 * Rows of `agg_sessions`' shape, without workspace and hour, for the sessions that start in range: those of immutable
 * aggregates, and all others.
 */
function sessionsSql(
  composition: Composition,
  { atHand, cut }: PendingChanges,
): { aggregated: Statement | undefined; others: readonly Statement[] } {
  const hours = sessionHoursOf(composition)
  const cells = cellsOf(composition, { name: 'sessions', hours, cut }).aggregated
  return {
    aggregated: cells && {
      sql: `SELECT ${columns} FROM agg_sessions WHERE ${cells.sql}
        AND (dimension NOT IN ('entry', 'retracted') OR dimension = 'entry' AND key IN {paths:Array(String)})`,
      params: cells.params,
    },
    others: [...changesSql(composition, hours, cut), ...givenSql(atHand), ...rawSessionsSql(composition, hours, cut)],
  }
}

function unite(parts: readonly Statement[]): Statement | undefined {
  if (parts.length === 0) return undefined
  return {
    sql: parts.map(({ sql }) => sql).join('\nUNION ALL\n'),
    params: Object.assign({}, ...parts.map(({ params }) => params)),
  }
}

/** The hours taken from the aggregates in which pending rows can change a session; undefined: there are none. */
function changedHours({ pending }: Composition, hours: HourSpan): HourSpan | undefined {
  if (pending === undefined) return undefined
  const start = Math.max(hours.start, pending.hours.start - sessionHours)
  const end = Math.min(hours.end, pending.hours.end + sessionHours)
  return start < end ? { start, end } : undefined
}

/** What pending rows that are at hand change about the sessions of the hours that are taken from the aggregates. */
function changesAtHand(composition: Composition, hours: HourSpan): SessionChanges | undefined {
  const { from, to, pending } = composition
  const changed = changedHours(composition, hours)
  if (pending?.atHand === undefined || changed === undefined) return undefined
  const isNear = ({ at }: EventRow) =>
    at >= (changed.start - sessionHours) * hourMs && at < (changed.end + sessionHours) * hourMs
  const rows = { counted: pending.atHand.counted.filter(isNear), uncounted: pending.atHand.uncounted.filter(isNear) }
  return sessionChangesOf(rows, changed, (at) => at >= from && at < to)
}

/** Rows of `agg_sessions`' shape, without workspace and hour, but of the hours that are counted from raw rows. */
function givenSql(atHand: SessionChanges | undefined): Statement[] {
  const changes = atHand?.changes.filter(({ hour }) => !atHand.retracted.includes(hour)) ?? []
  if (changes.length === 0) return []
  const { sql, params } = givenRows('sessions', [
    { type: 'String', values: changes.map(({ dimension }) => dimension) },
    { type: 'String', values: changes.map(({ key }) => key) },
    { type: 'String', values: changes.map(({ detail }) => detail) },
    { type: 'Int64', values: changes.map(({ sessions }) => sessions) },
    { type: 'Int64', values: changes.map(({ pageviews }) => pageviews) },
    { type: 'Int64', values: changes.map(({ events }) => events) },
    { type: 'Int64', values: changes.map(({ bounces }) => bounces) },
    { type: 'Int64', values: changes.map(({ durationMs }) => durationMs) },
    { type: 'Array(UInt64)', values: changes.map(({ visitors }) => [...visitors].map(BigInt)) },
  ])
  return [
    {
      sql: `SELECT given.1 AS dimension, given.2 AS key, given.3 AS detail, given.4 AS sessions, given.5 AS pageviews, given.6 AS events,
        given.7 AS bounces, given.8 AS duration_ms, arrayReduce('${setFunction('list', 'State')}', given.9) AS visitors
      FROM (${sql})`,
      params,
    },
  ]
}

/** What pending rows that are not at hand change about the sessions of the hours that are taken from the aggregates. */
function changesSql(composition: Composition, hours: HourSpan, cut: readonly number[]): Statement[] {
  const { span, from, to, pending } = composition
  const changed = changedHours(composition, hours)
  if (pending === undefined || pending.atHand !== undefined || changed === undefined) return []
  const scope: RowScope = {
    visible: [{ from: 0, through: idMax }],
    uncounted: pending.ids,
    hours: changed,
    workspaceIds: [span.workspaceId],
  }
  const notCut = cut.length === 0 ? '' : ' AND hour NOT IN {cut:Array(UInt32)}'
  const inRange = `first_at >= {from:Int64} AND first_at < {to:Int64}${notCut}`
  const { sql, params } = sessionContributionsSql(scope, inRange, false)
  const changes = { sql: `SELECT ${columns} FROM (${sql})`, params: { ...params, from, to, cut } }
  return [prefixParams(changes, 'changes')]
}
