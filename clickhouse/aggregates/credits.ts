/**
 * Conversions with what they are credited to: the visitor's last touch at or before them, at most 30 days before; where there
 * is none, the source of their session's first event (docs/metrics.md). Both are kept, because a reader that may not see the
 * touch any more falls back to the session.
 *
 * A row that arrives late may be a touch before a conversion that was counted, or the first of its session: all conversions
 * of the visitors and sessions with uncounted rows are computed again, and what changed is taken back.
 */
import { creditWindowMs } from '../../schemas/limits.ts'
import { browserKey, countryKey, deviceKey, mediumKey, sourceKey } from './event-keys.ts'
import { type LiveRows, liveRowsIn } from './live-rows.ts'
import { hourMs, inPart, type RowScope, scopeSql, sessionHours } from './row-scope.ts'
import { aggregateTables, hourOfEvent } from './tables.ts'

const isTouch = "visitor != 0 AND source NOT IN ('', 'direct')"
const creditHours = creditWindowMs / hourMs

/**
 * The conversions in the scope's hours that have to be computed (again). `WITH` clauses: `conversions`, and `credited`
 * with the columns of `agg_conversions`' keys besides workspace_id and hour.
 * @param touched where the touches of counted rows are found
 */
export function creditedSql(scope: RowScope, touched: LiveRows): { with: string; params: Record<string, unknown> } {
  const { inHours, nearHours, visible, uncounted, params } = scopeSql(scope)
  const touches = liveRowsIn(touched, 'touches')
  const isFromScratch = scope.uncounted === 'everything'
  const isChanged = isFromScratch
    ? '1'
    : `(${uncounted}
        OR (workspace_id, visitor) IN (SELECT workspace_id, visitor FROM events WHERE ${nearCredit(scope, visible)} AND ${uncounted} AND ${isTouch})
        OR visitor != 0 AND (workspace_id, session) IN (SELECT workspace_id, session FROM events WHERE ${nearHours} AND ${uncounted} AND visitor != 0))`
  return {
    params: {
      ...params,
      ...touches.params,
      credit_from: Math.max(0, scope.hours.start - creditHours - 1),
      credit_from_ms: Math.max(0, scope.hours.start - creditHours - 1) * hourMs,
    },
    with: `
    conversions AS (
      SELECT workspace_id, ${hourOfEvent} AS hour, occurred_at, id, visitor, session, ${sourceKey} AS own_source, ${mediumKey} AS own_medium,
        ${deviceKey} AS device_key, ${browserKey} AS browser_key, ${countryKey} AS country_key
      FROM events WHERE ${inHours} AND kind = 'conversion' AND ${inPart(scope, 'id')} AND ${isChanged}
    ),
    touches AS (
      SELECT workspace_id, visitor, hour, 0 AS is_exact, touch.1 AS at, touch.2 AS touch_id, touch.3 AS source, touch.4 AS medium FROM agg_touches
      WHERE ${touches.sql} AND hour >= {credit_from:UInt32} AND hour < {hour_end:UInt32}
        AND (workspace_id, visitor) IN (SELECT workspace_id, visitor FROM conversions WHERE visitor != 0)
      UNION ALL
      SELECT workspace_id, visitor, ${hourOfEvent} AS hour, 1, occurred_at, id, toString(source), toString(medium) FROM events
      WHERE ${nearCredit(scope, visible)} AND ${isTouch}
        AND (${isFromScratch ? '0' : uncounted} OR (workspace_id, hour) IN (SELECT workspace_id, hour FROM conversions))
        AND (workspace_id, visitor) IN (SELECT workspace_id, visitor FROM conversions WHERE visitor != 0)
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
      WHERE ${nearHours} AND visitor != 0
        AND (workspace_id, session) IN (SELECT workspace_id, session FROM conversions WHERE visitor != 0)
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
function nearCredit({ workspaceIds }: RowScope, visible: string): string {
  const workspaces = workspaceIds === undefined ? '1' : 'workspace_id IN {workspaces:Array(UInt32)}'
  const moment = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
  return `${workspaces} AND ${visible} AND occurred_at >= ${moment('credit_from_ms')} AND occurred_at < ${moment('hours_to')}`
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
): { sql: string; params: Readonly<Record<string, unknown>> } {
  const credited = creditedSql(scope, touched)
  const keys = ['workspace_id', 'hour', ...aggregateTables.agg_conversions.keys].join(', ')
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
      ? '(workspace_id, id) IN (SELECT workspace_id, id FROM conversions)'
      : `${inPart(scope, 'id')} AND ${scope.workspaceIds === undefined ? '1' : 'workspace_id IN {workspaces:Array(UInt32)}'}`
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
