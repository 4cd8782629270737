/** Sessions that start in what isn't taken from the aggregates: by their raw rows, on all their events of a day around. */

import type { Span } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { digestSql } from '../../aggregates/distinct-set.ts'
import type { HourSpan } from '../../aggregates/row-scope.ts'
import {
  bounceSql,
  firstOfSession,
  isAct,
  ofFirst,
  sessionEntriesSql,
  sessionSumsSql,
} from '../../aggregates/session-facts.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { type Composition, edgesOf } from './composition.ts'
import { aroundSessions, inAnySpan, type ReadableSpan } from './span.ts'

/**
 * Their number, bounces and durations: columns sessions, bounces, duration_ms. None where nothing is left to the raw rows.
 * @param hours taken from the aggregates
 */
export function rawSessionTotalsSql(composition: Composition, hours: HourSpan): BoundSql[] {
  const fragments = fragmentsOf(composition, hours, [])
  if (fragments.length === 0) return []
  const { sql, params } = sessionRows(composition.span, fragments, 'min((occurred_at, id)) AS first')
  return [
    {
      params,
      sql: `SELECT toInt64(count()) AS sessions, toInt64(sum(is_bounce)) AS bounces, toInt64(sum(duration)) AS duration_ms FROM (${sql})`,
    },
  ]
}

/**
 * Rows of `agg_sessions`' shape, without workspace and hour. None where nothing is left to the raw rows.
 * @param cut hours besides that are counted from raw rows
 */
export function rawSessionsSql(composition: Composition, hours: HourSpan, cut: readonly number[]): BoundSql[] {
  const fragments = fragmentsOf(composition, hours, cut)
  if (fragments.length === 0) return []
  const { sql, params } = entrySessionsSql(composition.span, fragments)
  const sums = sessionSumsSql({
    ...{ sessions: '1', visitor: 'visitor', pageviews: 'session_pageviews', events: 'session_events' },
    ...{ isBounce: 'is_bounce', durationMs: 'duration' },
  })
  return [{ params, sql: `SELECT ${sums} FROM (${sql}) GROUP BY dimension, key, detail` }]
}

/**
 * Sessions that start in a span, by what they count for: columns dimension, key, detail, and lists in one order, with a number
 * for each session (milliseconds since 1970; `visitors` are digests, and empty where none are counted).
 */
export function sessionStartsSql(span: ReadableSpan, starts: Span): BoundSql {
  const { sql, params } = entrySessionsSql(span, [starts])
  const list = (value: string, condition = '1') => `groupArrayIf(toFloat64(${value}), ${condition})`
  return {
    params,
    sql: `SELECT entry.1 AS dimension, entry.2 AS key, entry.3 AS detail,
        ${list('toUnixTimestamp64Milli(first.1)')} AS ats, ${list('session_pageviews')} AS pageviews,
        ${list('session_events')} AS events, ${list('is_bounce')} AS bounces, ${list('duration')} AS durations,
        ${list(digestSql('visitor'), "dimension NOT IN ('total', 'entry')")} AS visitors
      FROM (${sql}) GROUP BY dimension, key, detail`,
  }
}

/** One row a session and `entry` that it counts for. */
function entrySessionsSql(span: ReadableSpan, fragments: readonly Span[]): BoundSql {
  const facts = `${firstOfSession} AS first, argMinIf(path, (occurred_at, id), kind = 'pageview') AS entry_path`
  const entries = sessionEntriesSql({ ...ofFirst, hasEntry: 'session_pageviews > 0', entryPath: 'entry_path' })
  const { sql, params } = sessionRows(span, fragments, facts)
  return {
    params,
    sql: `SELECT first, ${ofFirst.visitor} AS visitor, session_pageviews, session_events, is_bounce, duration, arrayJoin(${entries}) AS entry
      FROM (${sql})`,
  }
}

/** The parts of the range whose sessions aren't taken from the aggregates. */
function fragmentsOf(composition: Composition, hours: HourSpan, cut: readonly number[]): Span[] {
  const { from, to } = composition
  return [
    ...edgesOf(composition, hours, 'sessionSpans').raw,
    ...cut.map((hour) => ({ start: Math.max(from, hour * hourMs), end: Math.min(to, (hour + 1) * hourMs) })),
  ].filter(({ start, end }) => start < end)
}

/** One row a session; `facts` are columns of it, of which `first` begins with the time of its first event. */
function sessionRows(span: ReadableSpan, fragments: readonly Span[], facts: string): BoundSql {
  const inFragment = inAnySpan('fragment', fragments)
  const near = inAnySpan('near', aroundSessions(fragments, span.readableFrom))
  const sql = `
    SELECT ${facts},
      dateDiff('millisecond', min(occurred_at), max(occurred_at)) AS duration,
      countIf(kind = 'pageview') AS session_pageviews, count() AS session_events,
      ${bounceSql('session_pageviews', `countIf(${isAct})`, 'sum(engagement_ms)')} AS is_bounce
    FROM events
    WHERE workspace_id = {workspace:UInt32} AND ${near.sql} AND visitor != 0
      AND session IN (SELECT session FROM events WHERE workspace_id = {workspace:UInt32} AND ${inFragment.sql} AND visitor != 0)
    GROUP BY session
    HAVING ${inFragment.sql.replaceAll('occurred_at', 'first.1')}`
  return { sql, params: { workspace: span.workspaceId, ...inFragment.params, ...near.params } }
}
