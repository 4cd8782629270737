/** Sessions that start in what isn't taken from the aggregates: by their raw rows, on all their events of a day around. */

import { hourMs } from '../../../schemas/time-zone.ts'
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
import { aroundSessions, inAnySpan } from './span.ts'

/**
 * Their number, bounces and durations: columns sessions, bounces, duration_ms. None where nothing is left to the raw rows.
 * @param hours taken from the aggregates
 */
export function rawSessionTotalsSql(composition: Composition, hours: HourSpan): BoundSql[] {
  return sessionRows(composition, hours, [], 'min((occurred_at, id)) AS first').map(({ sql, params }) => ({
    params,
    sql: `SELECT toInt64(count()) AS sessions, toInt64(sum(is_bounce)) AS bounces, toInt64(sum(duration)) AS duration_ms FROM (${sql})`,
  }))
}

/**
 * Rows of `agg_sessions`' shape, without workspace and hour. None where nothing is left to the raw rows.
 * @param cut hours besides that are counted from raw rows
 */
export function rawSessionsSql(composition: Composition, hours: HourSpan, cut: readonly number[]): BoundSql[] {
  const facts = `${firstOfSession} AS first, argMinIf(path, (occurred_at, id), kind = 'pageview') AS entry_path`
  const entries = sessionEntriesSql({ ...ofFirst, hasEntry: 'session_pageviews > 0', entryPath: 'entry_path' })
  const sums = sessionSumsSql({
    ...{ sessions: '1', visitor: 'visitor', pageviews: 'session_pageviews', events: 'session_events' },
    ...{ isBounce: 'is_bounce', durationMs: 'duration' },
  })
  return sessionRows(composition, hours, cut, facts).map(({ sql, params }) => ({
    params,
    sql: `
    SELECT ${sums}
    FROM (
      SELECT ${ofFirst.visitor} AS visitor, session_pageviews, session_events, is_bounce, duration, arrayJoin(${entries}) AS entry
      FROM (${sql})
    )
    GROUP BY dimension, key, detail`,
  }))
}

/** One row a session; `facts` are columns of it, of which `first` begins with the time of its first event. */
function sessionRows(composition: Composition, hours: HourSpan, cut: readonly number[], facts: string): BoundSql[] {
  const { span, from, to } = composition
  const fragments = [
    ...edgesOf(composition, hours).raw,
    ...cut.map((hour) => ({ start: Math.max(from, hour * hourMs), end: Math.min(to, (hour + 1) * hourMs) })),
  ].filter(({ start, end }) => start < end)
  if (fragments.length === 0) return []

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
  return [{ sql, params: { workspace: span.workspaceId, ...inFragment.params, ...near.params } }]
}
