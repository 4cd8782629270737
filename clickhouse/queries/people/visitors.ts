/** Visitors as people: the last seen ones, their figures, and their events. */
import type { Touch } from '../../../schemas/event/touch.ts'
import { hourMs } from '../../../schemas/time/time-zone.ts'
import type { BoundSql } from '../../bound-sql.ts'
import type { ClickHouse } from '../../client.ts'
import { eventMs, isTouch, moment } from '../../rollups/event-sql.ts'
import { isBehind, type NewestEvents, pointParams } from '../event-point.ts'
import { type RecentEvent, recentEventColumns } from '../overview/read-recent-events.ts'
import { hoursOfVisitors, pairsIn } from './copy-events.ts'

type Reader = Pick<ClickHouse, 'query'>

/** A workspace's rows in use, within the days that it may read. */
export interface VisitorRows {
  readonly workspaceId: number
  readonly build: number
  /** The earliest local day that may be read. */
  readonly firstDay: number
}

export interface SeenVisitor {
  /** Decimal text. */
  readonly visitor: string
  readonly lastAt: number
}

export interface NewestVisitors extends VisitorRows {
  /** Days from this one on are looked at. */
  readonly fromDay: number
  /** Only those last seen since; milliseconds since 1970. */
  readonly since: number
  /** Only those last seen before this one; at the same moment, those with lower hashes. */
  readonly before: SeenVisitor
  readonly limit: number
  /** Only those with a session that began by a source or campaign with these letters. */
  readonly q: string | undefined
}

export interface FoundVisitor extends SeenVisitor {
  /** Whether a session began by a source or campaign with the letters; true without letters. */
  readonly isFound: boolean
}

/**
 * Visitors by last-seen time, newest first; ties by hash, greatest first. The newest version of a session's row has the
 * latest time, so all versions may be read for it. How a session began, only the newest version says: with letters come
 * all visitors of whom any version has them, and which of them are found.
 */
export function readNewestVisitors(
  ch: Reader,
  { workspaceId, build, fromDay, since, before, limit, q }: NewestVisitors,
): Promise<FoundVisitor[]> {
  const ofDays =
    'workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND day >= {from_day:UInt16} AND visitor != 0'
  const newest = (which: string, having: string) =>
    `SELECT visitor AS seen_visitor, max(last_at) AS last FROM sessions WHERE ${ofDays} AND ${which}
     GROUP BY visitor HAVING last >= ${moment('since')} AND (last, seen_visitor) < (${moment('before')}, {before_visitor:UInt64}) AND ${having}
     ORDER BY last DESC, seen_visitor DESC LIMIT {limit:UInt32}`
  // A search may go through all days, in few columns.
  const candidates = newest('1', `countIf(${hasLetters}) > 0`)
  const seen =
    q === undefined
      ? `SELECT *, true AS found FROM (${newest(`last_at >= ${moment('since')}`, '1')})`
      : `SELECT visitor AS seen_visitor, max(last_at) AS last, countIf(${hasLetters}) > 0 AS found FROM sessions FINAL
         WHERE ${ofDays} AND visitor IN (SELECT seen_visitor FROM (${candidates})) GROUP BY visitor`
  return ch.query<FoundVisitor>(
    `SELECT toString(seen_visitor) AS visitor, toUnixTimestamp64Milli(last) AS lastAt, found AS isFound
     FROM (${seen}) ORDER BY last DESC, seen_visitor DESC`,
    {
      ...{ workspace: workspaceId, build, from_day: fromDay, since, limit, q: q ?? '' },
      ...{ before: before.lastAt, before_visitor: before.visitor },
    },
    q === undefined ? { settings: fewRows } : {},
  )
}

/** A second thread would take as long to begin as one takes for the rows. */
const fewRows = { max_threads: 1 }

/**
 * Whether any session may have begun by a source or campaign with these letters. Mostly none has, and then nobody has to be
 * looked for: the two columns have few texts, so this takes a fraction of the time.
 */
export async function isOriginOfVisitors(
  ch: Reader,
  { workspaceId, build, firstDay }: VisitorRows,
  q: string,
): Promise<boolean> {
  const found = await ch.query(
    `SELECT 1 FROM sessions
     WHERE workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND day >= {first_day:UInt16} AND (${hasLetters})
     LIMIT 1`,
    { workspace: workspaceId, build, first_day: firstDay, q },
  )
  return found.length > 0
}

