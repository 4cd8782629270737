/** What the events of a session on one local day come to, straight from `events`. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import {
  browserKey,
  countryKey,
  deviceKey,
  eventMs,
  idsIn,
  isAct,
  isDatable,
  isTouch,
  mediumKey,
  sourceKey,
} from '../../clickhouse/rollups/event-sql.ts'
import type { IdRange } from '../../schemas/id-ranges.ts'
import {
  foldDeadlineMs,
  sessionsPerVisitorDayMax,
  touchesPerSessionDayMax,
  viewsPerSessionDayMax,
} from '../../schemas/limits.ts'
import type { LocalDays } from '../../schemas/local-days.ts'
import { hourMs } from '../../schemas/time-zone.ts'

/** Moments are milliseconds; a moment with an id orders events. */
export type View = readonly [at: number, id: number, path: string]
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
export type EntryFacts = readonly [
  source: string,
  medium: string,
  campaign: string,
  device: string,
  browser: string,
  os: string,
  country: string,
]

/** Of one visitor, session and local day. Server events: visitor '0', and as session their UTC hour since 1970. */
export interface SessionDay {
  readonly workspaceId: number
  readonly visitor: string
  readonly session: string
  readonly day: number
  readonly firstAt: number
  readonly lastAt: number
  /** Of the first event. */
  readonly entry: EntryFacts
  readonly events: number
  readonly pageviews: number
  /** Events by which the session is no bounce. */
  readonly acts: number
  readonly engagementMs: number
  /** UTC hours with events: bit n is the n-th from the one in which the day begins. */
  readonly hours: number
  /** In order of time, as the two lists below. */
  readonly views: readonly View[]
  readonly touches: readonly Touch[]
  readonly conversions: readonly Conversion[]
}

/** Whose events: visitors with the UTC hours (since 1970) that have some, or a share of a workspace's visitors. */
export type EventScope =
  | { readonly hours: readonly (readonly [workspaceId: number, hour: number, visitor: string])[] }
  | { readonly workspaceId: number; readonly part: number; readonly parts: number }

/**
 * Where a visitor has too many sessions on a day, those that came in first count: ids grow with time, so that a later one
 * takes no other's place.
 * @param visible ids of the events that are seen
 */
export async function readSessionDays(
  ch: Pick<ClickHouse, 'query'>,
  scope: EventScope,
  visible: readonly IdRange[],
  days: LocalDays,
): Promise<SessionDay[]> {
  const seen = idsIn(visible, 'visible')
  const chosen = scopeSql(scope)
  interface Row {
    w: number
    v: string
    s: string
    day_start: number
    first_at: number
    last_at: number
    entry: EntryFacts
    events: number
    pageviews: number
    acts: number
    engagement: number
    hours: number
    views: View[]
    touches: Touch[]
    conversions: Conversion[]
  }
  const rows = await ch.query<Row>(
    `SELECT workspace_id AS w, toString(visitor) AS v, toString(if(visitor = 0, toUInt64(intDiv(${eventMs}, ${hourMs})), session)) AS s,
       roundDown(${eventMs}, {day_starts:Array(Int64)}) AS day_start,
       min(${eventMs}) AS first_at, max(${eventMs}) AS last_at,
       argMin((${sourceKey}, ${mediumKey}, toString(campaign), ${deviceKey}, ${browserKey}, toString(os), ${countryKey}), (occurred_at, id)) AS entry,
       count() AS events, countIf(kind = 'pageview') AS pageviews, countIf(${isAct}) AS acts, sum(engagement_ms) AS engagement,
       groupBitOr(bitShiftLeft(toUInt32(1), toUInt8(intDiv(${eventMs}, ${hourMs}) - intDiv(day_start, ${hourMs})))) AS hours,
       groupArraySortedIf(${viewsPerSessionDayMax})((${eventMs}, id, toString(path)), kind = 'pageview') AS views,
       groupArraySortedIf(${touchesPerSessionDayMax})((${eventMs}, id, toString(source), toString(medium)), ${isTouch}) AS touches,
       arraySort(groupArrayIf((${eventMs}, id, toString(path), ${deviceKey}, ${browserKey}, ${countryKey}, ${sourceKey}, ${mediumKey}),
         kind = 'conversion')) AS conversions
     FROM events
     WHERE ${chosen.sql} AND ${seen.sql} AND ${isDatable}
       AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND occurred_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
     GROUP BY w, visitor, s, day_start
     ORDER BY w, visitor, day_start, min(id), s
     LIMIT ${sessionsPerVisitorDayMax} BY w, visitor, day_start`,
    {
      ...chosen.params,
      ...seen.params,
      ...{ day_starts: days.starts, from: days.starts[0]!, to: days.starts.at(-1)! },
    },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
  return rows.map((row) => ({
    ...{ workspaceId: row.w, visitor: row.v, session: row.s, day: days.dayOf(row.day_start) },
    ...{ firstAt: row.first_at, lastAt: row.last_at, entry: row.entry, events: row.events, pageviews: row.pageviews },
    ...{ acts: row.acts, engagementMs: row.engagement, hours: row.hours },
    ...{ views: row.views, touches: row.touches, conversions: row.conversions },
  }))
}

/** The triples are those of the order key, so that ClickHouse reads the granules of these visitors and hours only. */
function scopeSql(scope: EventScope): { sql: string; params: Record<string, unknown> } {
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
      FROM (SELECT arrayJoin(arrayZip({scope_workspaces:Array(UInt32)}, {scope_hours:Array(UInt32)}, {scope_visitors:Array(String)})) AS t))`,
    params: {
      scope_workspaces: scope.hours.map(([workspaceId]) => workspaceId),
      scope_hours: scope.hours.map(([, hour]) => hour),
      scope_visitors: scope.hours.map(([, , visitor]) => visitor),
    },
  }
}
