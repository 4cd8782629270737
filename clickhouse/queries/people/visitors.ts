/** Visitors as people: their figures and their events. */
import type { Touch } from '../../../schemas/event/touch.ts'
import { hourMs } from '../../../schemas/time/time-zone.ts'
import { type BoundSql, tuplesIn } from '../../bound-sql.ts'
import { eventMs, isTouch, moment } from '../../rollups/event-sql.ts'
import { isBeforePoint, type NewestEvents, pointParams } from '../event-point.ts'
import { type RecentEvent, recentEventColumns } from '../overview/read-recent-events.ts'
import { onOneThread, type Reader } from '../reader.ts'
import { hoursOfVisitors, pairsIn } from './copy-events.ts'

/** A workspace's rows in use, within the days that it may read. */
export interface VisitorRows {
  readonly workspaceId: number
  readonly build: number
  /** The earliest local day that may be read. */
  readonly firstDay: number
}

export interface SoughtVisitor {
  /** Decimal text. */
  readonly visitor: string
  /** The last event’s time, where it is known: texts of its hour are read beside the sums. */
  readonly lastAt?: number
}

export interface VisitorSums {
  readonly visitor: string
  readonly sessions: number
  readonly events: number
  readonly conversions: number
  readonly firstAt: number
  readonly lastAt: number
}

interface SummedVisitor extends VisitorSums {
  /** 0: no day has a touch. */
  readonly lastTouchAt: number
  /** The first day with a touch: when the visitor was seen on it. */
  readonly firstTouchDay: Pick<VisitorSums, 'firstAt' | 'lastAt'> | undefined
}

/** Texts of a visitor that only events have. */
export interface VisitorTexts {
  readonly anonymousId: string
  readonly firstTouch: Touch | null
  readonly lastTouch: Touch | null
}

const hourOf = (ms: number) => Math.floor(ms / hourMs)

/** By visitor; one that has no rows that may be read is not there. First and last touch count from whichever day. */
export async function readVisitors(
  ch: Reader,
  rows: VisitorRows,
  visitors: readonly SoughtVisitor[],
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
    sums.map(({ lastTouchAt: _, firstTouchDay: __, ...sum }) => {
      const texts = otherTexts.get(sum.visitor) ?? lastTexts.get(sum.visitor) ?? noTexts
      return [sum.visitor, { ...sum, ...texts }]
    }),
  )
}

/** A row of `visitors`. */
interface VisitorDay extends VisitorSums {
  readonly day: number
  /** 0: none of its events is a touch. */
  readonly touchAt: number
}

/**
 * Rows lie far apart, so the other columns are read only where a visitor's rows are (PREWHERE), and all versions come:
 * FINAL would read twice as much. Adding up here takes two thirds of the time that it takes ClickHouse. A list as a
 * parameter is looked up in the index several times as fast as one from a subselect.
 */
async function readSums(
  ch: Reader,
  { workspaceId, build, firstDay }: VisitorRows,
  visitors: readonly SoughtVisitor[],
): Promise<SummedVisitor[]> {
  const rows = await ch.query<VisitorDay>(
    `SELECT toString(visitors.visitor) AS visitor, day, sessions, events, conversions, toUnixTimestamp64Milli(first_at) AS firstAt,
       toUnixTimestamp64Milli(last_at) AS lastAt, toUnixTimestamp64Milli(touch_at) AS touchAt
     FROM visitors PREWHERE visitors.visitor IN {visitors:Array(UInt64)}
     WHERE workspace_id = {workspace:UInt32} AND build = {build:UInt32} ORDER BY version`,
    { workspace: workspaceId, build, visitors: visitors.map(({ visitor }) => BigInt(visitor)) },
    // Each visitor's granule is read in each part, so two threads take a quarter less time.
    { isLong: true, settings: { max_threads: 2 } },
  )
  const daysOf = new Map<string, Map<number, VisitorDay>>()
  for (const row of rows) {
    // The newer one of two versions of a day comes later.
    const days = daysOf.get(row.visitor) ?? new Map<number, VisitorDay>()
    daysOf.set(row.visitor, days.set(row.day, row))
  }
  return [...daysOf].flatMap(([visitor, days]) => sumOf(visitor, [...days.values()], firstDay) ?? [])
}

/** @returns undefined where none of the days may be read */
function sumOf(visitor: string, days: readonly VisitorDay[], firstDay: number): SummedVisitor | undefined {
  const read = days.filter(({ day }) => day >= firstDay)
  if (read.length === 0) return undefined
  const touched = days.filter(({ touchAt }) => touchAt > 0).sort((one, other) => one.day - other.day)
  const sum = (name: 'sessions' | 'events' | 'conversions') => read.reduce((total, day) => total + day[name], 0)
  return {
    visitor,
    sessions: sum('sessions'),
    events: sum('events'),
    conversions: sum('conversions'),
    firstAt: Math.min(...read.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...days.map(({ lastAt }) => lastAt)),
    lastTouchAt: Math.max(0, ...touched.map(({ touchAt }) => touchAt)),
    firstTouchDay: touched[0],
  }
}

/** The hours that have a visitor's texts: the last event's, the last touch's, and those of the first day with a touch. */
function hoursOfTexts({ lastAt, lastTouchAt, firstTouchDay }: SummedVisitor): number[] {
  const hours = new Set([hourOf(lastAt)])
  if (firstTouchDay !== undefined) {
    hours.add(hourOf(lastTouchAt))
    const last = hourOf(firstTouchDay.lastAt)
    for (let hour = hourOf(firstTouchDay.firstAt); hour <= last; hour++) hours.add(hour)
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
    { isLong: true, settings: onOneThread },
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
       AND occurred_at >= ${moment('since')} AND ${isBeforePoint()}
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
       FROM ${tuplesIn({ hours: 'UInt32', visitors: 'String' })})`,
    params: {
      workspace: workspaceId,
      hours: places.map(({ hour }) => hour),
      visitors: places.map(({ visitor }) => visitor),
    },
  }
}
