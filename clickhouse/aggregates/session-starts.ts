/**
 * Sessions by the hour that they start in. A session starts in hour H with its first event there, if it has none in the 24
 * hours before H; its facts are taken of its events from H to 24 hours after H's end. Of a session that is no longer than a
 * day there is one such hour, and the facts are those of docs/metrics.md.
 *
 * What an uncounted row changes is the difference between the facts without and with it, so a session that got new rows has
 * two sides: as it was counted, and as it is. Everything can be added and subtracted but the set of visitors, which forgets
 * nobody: where a session leaves an hour, or enters it as somebody else, the hour is `retracted` and has to be computed from
 * scratch. That takes a first event that arrives after later ones were counted.
 *
 * Sides are rows of workspace_id, hour, sign (1: counts, -1: counted until now, 0: neither), facts, mark, which is a key of
 * `agg_sessions` that the row makes in place of those of its facts, and is_new: its visitor isn't in the sets of its keys yet.
 * Two statements find them: one for all sessions, hour by hour, and a much faster one for those within a day, which only marks
 * the others.
 */

import { hourMs } from '../../schemas/time-zone.ts'
import type { BoundSql } from '../bound-sql.ts'
import { browserKey, countryKey, deviceKey, mediumKey, sourceKey } from './event-keys.ts'
import { idMax } from './id-ranges.ts'
import { inPart, type RowScope, type ScopeSql, scopeSql, sessionHours } from './row-scope.ts'
import { bounceSql, firstOfSession, isAct, ofFirst, sessionEntriesSql, sessionSumsSql } from './session-facts.ts'
import { hourOfEvent } from './tables.ts'

/** The facts in the order of their tuple, which begins at 1. */
const fact = {
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
  hasEntry: 12,
  entryPath: 13,
  /** 1; 0 where the session is counted already, and the facts say what it has come to besides. */
  sessions: 14,
} as const

type FactsSql = Record<keyof typeof fact, string>

const noMark = `('', '', '')`

/**
 * Of all sessions.
 * @param chosen over rows of `events`: the sessions to look at, each whole; undefined: those that uncounted rows belong to
 * @param condition over `first_at`, milliseconds: sides that begin elsewhere are left out
 */
export function sessionSidesSql(scope: RowScope, chosen?: BoundSql, condition = '1'): BoundSql {
  const near = scopeSql(scope)
  const isAnother = `${identityOf('facts_before')} != ${identityOf('facts_now')}`
  const within = (facts: string) => condition.replaceAll('first_at', `${facts}.${fact.firstAt}`)
  const sql = `
    SELECT workspace_id, hour, side.1 AS sign, side.2 AS facts, side.3 AS mark, side.4 AS is_new
    FROM (
      SELECT workspace_id, hour, arrayJoin(arrayConcat(
        if(has AND ${within('facts_now')}, [(1, facts_now, ${noMark}, NOT had OR ${isAnother})], []),
        if(had AND ${within('facts_before')}, [(-1, facts_before, ${noMark}, 0)], []),
        if(had AND (NOT has OR ${isAnother}), [(0, facts_before, ('retracted', toString(hour), ''), 0)], []))) AS side
      FROM (
        SELECT workspace_id, session, hour,
          countIf(side = 0) > 0 AS had, countIf(side = 1) > 0 AS has,
          anyIf(facts, side = 0) AS facts_before, anyIf(facts, side = 1) AS facts_now
        FROM (
          SELECT workspace_id, session, hour, side,
            tuple(
              toUnixTimestamp64Milli(first.1), ${Object.values(ofFirst).join(', ')},
              session_pageviews, session_events,
              ${bounceSql('session_pageviews', 'session_acts', 'session_engagement')},
              dateDiff('millisecond', first.1, session_last), session_pageviews > 0, entry.3, 1
            ) AS facts
          FROM (
            SELECT workspace_id, session, hour, side, first,
              lagInFrame(last_at) OVER (
                PARTITION BY workspace_id, session, side ORDER BY hour ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before_at,
              sum(pageviews) OVER day AS session_pageviews, sum(events) OVER day AS session_events,
              sum(acts) OVER day AS session_acts, sum(engagement) OVER day AS session_engagement,
              max(last_at) OVER day AS session_last, minIf(hour_entry, pageviews > 0) OVER day AS entry
            FROM (
              ${hoursSql(scope, near, chosen)}
            )
            WINDOW day AS (
              PARTITION BY workspace_id, session, side ORDER BY hour RANGE BETWEEN CURRENT ROW AND ${sessionHours} FOLLOWING)
          )
          WHERE hour >= {hour_start:Int64} AND hour < {hour_end:Int64} AND ${near.isKey}
            AND toUnixTimestamp64Milli(before_at) < (hour - ${sessionHours}) * 3600000
        )
        GROUP BY workspace_id, session, hour
      )
    )`
  return { sql, params: { ...near.params, ...chosen?.params } }
}

