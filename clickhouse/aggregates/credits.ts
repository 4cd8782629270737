/**
 * Conversions with what they are credited to: the visitor's last touch at or before them, at most 30 days before; where there
 * is none, the source of their session's first event (docs/metrics.md). Both are kept, because a reader that may not see the
 * touch any more falls back to the session.
 *
 * A row that arrives late may be a touch before a conversion that was counted, or the first of its session: all conversions
 * of the visitors and sessions with uncounted rows are computed again, and what changed is taken back.
 */
import { creditWindowMs } from '../../schemas/limits.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import type { BoundSql } from '../bound-sql.ts'
import type { ClickHouse } from '../client.ts'
import type { QueryOptions } from '../query-options.ts'
import { browserKey, countryKey, deviceKey, mediumKey, sourceKey } from './event-keys.ts'
import { type LiveRows, liveRowsIn } from './live-rows.ts'
import { inPart, moment, ofWorkspaces, type RowScope, scopeSql, sessionHours } from './row-scope.ts'
import { aggregateTables, hourOfEvent } from './tables.ts'

const isTouch = "visitor != 0 AND source NOT IN ('', 'direct')"
const creditHours = creditWindowMs / hourMs
const isInFoundHour = 'toUInt32(toStartOfHour(occurred_at)) IN {found_hours:Array(UInt32)}'

/** Conversions that have to be computed (again), by what finds them and what they are credited to. */
export interface FoundConversions {
  readonly ids: readonly number[]
  /** Hours since 1970. */
  readonly hours: readonly number[]
  /** Hashes of 64 bits, which no number holds, as decimal texts. */
  readonly visitors: readonly string[]
  readonly sessions: readonly number[]
}

/**
 * The conversions in the scope's hours that its uncounted rows make or may change: mostly none.
 * @returns undefined where they are more than `max`: then they are found by the statement that computes them
 */
export async function findChangedConversions(
  ch: Pick<ClickHouse, 'query'>,
  scope: RowScope,
  max: number,
  options?: QueryOptions,
): Promise<FoundConversions | undefined> {
  const { params } = scopeSql(scope)
  const rows = await ch.query<{ id: number; hour: number; visitor_text: string; session: number }>(
    `SELECT id, ${hourOfEvent} AS hour, toString(visitor) AS visitor_text, session FROM events
     WHERE ${isChangedConversion(scope)} LIMIT {conversions_max:UInt32}`,
    { ...params, ...creditFrom(scope), conversions_max: max + 1 },
    options,
  )
  if (rows.length > max) return undefined
  const ofVisitors = rows.filter(({ visitor_text }) => visitor_text !== '0')
  return {
    ids: rows.map(({ id }) => id),
    hours: [...new Set(rows.map(({ hour }) => hour))],
    visitors: [...new Set(ofVisitors.map(({ visitor_text }) => visitor_text))],
    sessions: [...new Set(ofVisitors.map(({ session }) => session))],
  }
}

function isChangedConversion(scope: RowScope): string {
  const { inHours, nearHours, visible, uncounted } = scopeSql(scope)
  const isChanged =
    scope.uncounted === 'everything'
      ? '1'
      : `(${uncounted}
        OR (workspace_id, visitor) IN (SELECT workspace_id, visitor FROM events WHERE ${nearCredit(scope, visible)} AND ${uncounted} AND ${isTouch})
        OR visitor != 0 AND (workspace_id, session) IN (SELECT workspace_id, session FROM events WHERE ${nearHours} AND ${uncounted} AND visitor != 0))`
  return `${inHours} AND kind = 'conversion' AND ${inPart(scope, 'id')} AND ${isChanged}`
}

function creditFrom({ hours }: RowScope): Record<string, number> {
  const start = Math.max(0, hours.start - creditHours - 1)
  return { credit_from: start, credit_from_ms: start * hourMs }
}

/**
 * The conversions in the scope's hours that have to be computed (again). `WITH` clauses: `conversions`, and `credited`
 * with the columns of `agg_conversions`' keys besides workspace_id and hour. ClickHouse puts the text of a clause wherever
 * its name stands: with `found`, what is looked for is known, and each of them reads little.
 * @param touched where the touches of counted rows are found
 * @param found undefined: to be found by the statement itself
 */