const hasLetters =
  'positionCaseInsensitiveUTF8(source, {q:String}) > 0 OR positionCaseInsensitiveUTF8(campaign, {q:String}) > 0'

export interface VisitorSums {
  readonly visitor: string
  readonly sessions: number
  readonly events: number
  readonly conversions: number
  readonly firstAt: number
  readonly lastAt: number
}

interface SummedRow extends VisitorSums {
  readonly touches: number
  readonly lastTouchAt: number
  readonly firstTouchDay: readonly [firstAt: number, lastAt: number]
}

/** Texts of a visitor that only events have. */
export interface VisitorTexts {
  readonly anonymousId: string
  readonly firstTouch: Touch | null
  readonly lastTouch: Touch | null
}

const hourOf = (ms: number) => Math.floor(ms / hourMs)

/**
 * By visitor; one that has no rows that may be read is not there. First and last touch count from whichever day.
 * @param visitors those whose last event's time is known have their texts read beside their sums
 */
export async function readVisitors(
  ch: Reader,
  rows: VisitorRows,
  visitors: readonly (Pick<SeenVisitor, 'visitor'> & Partial<SeenVisitor>)[],
): Promise<Map<string, VisitorSums & VisitorTexts>> {
  if (visitors.length === 0) return new Map()
  const lastPlaces = visitors.flatMap(({ visitor, lastAt }) =>
    lastAt === undefined ? [] : { visitor, hour: hourOf(lastAt) },
  )
  const [sums, lastTexts] = await Promise.all([
    readSums(ch, rows, visitors),
    readTexts(ch, rows.workspaceId, lastPlaces),
  ])
  const lastHours = new Map(lastPlaces.map(({ visitor, hour }) => [visitor, hour]))
  // Most visitors have all their texts in their last hour.
  const otherPlaces = sums.flatMap((sum) => {
    const hours = hoursOfTexts(sum)
    const isRead = hours.every((hour) => hour === lastHours.get(sum.visitor))
    return isRead ? [] : hours.map((hour) => ({ visitor: sum.visitor, hour }))
  })
  const otherTexts = await readTexts(ch, rows.workspaceId, otherPlaces)
  return new Map(
    sums.map(({ touches: _, lastTouchAt: __, firstTouchDay: ___, ...sum }) => {
      const texts = otherTexts.get(sum.visitor) ?? lastTexts.get(sum.visitor) ?? noTexts
      return [sum.visitor, { ...sum, ...texts }]
    }),
  )
}

/**
 * Rows lie far apart, so the other columns are read only where a visitor's rows are (PREWHERE). The newest version of a
 * row is chosen here: FINAL would read twice as much. A list as a parameter is looked up in the index several times as
 * fast as one from a subselect.
 */
function readSums(
  ch: Reader,
  { workspaceId, build, firstDay }: VisitorRows,
  visitors: readonly Pick<SeenVisitor, 'visitor'>[],
): Promise<SummedRow[]> {
  return ch.query<SummedRow>(
    `SELECT toString(of_visitor) AS visitor, * EXCEPT (of_visitor) FROM (
       SELECT visitor AS of_visitor, sumIf(sessions, is_read) AS sessions, sumIf(events, is_read) AS events, sumIf(conversions, is_read) AS conversions,
         toUnixTimestamp64Milli(minIf(first_at, is_read)) AS firstAt, toUnixTimestamp64Milli(max(last_at)) AS lastAt,
         countIf(touch_source != '') AS touches, toUnixTimestamp64Milli(maxIf(touch_at, touch_source != '')) AS lastTouchAt,
         argMinIf((toUnixTimestamp64Milli(first_at), toUnixTimestamp64Milli(last_at)), day, touch_source != '') AS firstTouchDay
       FROM (
         SELECT visitor, day, day >= {first_day:UInt16} AS is_read, first_at, last_at, sessions, events, conversions, touch_at, touch_source
         FROM visitors PREWHERE visitor IN {visitors:Array(UInt64)}
         WHERE workspace_id = {workspace:UInt32} AND build = {build:UInt32}
         ORDER BY version DESC LIMIT 1 BY visitor, day)
       GROUP BY visitor HAVING countIf(is_read) > 0)`,
    { workspace: workspaceId, build, first_day: firstDay, visitors: visitors.map(({ visitor }) => BigInt(visitor)) },
    // Each visitor's granule is read in each part, so two threads take a quarter less time.
    { isLong: true, settings: { max_threads: 2 } },
  )
}

