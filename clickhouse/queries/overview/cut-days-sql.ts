/**
 * The days that a period begins or ends inside of, counted from `events`.
 *
 * The period begins inside of a day. A visitor's later appearance may have that day as `prev_day`. It is new to the period
 * if the visitor wasn't seen between the period's begin and that day's end.
 */
import { cellKinds } from '../../rollups/appearance.ts'
import { seenAt, seenInSessions } from '../../rollups/cells.ts'
import { isSample } from '../../rollups/event-sql.ts'
import {
  type FigureName,
  inBuild,
  inWorkspace,
  isFolded,
  ofBucket,
  type PeriodSql,
  part,
  termsOf,
} from './figure-parts.ts'

const { all, converting, page } = cellKinds
const isView = "event_kind='pageview'"

/** Pageviews and events of the day that the period ends inside of. Totals have them from `read-counts.ts`. */
export function cutEndPart(period: PeriodSql): string[] {
  if (period.pieces.cutEnd === undefined || period.wanted === 'totals') return []
  const events = eventsIn(period, 'cut_end_start', 'end', 'cut_end_day')
  const { bucket } = termsOf(period)
  return [
    part(
      period.number,
      `kind, key, detail, ${bucket} AS bucket`,
      eventSums,
      `FROM (${events}) GROUP BY kind, key, detail, bucket`,
    ),
  ]
}

/** The day that the period begins inside of, and the visitors and sessions of later days that were seen on it before. */
export function cutStartParts(period: PeriodSql): string[] {
  const { pieces, number, wanted } = period
  if (pieces.cutStart === undefined) return []
  const { day, value, since, bucket, bucketSince } = termsOf(period)
  const events = eventsIn(period, 'start', 'cut_start_end', 'since')
  const visitors = `uniqExactIf(visitor, ${isViewOfVisitor})`
  const sessions = `uniqExactIf((visitor, session), ${isViewOfVisitor})`
  const ofEvents = part(
    number,
    `kind, key, detail, ${bucket} AS bucket`,
    { ...eventSums, visitors, sessions, ...ofBucket(period, visitors, sessions) },
    `FROM (${events}) GROUP BY kind, key, detail, bucket`,
  )
  const kinds = wanted === 'totals' ? `AND kind IN (${all}, ${converting})` : ''
  const isOfEntry = `b.kind NOT IN (${all}, ${converting}, ${page}) AND b.sessions = 1`
  const begunIn = `SELECT * FROM (${seenInSessions(seenColumns, `${inBuild} AND day = ${since}`)})
    WHERE at >= ${value('start', 'Int64')} AND at < ${value('cut_start_end', 'Int64')} ${kinds}`
  const ofStarts = part(
    number,
    `kind, key, detail, ${bucket} AS bucket`,
    {
      begun: 'sum(b.begun)',
      bounces: 'sum(b.bounces)',
      duration_ms: 'sum(b.duration_ms)',
      conversions: 'sum(b.conversions)',
      visitors: `uniqExactIf(visitor, ${isOfEntry})`,
      sessions: `countIf(${isOfEntry})`,
      pageviews: `sumIf(b.pageviews, ${isOfEntry})`,
      events: `sumIf(b.events, ${isOfEntry})`,
    },
    `FROM (${begunIn}) AS b GROUP BY kind, key, detail, bucket`,
  )
  if (Math.max(pieces.days.to, pieces.cutEnd?.day ?? 0) <= pieces.sinceDay) return [ofEvents, ofStarts]
  const isResumed = `(sessions > fresh AND day = ${since} + 1)`
  const later = `SELECT * FROM (${seenInSessions(
    seenColumns,
    `${inBuild} AND day > ${since} AND day <= ${day('last_day')}`,
    `visitor IN (SELECT visitor FROM sessions WHERE ${inBuild} AND day = ${since})`,
  )}) WHERE (prev_day = ${since} OR ${isResumed}) AND at < ${value('end', 'Int64')} ${kinds}`
  const seenVisitors = `SELECT kind, key, detail, visitor FROM (${events}) WHERE kind != ${page} OR ${isView}
    UNION ALL SELECT kind, key, detail, visitor FROM (${begunIn}) AS b WHERE ${isOfEntry}`
  const seenSessions = `SELECT kind, key, visitor, session FROM (${events}) WHERE kind != ${page} OR ${isView}`
  const inBucket = `kind = ${all} AND ${bucketSince} = ${since}`
  const ofLater = part(
    number,
    `kind, key, detail, ${bucket} AS bucket`,
    {
      visitors: 'countIf(is_new)',
      sessions: 'countIf(is_resumed)',
      ...ofBucket(period, `countIf(is_new AND ${inBucket})`, `countIf(is_resumed AND ${inBucket})`),
    },
    `FROM (SELECT kind, key, detail, day,
        (prev_day = ${since} AND (kind, key, detail, visitor) NOT IN (${seenVisitors})) AS is_new,
        (${isResumed} AND (kind, key, visitor, session) NOT IN (${seenSessions})) AS is_resumed FROM (${later}))
    GROUP BY kind, key, detail, bucket`,
  )
  return [ofEvents, ofStarts, ofLater]
}

const seenColumns = `day, visitor, session, ${seenAt} AS at`

function eventsIn(period: PeriodSql, from: string, to: string, dayName: string): string {
  const { at } = termsOf(period)
  return `SELECT visitor, session, day, event_kind, is_sample, of.1 AS kind, of.2 AS key, '' AS detail
    FROM (SELECT visitor, session, kind AS event_kind, ${isSample} AS is_sample,
        ${eventKeys(period.wanted)} AS of, ${termsOf(period).day(dayName)} AS day
      FROM events WHERE ${inWorkspace} AND occurred_at >= ${at(from)} AND occurred_at < ${at(to)} AND ${isFolded})`
}

/** SQL of an event's kinds and keys: rows (kind, key). */
function eventKeys(wanted: PeriodSql['wanted']): string {
  const lists = wanted === 'totals' ? '' : `,if(kind='pageview' OR ${isSample},[(${page},toString(path))],[])`
  const conversion = `if(kind='conversion' AND visitor!=0,[(${converting},'')],[])`
  return `arrayJoin(arrayConcat([(${all},'')],${conversion}${lists}))`
}

const eventSums: Partial<Record<FigureName, string>> = {
  pageviews: `countIf(${isView} AND kind != ${converting})`,
  events: `countIf(kind = ${all})`,
  samples: `countIf(kind = ${page} AND is_sample)`,
}

const isViewOfVisitor = `(visitor != 0 AND (kind != ${page} OR ${isView}))`