export function creditedSql(
  scope: RowScope,
  touched: LiveRows,
  found?: FoundConversions,
): { with: string; params: Record<string, unknown> } {
  const { inHours, nearHours, visible, uncounted, params } = scopeSql(scope)
  const touches = liveRowsIn(touched, 'touches')
  const isOne =
    found === undefined
      ? isChangedConversion(scope)
      : `${inHours} AND ${isInFoundHour} AND id IN {found_ids:Array(UInt64)}`
  const ofVisitor =
    found === undefined
      ? '(workspace_id, visitor) IN (SELECT workspace_id, visitor FROM conversions WHERE visitor != 0)'
      : 'visitor IN (SELECT toUInt64(arrayJoin({found_visitors:Array(String)})))'
  const ofSession =
    found === undefined
      ? '(workspace_id, session) IN (SELECT workspace_id, session FROM conversions WHERE visitor != 0)'
      : 'session IN {found_sessions:Array(UInt64)}'
  const inTheirHours =
    found === undefined
      ? '(workspace_id, toStartOfHour(occurred_at)) IN (SELECT workspace_id, toStartOfHour(occurred_at) FROM conversions)'
      : isInFoundHour
  const exactTouches = (condition: string) => `
      SELECT workspace_id, visitor, ${hourOfEvent} AS hour, 1, occurred_at, id, toString(source), toString(medium) FROM events
      WHERE ${nearCredit(scope, visible)} AND ${isTouch} AND ${ofVisitor} AND ${condition}`
  return {
    params: {
      ...params,
      ...touches.params,
      ...creditFrom(scope),
      ...(found && {
        found_ids: found.ids,
        found_hours: found.hours.map((hour) => hour * 3600),
        found_visitors: found.visitors,
        found_sessions: found.sessions,
      }),
    },
    with: `
    conversions AS (
      SELECT workspace_id, ${hourOfEvent} AS hour, occurred_at, id, visitor, session, ${sourceKey} AS own_source, ${mediumKey} AS own_medium,
        ${deviceKey} AS device_key, ${browserKey} AS browser_key, ${countryKey} AS country_key
      FROM events WHERE ${isOne}
    ),
    touches AS (
      SELECT workspace_id, visitor, hour, 0 AS is_exact, touch.1 AS at, touch.2 AS touch_id, touch.3 AS source, touch.4 AS medium FROM agg_touches
      WHERE ${touches.sql} AND hour >= {credit_from:UInt32} AND hour < {hour_end:UInt32} AND ${ofVisitor}
      UNION ALL
      ${exactTouches(inTheirHours)}${scope.uncounted === 'everything' ? '' : `\n      UNION ALL${exactTouches(uncounted)}`}
    ),
    touched AS (
      SELECT conversion.id AS id,
        max((touch.at, touch.touch_id, touch.source, touch.medium)) AS last_touch
      FROM conversions AS conversion INNER JOIN touches AS touch
        ON touch.workspace_id = conversion.workspace_id AND touch.visitor = conversion.visitor
      WHERE touch.hour < conversion.hour
        OR touch.is_exact = 1 AND (touch.at, touch.touch_id) <= (conversion.occurred_at, conversion.id)
      GROUP BY conversion.id
    ),
    near_sessions AS (
      SELECT workspace_id, session, occurred_at, id, ${sourceKey} AS source_key, ${mediumKey} AS medium_key FROM events
      WHERE ${nearHours} AND visitor != 0 AND ${ofSession}
    ),
    begun AS (
      SELECT conversion.id AS id, min((near.occurred_at, near.id, near.source_key, near.medium_key)) AS first
      FROM conversions AS conversion INNER JOIN near_sessions AS near
        ON near.workspace_id = conversion.workspace_id AND near.session = conversion.session
      WHERE conversion.visitor != 0
        AND near.occurred_at >= conversion.occurred_at - toIntervalHour(${sessionHours})
        AND near.occurred_at <= conversion.occurred_at + toIntervalHour(${sessionHours})
      GROUP BY conversion.id
    ),
    credited AS (
      SELECT workspace_id, hour, occurred_at, id,
        last_touch.2 != 0 AND last_touch.1 >= occurred_at - toIntervalMillisecond(${creditWindowMs}) AS has_touch,
        if(has_touch, last_touch.1, fromUnixTimestamp64Milli(toInt64(0), 'UTC')) AS touched_at,
        if(has_touch, last_touch.3, '') AS source, if(has_touch, last_touch.4, '') AS medium,
        if(visitor = 0, own_source, first.3) AS session_source, if(visitor = 0, own_medium, first.4) AS session_medium,
        device_key AS device, browser_key AS browser, country_key AS country
      FROM conversions LEFT JOIN touched USING (id) LEFT JOIN begun USING (id)
    )`,
  }
}

/** Where the touches that count for conversions of the scope's hours lie. */
function nearCredit(scope: RowScope, visible: string): string {
  return `${ofWorkspaces(scope)} AND ${visible} AND occurred_at >= ${moment('credit_from_ms')} AND occurred_at < ${moment('hours_to')}`
}

/**
 * What the scope's rows add to `agg_conversions`.
 * @param before the conversions that were counted before: taken back where they are computed again. With `everything`
 *   uncounted, all of them in the scope's hours, those whose events are gone too; undefined: there are none
 */
export function conversionContributionsSql(
  scope: RowScope,
  touched: LiveRows,
  before: LiveRows | undefined,
  found?: FoundConversions,
): BoundSql {
  const keys = ['workspace_id', 'hour', ...aggregateTables.agg_conversions.keys].join(', ')
  // To plan the statement takes a quarter of a second, also where it comes to nothing.
  const isNone = found?.ids.length === 0
  const credited = isNone
    ? { with: 'credited AS (SELECT * FROM agg_conversions WHERE 0)', params: scopeSql(scope).params }
    : creditedSql(scope, touched, found)
  const now = `SELECT ${keys}, toInt64(1) AS sign FROM credited`
  if (before === undefined) {
    return {
      sql: `WITH ${credited.with} SELECT ${keys}, sum(sign) AS conversions FROM (${now}) GROUP BY ${keys}`,
      params: credited.params,
    }
  }
  const counted = liveRowsIn(before, 'before')
  const isComputedAgain =
    scope.uncounted !== 'everything'
      ? found === undefined
        ? '(workspace_id, id) IN (SELECT workspace_id, id FROM conversions)'
        : 'id IN {found_ids:Array(UInt64)}'
      : `${inPart(scope, 'id')} AND ${ofWorkspaces(scope)}`
  return {
    sql: `WITH ${credited.with}
      SELECT ${keys}, sum(sign) AS conversions FROM (
        ${now}
        UNION ALL
        SELECT ${keys}, -conversions AS sign FROM agg_conversions
        WHERE ${counted.sql} AND hour >= {hour_start:UInt32} AND hour < {hour_end:UInt32} AND ${isComputedAgain}
      )
      GROUP BY ${keys} HAVING conversions != 0`,
    params: { ...credited.params, ...counted.params },
  }
}
