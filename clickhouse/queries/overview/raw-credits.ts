/** What conversions count for, of those that the aggregates can't say it of: by the raw rows of their visitors and sessions. */
import { creditWindowMs } from '../../../schemas/limits.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { browserKey, countryKey, deviceKey, mediumKey, sourceKey } from '../../aggregates/event-keys.ts'
import { moment, sessionHours } from '../../aggregates/row-scope.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { type ReadableSpan, within } from './span.ts'

/** Rows: source, medium, device, browser, country, amount. */
export interface CreditsSql extends BoundSql {
  /** What the statement begins with: expressions with names. */
  readonly with: readonly string[]
}

/**
 * Conversions from `from` to just before `to`, credited by readable raw rows alone: all touches and conversions of their
 * visitors in their order, each row seeing the newest touch so far; without one, the first event of their session.
 */
export function rawCredits(span: ReadableSpan, from: number, to: number): CreditsSql {
  const readable = (time: number) => Math.max(time, span.readableFrom)
  const inRange = within('raw_from', 'raw_to')
  return {
    params: {
      workspace: span.workspaceId,
      raw_from: from,
      raw_to: to,
      raw_touches_from: readable(from - creditWindowMs),
      raw_sessions_from: readable(from - sessionHours * hourMs),
      raw_sessions_to: to + sessionHours * hourMs,
    },
    with: [
      `raw_conversions AS (
        SELECT session, device, browser, country, has_touch, touch_source, touch_medium FROM (
          SELECT session, occurred_at, kind, ${deviceKey} AS device, ${browserKey} AS browser, ${countryKey} AS country,
            source NOT IN ('', 'direct') AS is_touch,
            maxIf(occurred_at, is_touch) OVER so_far AS touched_at,
            countIf(is_touch) OVER so_far > 0
              AND touched_at >= occurred_at - toIntervalMillisecond(${creditWindowMs}) AS has_touch,
            argMaxIf(toString(source), (occurred_at, id), is_touch) OVER so_far AS touch_source,
            argMaxIf(toString(medium), (occurred_at, id), is_touch) OVER so_far AS touch_medium
          FROM events
          WHERE ${within('raw_touches_from', 'raw_to')}
            AND visitor IN (SELECT visitor FROM events WHERE ${inRange} AND kind = 'conversion' AND visitor != 0)
            AND (kind = 'conversion' OR is_touch)
          WINDOW so_far AS (PARTITION BY visitor ORDER BY occurred_at, id ROWS UNBOUNDED PRECEDING)
        )
        WHERE kind = 'conversion' AND occurred_at >= ${moment('raw_from')}
      )`,
      `raw_begun AS (
        SELECT session, argMin((${sourceKey}, ${mediumKey}), (occurred_at, id)) AS first FROM events
        WHERE ${within('raw_sessions_from', 'raw_sessions_to')} AND visitor != 0
          AND session IN (SELECT session FROM events WHERE ${inRange} AND kind = 'conversion' AND visitor != 0)
        GROUP BY session
      )`,
    ],
    sql: `SELECT if(has_touch, touch_source, first.1) AS source, if(has_touch, touch_medium, first.2) AS medium, device, browser, country, toInt64(1) AS amount
      FROM raw_conversions LEFT JOIN raw_begun USING (session)
      UNION ALL
      SELECT ${sourceKey}, ${mediumKey}, ${deviceKey}, ${browserKey}, ${countryKey}, toInt64(1)
      FROM events WHERE ${inRange} AND kind = 'conversion' AND visitor = 0`,
  }
}