/** Of each session and side, what its events of an hour come to. */
function hoursSql(scope: RowScope, near: ScopeSql, chosen: BoundSql | undefined): string {
  const side = scope.uncounted === 'everything' ? '1' : `arrayJoin(if(${near.uncounted}, [1], [0, 1]))`
  return `
    SELECT workspace_id, session, ${side} AS side, toInt64(${hourOfEvent}) AS hour,
      ${firstOfSession} AS first,
      max(occurred_at) AS last_at,
      countIf(kind = 'pageview') AS pageviews, count() AS events, countIf(${isAct}) AS acts,
      sum(engagement_ms) AS engagement, minIf((occurred_at, id, path), kind = 'pageview') AS hour_entry
    FROM events
    ${whereNear(scope, near, chosen?.sql)}
    GROUP BY workspace_id, session, side, hour`
}

/** What a side of a short session stands for: rows that count, or one of the marks. */
const kinds = { counted: 0, retracted: 1, long: 2 } as const
type Moment = 'now' | 'before'

/**
 * Of sessions all of whose events lie within a day: such a one starts in the hour of its first. Each of the others makes one
 * row that counts nothing: marked `long`, with the session's number and `markedAs`, in the hour of its last uncounted event.
 * Mostly a session stays what it is counted as, and has come to more: then it makes one side, with the differences.
 */
export function shortSessionSidesSql(scope: RowScope, markedAs: string): BoundSql {
  const near = scopeSql(scope)
  const isCounted = scope.uncounted === 'everything' ? undefined : `NOT ${near.uncounted}`
  const lastUncounted = 'least(greatest(last_uncounted, {hour_start:Int64}), {hour_end:Int64} - 1)'
  const hour = { now: `intDiv(first_at_now, ${hourMs})`, before: `intDiv(first_at_before, ${hourMs})` }
  const now = sideSql('now', { sign: 1, hour: hour.now, isNew: true })
  const known = sideSql('now', { sign: 1, hour: hour.now })
  const before = sideSql('before', { sign: -1, hour: hour.before })
  const isIdentical = `${hour.now} = ${hour.before} AND identity_now = identity_before`
  const hasSameEntry = '(pageviews_now > 0) = (pageviews_before > 0) AND entry_path_now = entry_path_before'
  const ofCounted = `
          events_before > 0 AND ${isIdentical} AND ${hasSameEntry}, [${sideSql('now', { sign: 1, hour: hour.now, since: 'before' })}],
          events_before > 0 AND ${isIdentical}, [${known}, ${before}],
          events_before > 0, [${now}, ${before}, ${sideSql('before', { sign: 0, hour: hour.before, kind: 'retracted' })}],`
  const sql = `
    SELECT workspace_id, side.1 AS hour, side.2 AS sign,
      tuple(side.4, toUInt64(keys[1]), keys[2], keys[3], keys[4], keys[5], keys[6], ${[6, 7, 8, 9, 10, 11, 12].map((at) => `side.${at}`).join(', ')}) AS facts,
      multiIf(side.3 = ${kinds.long}, ('long', toString(session), {marked_as:String}),
        side.3 = ${kinds.retracted}, ('retracted', toString(hour), ''), ${noMark}) AS mark, side.13 AS is_new
    FROM (
      SELECT workspace_id, session, side, splitByChar('\\0', side.5) AS keys
      FROM (
        SELECT workspace_id, session, arrayJoin(multiIf(
          last_hour > ${hour.now} + ${sessionHours}, [${sideSql('now', { sign: 0, hour: lastUncounted, kind: 'long' })}],${isCounted === undefined ? '' : ofCounted}
          [${now}])) AS side
        FROM (
          SELECT workspace_id, session, ${sumsSql('now')}${isCounted === undefined ? '' : `, ${sumsSql('before', isCounted)}`},
            toInt64(max(${hourOfEvent})) AS last_hour, toInt64(maxIf(${hourOfEvent}, ${near.uncounted})) AS last_uncounted
          FROM events
          ${whereNear(scope, near)}
          GROUP BY workspace_id, session
        )
      )
    )
    WHERE mark.1 = 'long' OR hour >= {hour_start:Int64} AND hour < {hour_end:Int64} AND ${near.isKey}`
  return { sql, params: { ...near.params, marked_as: markedAs } }
}

interface SideOf {
  readonly sign: 1 | 0 | -1
  readonly hour: string
  readonly kind?: keyof typeof kinds
  /** Its sums are by how much they have grown since then, and it counts no session. */
  readonly since?: Moment
  readonly isNew?: boolean
}

