/** Reads a session's sums on one local day, straight from `events`. */
import { tuplesIn } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { entryKeysOf, keyColumns } from '../../clickhouse/rollups/entry-keys.ts'
import {
  browserKey,
  countryKey,
  deviceKey,
  eventMs,
  idsIn,
  isAct,
  isDatable,
  isSample,
  isTouch,
  mediumKey,
  sourceKey,
} from '../../clickhouse/rollups/event-sql.ts'
import type { IdRange } from '../../schemas/event/id-ranges.ts'
import {
  conversionsPerServerHourMax,
  conversionsPerSessionDayMax,
  foldDeadlineMs,
  sessionsPerVisitorDayMax,
  touchesPerSessionDayMax,
  viewsPerSessionDayMax,
} from '../../schemas/limits/figure-limits.ts'
import type { LocalDays } from '../../schemas/time/local-days.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { makeVisitorDayRoom } from './visitor-day-room.ts'

/** Moments are milliseconds; a moment with an id orders events. */
export type View = readonly [at: number, id: number, path: string]
/** The time in sight in milliseconds, and the lowest part that was in sight in per cent. */
export type Leave = readonly [at: number, id: number, path: string, engagedMs: number, depth: number]
export type Touch = readonly [at: number, id: number, source: string, medium: string]
export type Conversion = readonly [
  at: number,
  id: number,
  path: string,
  device: string,
  browser: string,
  country: string,
  source: string,
  medium: string,
]
type EntryFacts = readonly [
  source: string,
  medium: string,
  campaign: string,
  device: string,
  browser: string,
  os: string,
  country: string,
  region: string,
  regionName: string,
  city: string,
  hostname: string,
  referrer: string,
  content: string,
  language: string,
  screen: string,
]

/** One visitor, session and local day. Server events have visitor '0', and as session their UTC hour since 1970. */
export interface SessionDay {
  readonly workspaceId: number
  readonly visitor: string
  readonly session: string
  readonly day: number
  readonly firstAt: number
  readonly lastAt: number
  /** Facts of the first event. */
  readonly entry: EntryFacts
  readonly events: number
  readonly pageviews: number
  /** Events by which the session is no bounce. */
  readonly acts: number
  readonly engagementMs: number
  /** UTC hours with events: bit n is the n-th from the one in which the day begins. */
  readonly hours: number
  /** All of them, also those that `conversions` has no room for. */
  readonly converted: number
  /** In order of time, as the three lists below. `conversions` are cut by their ids before. */
  readonly views: readonly View[]
  readonly leaves: readonly Leave[]
  readonly touches: readonly Touch[]
  readonly conversions: readonly Conversion[]
  /** Pages with samples of web vitals, a page for each sample. */
  readonly sampledPaths: readonly string[]
}

/** A visitor ('0': servers) with a UTC hour, since 1970. */
export type VisitorHour = readonly [workspaceId: number, hour: number, visitor: string]

/** Whose events: visitors with the hours that have some, or a share of a workspace's visitors. */
export type EventScope =
  | { readonly hours: readonly VisitorHour[] }
  | { readonly workspaceId: number; readonly part: number; readonly parts: number }

/** SQL of an event's UTC hour, since 1970. */
export const hourOfEvents = `intDiv(${eventMs}, ${hourMs})`

/** In the order of the statement's columns. */
type Row = [
  workspaceId: number,
  visitor: string,
  session: string,
  dayStart: number,
  firstAt: number,
  lastAt: number,
  entry: EntryFacts,
  events: number,
  pageviews: number,
  acts: number,
  engagementMs: number,
  hours: number,
  converted: number,
  views: View[],
  leaves: Leave[],
  touches: Touch[],
  conversions: Conversion[],
  sampledPaths: string[],
]

/**
 * The session-days of one visitor after another, and of servers one hour after another. Where a visitor has too many sessions on
 * a day, those that came in first count, by the ids of their first events. Within a lease ids grow with time; between two
 * ingest nodes a later event may have the smaller id.
 * @param visible ids of the events that are seen
 */
