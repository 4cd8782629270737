/**
 * What is known of whole sessions: where they came from, with what, where they entered, whether they bounced. A session
 * belongs to the range that holds its first event. Conversions come in here too, because the credit of one without a
 * touch falls to its session's source.
 */
import { bounceEngagementMs, creditWindowMs } from '../../../schemas/limits.ts'
import {
  browserKey,
  countryKey,
  deviceKey,
  inRange,
  mediumKey,
  moment,
  type ReadableSpan,
  type Reader,
  sourceKey,
  spanParams,
  topPaths,
  within,
} from './span.ts'

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

const noSessions: SessionTotals = { sessions: 0, bounces: 0, durationMs: 0 }

/** Every session with an event in range, on all its events of a day around it. */
function sessionRows(facts: string): string {
  return `SELECT session, ${facts},
      min(occurred_at) AS first_at,
      dateDiff('millisecond', min(occurred_at), max(occurred_at)) AS duration,
      countIf(kind = 'pageview') AS pageviews,
      count() AS events,
      countIf(kind = 'pageview') = 1 AND countIf(kind IN ('conversion', 'custom')) = 0
        AND sum(engagement_ms) < ${bounceEngagementMs} AS is_bounce
    FROM events
    WHERE ${within('session_from', 'session_to')} AND visitor != 0
      AND session IN (SELECT session FROM events WHERE ${inRange} AND visitor != 0)
    GROUP BY session`
}

const startsInRange = `first_at >= ${moment('from')} AND first_at < ${moment('to')}`

export async function readSessionTotals(ch: Reader, span: ReadableSpan): Promise<SessionTotals> {
  const [row] = await ch.query<SessionTotals>(
    `SELECT count() AS sessions, countIf(is_bounce) AS bounces, sum(duration) AS durationMs
     FROM (${sessionRows('1 AS one')}) WHERE ${startsInRange}`,
    spanParams(span),
  )
  return row ?? noSessions
}

const sessionFacts = `
  argMin((visitor, ${sourceKey}, ${mediumKey}, ${deviceKey}, ${browserKey}, ${countryKey}), (occurred_at, id)) AS first,
  argMinIf(path, (occurred_at, id), kind = 'pageview') AS entry_path`

/**
 * Conversions of visitors in range, with the last touch up to each: all touches and conversions of those visitors in
 * their order, each row seeing the newest touch so far.
 */
const credits = `
  SELECT session, groupArray((has_touch, touch_source, touch_medium, device, browser, country)) AS conversions
  FROM (
    SELECT session, occurred_at, kind, ${deviceKey} AS device, ${browserKey} AS browser, ${countryKey} AS country,
      source NOT IN ('', 'direct') AS is_touch,
      maxIf(occurred_at, is_touch) OVER so_far AS touched_at,
      countIf(is_touch) OVER so_far > 0
        AND touched_at >= occurred_at - toIntervalMillisecond(${creditWindowMs}) AS has_touch,
      argMaxIf(toString(source), (occurred_at, id), is_touch) OVER so_far AS touch_source,
      argMaxIf(toString(medium), (occurred_at, id), is_touch) OVER so_far AS touch_medium
    FROM events
    WHERE ${within('credit_from', 'to')}
      AND visitor IN (SELECT visitor FROM events WHERE ${inRange} AND kind = 'conversion' AND visitor != 0)
      AND (kind = 'conversion' OR is_touch)
    WINDOW so_far AS (PARTITION BY visitor ORDER BY occurred_at, id ROWS UNBOUNDED PRECEDING)
  )
  WHERE kind = 'conversion' AND occurred_at >= ${moment('from')}
  GROUP BY session`

/** Entries are (dimension, key, detail, whether it is a session's and not a conversion's). */
const sessionEntries = `[
  ('total', '', '', 1), ('source', first.2, first.3, 1), ('device', first.4, '', 1),
  ('browser', first.5, '', 1), ('country', first.6, '', 1)]`
const entryPageEntry = `if(pageviews > 0 AND entry_path IN (${topPaths}), [('entry', entry_path, '', 1)], [])`

function conversionEntries(source: string, medium: string, device: string, browser: string, country: string): string {
  return `[('source', ${source}, ${medium}, 0), ('device', ${device}, '', 0),
    ('browser', ${browser}, '', 0), ('country', ${country}, '', 0)]`
}

const sessionConversionEntries = `arrayFlatten(arrayMap(
  c -> ${conversionEntries('if(c.1, c.2, first.2)', 'if(c.1, c.3, first.3)', 'c.4', 'c.5', 'c.6')}, conversions))`

const sessionFiguresSql = `
  SELECT entry.1 AS dimension, entry.2 AS key, entry.3 AS detail,
    uniqExactIf(visitor, entry.4 = 1) AS visitors,
    countIf(entry.4 = 1) AS sessions,
    sumIf(pageviews, entry.4 = 1) AS pageviews,
    sumIf(events, entry.4 = 1) AS events,
    sumIf(is_bounce, entry.4 = 1) AS bounces,
    sumIf(duration, entry.4 = 1) AS durationMs,
    countIf(entry.4 = 0) AS conversions
  FROM (
    SELECT arrayJoin(arrayConcat(
        if(${startsInRange}, arrayConcat(${sessionEntries}, ${entryPageEntry}), []),
        ${sessionConversionEntries})) AS entry,
      first.1 AS visitor, pageviews, events, is_bounce, duration
    FROM (${sessionRows(sessionFacts)}) AS sessions LEFT JOIN (${credits}) AS credits USING (session)
    UNION ALL
    SELECT arrayJoin(${conversionEntries(sourceKey, mediumKey, deviceKey, browserKey, countryKey)}), 0, 0, 0, 0, 0
    FROM events WHERE ${inRange} AND kind = 'conversion' AND visitor = 0
  )
  GROUP BY dimension, key, detail
  ORDER BY dimension, visitors DESC, conversions DESC, key, detail
  LIMIT {limit:UInt32} BY dimension`

/** At most `limit` groups of each dimension, by visitors, then conversions, then key. */
export async function readSessionFigures(ch: Reader, span: ReadableSpan, limit: number): Promise<SessionFigures> {
  const rows = await ch.query<SessionGroup & { dimension: string }>(sessionFiguresSql, { ...spanParams(span), limit })
  const of = (dimension: string) => rows.filter((row) => row.dimension === dimension)
  return {
    total: of('total')[0] ?? noSessions,
    sources: of('source'),
    devices: of('device'),
    browsers: of('browser'),
    countries: of('country'),
    entryPages: of('entry'),
  }
}