/** SQL of a side, a tuple: hour, sign, kind, time of the first event, identity, sums, entry, sessions, whether it is new. */
function sideSql(of: Moment, { sign, hour, kind = 'counted', since, isNew = false }: SideOf): string {
  const sumsOf = (moment: Moment) =>
    [`pageviews_${moment}`, `events_${moment}`, `is_bounce_${moment}`, `last_at_${moment} - first_at_${moment}`].map(
      (sum) => `toInt64(${sum})`,
    )
  const before = since && sumsOf(since)
  const sums = sumsOf(of).map((sum, at) => (before === undefined ? sum : `${sum} - ${before[at]}`))
  const entry = [`pageviews_${of} > 0`, `entry_path_${of}`]
  const counts = [`toInt8(${sign})`, `toUInt8(${kinds[kind]})`]
  return `(${[`toInt64(${hour})`, ...counts, `first_at_${of}`, `identity_${of}`, ...sums, ...entry, `toUInt8(${since === undefined ? 1 : 0})`, `toUInt8(${isNew ? 1 : 0})`].join(', ')})`
}

/** No text of events holds a NUL. One text is found of the first row in a quarter of the time that takes for six. */
const identity = `concat(${['toString(visitor)', sourceKey, mediumKey, deviceKey, browserKey, countryKey].join(`, '\\0', `)})`

/** What a session's rows come to, or those for which a condition holds: columns that end with the moment's name. */
function sumsSql(of: Moment, isIn = '1'): string {
  const moment = `toUInt128(toUnixTimestamp64Milli(occurred_at)) * ${idMax + 1} + id`
  const isPageview = `kind = 'pageview' AND ${isIn}`
  return `argMinIf(${identity}, ${moment}, ${isIn}) AS identity_${of}, argMinIf(path, ${moment}, ${isPageview}) AS entry_path_${of},
            toUnixTimestamp64Milli(minIf(occurred_at, ${isIn})) AS first_at_${of}, toUnixTimestamp64Milli(maxIf(occurred_at, ${isIn})) AS last_at_${of},
            countIf(${isPageview}) AS pageviews_${of}, countIf(${isIn}) AS events_${of},
            ${bounceSql(`pageviews_${of}`, `countIf(${isAct} AND ${isIn})`, `sumIf(engagement_ms, ${isIn})`)} AS is_bounce_${of}`
}

/** Rows that sides are made of: those near the scope's hours, of sessions that can have a side in them. */
function whereNear(scope: RowScope, near: ScopeSql, chosen?: string): string {
  const isFromScratch = scope.uncounted === 'everything'
  // Of few hours, only the sessions are looked at that have an event there: one that starts there has.
  const isOfFewHours = scope.keys !== undefined || scope.hours.end - scope.hours.start < sessionHours
  const changes = isFromScratch ? near.inHours : `${near.nearHours} AND ${near.uncounted}`
  // Pairs with their workspaces would take three times as long; one of the same number elsewhere comes to nothing new.
  const changed = `session IN (SELECT session FROM events WHERE ${changes} AND visitor != 0)`
  const isAll = isFromScratch && !isOfFewHours
  const prewhere = chosen ?? (isAll ? undefined : changed)
  return `${prewhere === undefined ? '' : `PREWHERE ${prewhere} `}WHERE ${near.nearHours} AND visitor != 0 AND ${inPart(scope, 'session')}`
}

/** What a session is counted as: its visitor, and the keys that come with its first event. */
function identityOf(facts: string): string {
  const { visitor, source, medium, device, browser, country } = fact
  return `tuple(${[visitor, source, medium, device, browser, country].map((at) => `${facts}.${at}`).join(', ')})`
}

/**
 * What sides add to `agg_sessions`: its key columns, `hour`, its sums with their sign, and `visitors` as a state.
 * @param byHour false: all hours together, without the column
 */
export function sessionContributionsSql(sides: BoundSql, byHour = true): BoundSql {
  const hour = byHour ? 'hour, ' : ''
  const facts = Object.fromEntries(Object.entries(fact).map(([name, at]) => [name, `facts.${at}`])) as FactsSql
  const sql = `
    SELECT workspace_id, ${hour}${sessionSumsSql(facts, { sign: 'sign', isNew: 'is_new' })}
    FROM (
      SELECT workspace_id, hour, sign, facts, is_new, arrayJoin(if(mark.1 != '', [mark], ${sessionEntriesSql(facts)})) AS entry
      FROM (${sides.sql})
    )
    GROUP BY workspace_id, ${hour}dimension, key, detail`
  return { sql, params: sides.params }
}
