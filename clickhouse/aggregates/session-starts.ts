/**
 * Sessions by the hour that they start in. A session starts in hour H with its first event there, if it has none in the 24
 * hours before H; its facts are taken of its events from H to 24 hours after H's end. Of a session that is no longer than a
 * day there is one such hour, and the facts are those of docs/metrics.md.
 *
 * What an uncounted row changes is the difference between the facts without and with it, so a session that got new rows is
 * computed twice: `had` and `has` say on which side it starts in the hour. Everything can be added and subtracted but the
 * set of visitors, which forgets nobody: where a session leaves an hour, or enters it as somebody else, the hour is
 * `retracted` and has to be computed from scratch. That takes a first event that arrives after later ones were counted.
 */
import { bounceEngagementMs } from '../../schemas/limits.ts'
import { browserKey, countryKey, deviceKey, mediumKey, sourceKey } from './event-keys.ts'
import { inPart, type RowScope, scopeSql, sessionHours } from './row-scope.ts'
import { hourOfEvent, setFunction } from './tables.ts'

/** Columns: workspace_id, session, hour, had, has, and of either side first_at (ms) and a tuple of facts. */
export function sessionStartsSql(scope: RowScope): { sql: string; params: Readonly<Record<string, unknown>> } {
  const { inHours, nearHours, uncounted, isKey, params } = scopeSql(scope)
  const isFromScratch = scope.uncounted === 'everything'
  // Of few hours, only the sessions are looked at that have an event there: one that starts there has.
  const isOfFewHours = scope.keys !== undefined || scope.hours.end - scope.hours.start < sessionHours
  const changes = isFromScratch ? inHours : `${nearHours} AND ${uncounted}`
  const changed =
    isFromScratch && !isOfFewHours
      ? '1'
      : `(workspace_id, session) IN (SELECT workspace_id, session FROM events WHERE ${changes} AND visitor != 0)`
  const sides = isFromScratch ? '1' : `arrayJoin(if(${uncounted}, [1], [0, 1]))`
  const sql = `
    SELECT workspace_id, session, hour,
      countIf(side = 0) > 0 AS had, countIf(side = 1) > 0 AS has,
      anyIf(facts, side = 0) AS facts_before, anyIf(facts, side = 1) AS facts_now
    FROM (
      SELECT workspace_id, session, hour, side,
        tuple(
          toUnixTimestamp64Milli(first.1), first.3, first.4, first.5, first.6, first.7, first.8,
          session_pageviews, session_events,
          session_pageviews = 1 AND session_acts = 0 AND session_engagement < ${bounceEngagementMs},
          dateDiff('millisecond', first.1, session_last), entry.3
        ) AS facts
      FROM (
        SELECT workspace_id, session, hour, side, first,
          lagInFrame(last_at) OVER (
            PARTITION BY workspace_id, session, side ORDER BY hour ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before_at,
          sum(pageviews) OVER day AS session_pageviews, sum(events) OVER day AS session_events,
          sum(acts) OVER day AS session_acts, sum(engagement) OVER day AS session_engagement,
          max(last_at) OVER day AS session_last, minIf(hour_entry, pageviews > 0) OVER day AS entry
        FROM (
          SELECT workspace_id, session, ${sides} AS side, toInt64(${hourOfEvent}) AS hour,
            min((occurred_at, id, visitor, ${sourceKey}, ${mediumKey}, ${deviceKey}, ${browserKey}, ${countryKey})) AS first,
            max(occurred_at) AS last_at,
            countIf(kind = 'pageview') AS pageviews, count() AS events, countIf(kind IN ('conversion', 'custom')) AS acts,
            sum(engagement_ms) AS engagement, minIf((occurred_at, id, path), kind = 'pageview') AS hour_entry
          FROM events
          WHERE ${nearHours} AND visitor != 0 AND ${inPart(scope, 'session')} AND ${changed}
          GROUP BY workspace_id, session, side, hour
        )
        WINDOW day AS (
          PARTITION BY workspace_id, session, side ORDER BY hour RANGE BETWEEN CURRENT ROW AND ${sessionHours} FOLLOWING)
      )
      WHERE hour >= {hour_start:Int64} AND hour < {hour_end:Int64} AND ${isKey}
        AND toUnixTimestamp64Milli(before_at) < (hour - ${sessionHours}) * 3600000
    )
    GROUP BY workspace_id, session, hour`
  return { sql, params }
}

/** The facts in the order of their tuple, which begins at 1. */
export const fact = {
  firstAt: 1,
  visitor: 2,
  source: 3,
  medium: 4,
  device: 5,
  browser: 6,
  country: 7,
  pageviews: 8,
  events: 9,
  isBounce: 10,
  durationMs: 11,
  entryPath: 12,
} as const

const isRetraction = `had AND (NOT has OR
  tuple(facts_before.2, facts_before.3, facts_before.4, facts_before.5, facts_before.6, facts_before.7)
    != tuple(facts_now.2, facts_now.3, facts_now.4, facts_now.5, facts_now.6, facts_now.7))`

/** A session's entries: (dimension, key, detail). */
function entriesOf(facts: string): string {
  return `arrayConcat([
    ('total', '', ''), ('source', ${facts}.${fact.source}, ${facts}.${fact.medium}),
    ('device', ${facts}.${fact.device}, ''), ('browser', ${facts}.${fact.browser}, ''), ('country', ${facts}.${fact.country}, '')],
    if(${facts}.${fact.pageviews} > 0, [('entry', ${facts}.${fact.entryPath}, '')], []))`
}

/**
 * What the scope's rows add to `agg_sessions`: its key columns, `hour`, its sums with their sign, and `visitors` as a state.
 * @param condition over the columns of sessionStartsSql, for readers that want only a part
 * @param byHour false: all hours together, without the column
 */
export function sessionContributionsSql(
  scope: RowScope,
  condition = '1',
  byHour = true,
): { sql: string; params: Readonly<Record<string, unknown>> } {
  const starts = sessionStartsSql(scope)
  const hour = byHour ? 'hour, ' : ''
  const sql = `
    SELECT workspace_id, ${hour}entry.1 AS dimension, entry.2 AS key, entry.3 AS detail,
      toInt64(sum(sign)) AS sessions, toInt64(sum(sign * facts.${fact.pageviews})) AS pageviews,
      toInt64(sum(sign * facts.${fact.events})) AS events, toInt64(sum(sign * facts.${fact.isBounce})) AS bounces,
      toInt64(sum(sign * facts.${fact.durationMs})) AS duration_ms,
      ${setFunction('list', 'StateIf')}(facts.${fact.visitor}, sign = 1 AND dimension NOT IN ('total', 'entry')) AS visitors
    FROM (
      SELECT workspace_id, hour, side.1 AS sign, side.2 AS facts,
        arrayJoin(if(side.1 = 0, [('retracted', toString(hour), '')], ${entriesOf('facts')})) AS entry
      FROM (
        SELECT workspace_id, hour, arrayJoin(arrayConcat(
          if(has AND ${within('facts_now', condition)}, [(1, facts_now)], []),
          if(had AND ${within('facts_before', condition)}, [(-1, facts_before)], []),
          if(${isRetraction}, [(0, facts_before)], []))) AS side
        FROM (${starts.sql})
      )
    )
    GROUP BY workspace_id, ${hour}dimension, key, detail`
  return { sql, params: starts.params }
}

function within(facts: string, condition: string): string {
  return condition.replaceAll('first_at', `${facts}.${fact.firstAt}`)
}