export async function* readSessionDays(
  ch: Pick<ClickHouse, 'batches'>,
  scope: EventScope,
  visible: readonly IdRange[],
  days: LocalDays,
): AsyncGenerator<SessionDay[]> {
  const seen = idsIn(visible, 'visible')
  const chosen = scopeSql(scope)
  const batches = ch.batches<Row>(
    `SELECT workspace_id AS w, toString(visitor) AS v, toString(if(visitor = 0, toUInt64(${hourOfEvents}), session)) AS s,
       roundDown(${eventMs}, {day_starts:Array(Int64)}) AS day_start,
       min(${eventMs}) AS first_at, max(${eventMs}) AS last_at,
       ((argMin((${sourceKey}, ${mediumKey}, toString(campaign), ${deviceKey}, ${browserKey}, toString(os), ${countryKey},
         toString(region), toString(region_name), toString(city), ${keyColumns}), (occurred_at, id)) AS first).1, first.2, first.3,
         first.4, first.5, first.6, first.7, first.8, first.9, first.10, ${entryKeysOf('first', 11)}) AS entry,
       count() AS events, countIf(kind = 'pageview') AS pageviews, countIf(${isAct}) AS acts, sum(engagement_ms) AS engagement,
       groupBitOr(bitShiftLeft(toUInt32(1), toUInt8(${hourOfEvents} - intDiv(day_start, ${hourMs})))) AS hours,
       countIf(kind = 'conversion') AS converted,
       groupArraySortedIf(${viewsPerSessionDayMax})((${eventMs}, id, toString(path)), kind = 'pageview') AS views,
       groupArraySortedIf(${viewsPerSessionDayMax})((${eventMs}, id, toString(path), engagement_ms, scroll_depth), kind = 'page_leave') AS leaves,
       groupArraySortedIf(${touchesPerSessionDayMax})((${eventMs}, id, toString(source), toString(medium)), ${isTouch}) AS touches,
       arraySort(arrayMap(one -> (one.2, one.1, one.3, one.4, one.5, one.6, one.7, one.8), arrayConcat(
         ${firstConversions(conversionsPerSessionDayMax, 'visitor != 0')}, ${firstConversions(conversionsPerServerHourMax, 'visitor = 0')}))) AS conversions,
       groupArraySortedIf(${viewsPerSessionDayMax})(toString(path), ${isSample}) AS sampled
     FROM events
     WHERE ${chosen.sql} AND ${seen.sql} AND ${isDatable}
       AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND occurred_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
     GROUP BY w, visitor, s, day_start
     ORDER BY w, visitor, day_start, min(id), s
     LIMIT ${sessionsPerVisitorDayMax} BY w, visitor, day_start`,
    {
      ...chosen.params,
      ...seen.params,
      day_starts: days.starts,
      from: days.starts[0]!,
      to: days.starts.at(-1)!,
    },
    { deadlineMs: foldDeadlineMs },
  )
  const inRoom = makeVisitorDayRoom()
  let ofVisitor: SessionDay[] = []
  for await (const rows of batches) {
    for (const row of rows) {
      const one = inRoom(sessionDayOf(row, days))
      const [first] = ofVisitor
      // Hours of server events have nothing to do with each other. Three days of them may have seven million conversions.
      const isApart = first?.visitor !== one.visitor || first.workspaceId !== one.workspaceId || one.visitor === '0'
      if (first !== undefined && isApart) {
        yield ofVisitor
        ofVisitor = []
      }
      ofVisitor.push(one)
    }
  }
  if (ofVisitor.length > 0) yield ofVisitor
}

/** SQL of the conversions that came in first, by their ids: so a late one takes no other's place. */
function firstConversions(max: number, whose: string): string {
  return `groupArraySortedIf(${max})(
    (id, ${eventMs}, toString(path), ${deviceKey}, ${browserKey}, ${countryKey}, ${sourceKey}, ${mediumKey}), kind = 'conversion' AND ${whose})`
}

/** Written out, without spreading: there is one for each session. */
function sessionDayOf(row: Row, days: LocalDays): SessionDay {
  return {
    workspaceId: row[0],
    visitor: row[1],
    session: row[2],
    day: days.dayOf(row[3]),
    firstAt: row[4],
    lastAt: row[5],
    entry: row[6],
    events: row[7],
    pageviews: row[8],
    acts: row[9],
    engagementMs: row[10],
    hours: row[11],
    converted: row[12],
    views: row[13],
    leaves: row[14],
    touches: row[15],
    conversions: row[16],
    sampledPaths: row[17],
  }
}

/**
 * SQL condition of the events in the scope. The triples are those of the order key, so that ClickHouse reads the granules of
 * these visitors and hours only.
 */
export function scopeSql(scope: EventScope): { sql: string; params: Record<string, unknown> } {
  if ('part' in scope) {
    const { workspaceId, part, parts } = scope
    return {
      sql: 'workspace_id = {workspace:UInt32} AND cityHash64(visitor) % {parts:UInt32} = {part:UInt32}',
      params: { workspace: workspaceId, part, parts },
    }
  }
  return {
    sql: `(workspace_id, toStartOfHour(occurred_at), visitor) IN (
      SELECT t.1, toDateTime(t.2 * 3600, 'UTC'), toUInt64(t.3)
      FROM ${tuplesIn({ scope_workspaces: 'UInt32', scope_hours: 'UInt32', scope_visitors: 'String' })})`,
    params: {
      scope_workspaces: scope.hours.map(([workspaceId]) => workspaceId),
      scope_hours: scope.hours.map(([, hour]) => hour),
      scope_visitors: scope.hours.map(([, , visitor]) => visitor),
    },
  }
}
