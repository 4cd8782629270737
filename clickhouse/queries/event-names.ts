/** Events of a range by name, and by a value of one of their properties. Held by test/property/event-names.test.ts. */
import {
  propertyNameLengthMax,
  propertyNamesEventsMax,
  propertyNamesMax,
  propertyValueShownMax,
} from '../../schemas/limits/overview-limits.ts'
import type { SessionFilters } from '../../schemas/session-filters.ts'
import type { Span } from '../../schemas/time/time-range.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { type EventsOfRange, isOfChosen } from './chosen-events.ts'
import { inWorkspace, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { selectionOf } from './overview/selection.ts'
import { hasProperty, propertyValue } from './property-sql.ts'
import { composedStatement, type Reader } from './reader.ts'

export interface EventNamesRequest extends EventsOfRange {
  /** Undefined: events are told apart by their names alone. Else only those that have it, and whose name the filter wants. */
  readonly property: string | undefined
  readonly limit: number
}

export interface EventNameGroup {
  readonly event: string
  /** Empty where no property is asked for. */
  readonly value: string
  readonly kind: string
  readonly events: number
  readonly visitors: number
  readonly sessions: number
  readonly conversions: number
  /** Milliseconds since 1970. */
  readonly last_ms: number
}

export interface EventNameGroups {
  /** Distinct names in the range, with any number of events. */
  readonly visitors: number
  readonly groups: readonly EventNameGroup[]
}

/** Vitals and leaves of pages count for the visitors of the range alone, as in `recent_events`. */
const isShown = "kind NOT IN ('web_vital','page_leave')"

export async function readEventNames(ch: Reader, request: EventNamesRequest): Promise<EventNameGroups> {
  const { filters, property, limit } = request
  const chosen = await isOfChosen(ch, request)
  const { wantedEventSql } = selectionOf(filters ?? new Map(), undefined)
  const isWanted =
    property === undefined ? '1' : `${wantedEventSql?.('toString(event_name)') ?? '1'} AND ${hasProperty('property')}`
  const value = property === undefined ? "''" : `substringUTF8(${propertyValue('property')},1,${propertyValueShownMax})`
  const counted = `${inWorkspace} AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')} AND ${isFolded} AND ${chosen.sql}`
  const rows = await ch.query<EventNameGroup & { readonly is_whole: number }>(
    `WITH ${coverageSql} AS coverage
     SELECT * FROM (
       SELECT 0 AS is_whole,event,value,toString(argMax(event_kind,(at,event_id))) AS kind,count() AS events,
         uniqExactIf(visitor,visitor!=0) AS visitors,uniqExactIf(cityHash64(visitor,session),visitor!=0) AS sessions,
         countIf(event_kind='conversion') AS conversions,max(at) AS last_ms
       FROM (SELECT visitor,session,id AS event_id,kind AS event_kind,${eventMs} AS at,toString(event_name) AS event,${value} AS value
         FROM events WHERE ${counted} AND ${isShown} AND ${isWanted})
       GROUP BY event,value
       UNION ALL SELECT 1,'','','',0,uniqExactIf(visitor,visitor!=0),0,0,0 FROM events WHERE ${counted})
     ORDER BY is_whole DESC,visitors DESC,events DESC,event,value LIMIT {limit:UInt32}`,
    { ...chosen.params, property, limit: limit + 1 },
    { settings: composedStatement },
  )
  const [whole, ...groups] = rows
  return { visitors: whole!.visitors, groups: groups.map(({ is_whole: _, ...group }) => group) }
}

/**
 * Names of properties that the newest events of the names that `filters` wants have, the most frequent first. Other filters
 * don't count. The table's own order, by hours, finds the newest ones without reading all.
 */
export async function readPropertyNames(
  ch: Reader,
  { workspaceId, filters, start, end }: Span & { readonly workspaceId: number; readonly filters: SessionFilters },
): Promise<string[]> {
  const { wantedEventSql, params } = selectionOf(filters, undefined)
  const rows = await ch.query<{ readonly name: string }>(
    `SELECT arrayJoin(JSONExtractKeys(properties)) AS name FROM (
       SELECT properties FROM events WHERE ${inWorkspace} AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')}
         AND ${isShown} AND ${wantedEventSql?.('toString(event_name)') ?? '1'}
       ORDER BY toStartOfHour(occurred_at) DESC,visitor DESC,occurred_at DESC LIMIT ${propertyNamesEventsMax})
     GROUP BY name HAVING name!='' AND lengthUTF8(name)<=${propertyNameLengthMax}
     ORDER BY count() DESC,name LIMIT ${propertyNamesMax}`,
    { ...params, workspace: workspaceId, start, end },
  )
  return rows.map(({ name }) => name)
}