/** The hours that have a visitor's texts: the last event's, the last touch's, and those of the first day with a touch. */
function hoursOfTexts({ lastAt, touches, lastTouchAt, firstTouchDay: [from, to] }: SummedRow): number[] {
  const hours = new Set([hourOf(lastAt)])
  if (touches > 0) {
    hours.add(hourOf(lastTouchAt))
    for (let hour = hourOf(from); hour <= hourOf(to); hour++) hours.add(hour)
  }
  return [...hours]
}

const noTexts: VisitorTexts = { anonymousId: '', firstTouch: null, lastTouch: null }

/** By visitor, from the events of these places alone. */
async function readTexts(
  ch: Reader,
  workspaceId: number,
  places: readonly Place[],
): Promise<Map<string, VisitorTexts>> {
  if (places.length === 0) return new Map()
  interface Row {
    readonly v: string
    readonly anonymous_id: string
    readonly touches: number
    readonly first: readonly [number, string, string, string, string]
    readonly last: readonly [number, string, string, string, string]
  }
  const { sql, params } = hoursIn(workspaceId, places)
  const touch = `(${eventMs}, toString(source), toString(medium), toString(campaign), toString(content))`
  const rows = await ch.query<Row>(
    `SELECT toString(visitor) AS v, max(anonymous_id) AS anonymous_id, countIf(${isTouch}) AS touches,
       argMinIf(${touch}, (occurred_at, id), ${isTouch}) AS first, argMaxIf(${touch}, (occurred_at, id), ${isTouch}) AS last
     FROM events WHERE ${sql} GROUP BY visitor`,
    params,
    { isLong: true, settings: fewRows },
  )
  return new Map(
    rows.map(({ v, anonymous_id, touches, first, last }) => [
      v,
      {
        anonymousId: anonymous_id,
        firstTouch: touches > 0 ? touchOf(first) : null,
        lastTouch: touches > 0 ? touchOf(last) : null,
      },
    ]),
  )
}

function touchOf([at, source, medium, campaign, content]: readonly [number, string, string, string, string]): Touch {
  return { at, source, medium, campaign, content }
}

/** The newest events of one visitor, newest first. */
export function readEventsOfVisitor(
  ch: Reader,
  { workspaceId, build, firstDay }: VisitorRows,
  visitor: string,
  { since, before, limit }: NewestEvents,
): Promise<RecentEvent[]> {
  const chosen = pairsIn([[workspaceId, visitor]], 'chosen')
  return ch.query<RecentEvent>(
    `SELECT ${recentEventColumns} FROM events
     WHERE (workspace_id, toStartOfHour(occurred_at), visitor) IN (
       ${hoursOfVisitors(chosen.sql, 'build = {build:UInt32} AND day >= {first_day:UInt16}')})
       AND occurred_at >= ${moment('since')} AND ${isBehind()}
     ORDER BY occurred_at DESC, id DESC LIMIT {limit:UInt32}`,
    { ...chosen.params, ...pointParams(before), build, first_day: firstDay, since, limit },
  )
}

/** Events by where they stand, newest first. */
export function readEventsAt(
  ch: Reader,
  workspaceId: number,
  places: readonly (Place & { readonly id: number })[],
): Promise<RecentEvent[]> {
  if (places.length === 0) return Promise.resolve([])
  const { sql, params } = hoursIn(workspaceId, places)
  return ch.query<RecentEvent>(
    `SELECT ${recentEventColumns} FROM events WHERE ${sql} AND id IN {ids:Array(UInt64)}
     ORDER BY occurred_at DESC, id DESC`,
    { ...params, ids: places.map(({ id }) => id) },
  )
}

type Place = Readonly<{ hour: number; visitor: string }>

/** Condition of `events`, by its order key. */
function hoursIn(workspaceId: number, places: readonly Place[]): BoundSql {
  return {
    sql: `(workspace_id, toStartOfHour(occurred_at), visitor) IN (
       SELECT {workspace:UInt32}, toDateTime(t.1 * 3600, 'UTC'), toUInt64(t.2)
       FROM (SELECT arrayJoin(arrayZip({hours:Array(UInt32)}, {visitors:Array(String)})) AS t))`,
    params: {
      ...{ workspace: workspaceId, hours: places.map(({ hour }) => hour) },
      visitors: places.map(({ visitor }) => visitor),
    },
  }
}
