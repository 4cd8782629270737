/** Events of a range by name, and by a value of one of their properties. Held by test/property/event-names.test.ts. */
import {
  propertyNameLengthMax,
  propertyNamesEventsMax,
  propertyNamesMax,
  propertyValueShownMax,
} from '../../schemas/limits/overview-limits.ts'
import { eventSeriesRowsMax } from '../../schemas/limits/series-limits.ts'
import type { Span } from '../../schemas/time/time-range.ts'
import { type BoundSql, tuplesIn } from '../bound-sql.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { type EventsOfRange, isOfChosen } from './chosen-events.ts'
import { inWorkspace, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { selectionOf } from './overview/selection.ts'
import { hasProperty, propertyParams, propertyValue } from './property-sql.ts'
import { composedStatement, type Reader } from './reader.ts'

interface NamedEvents extends EventsOfRange {
  /** Events of this name alone. Undefined: for a property, of the names that the filter wants; else all. */
  readonly name: string | undefined
}

export interface EventNamesRequest extends NamedEvents {
  /** Undefined: events are told apart by their names alone. Else only those that have it. */
  readonly property: string | undefined
  readonly limit: number
  /** Where buckets begin, ascending, in milliseconds since 1970. Undefined: rows are counted as a whole alone. */
  readonly bucketStarts?: readonly number[] | undefined
  /** Only these rows, whatever other events the range has. Undefined: all. */
  readonly only?: readonly Pick<EventNameGroup, 'event' | 'value'>[] | undefined
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

/** A row's events in one bucket: the row's place in the list, the bucket's begin, and counts. Empty buckets have none. */
export type BucketCount = readonly [row: number, start: number, events: number, visitors: number]

export interface EventNameGroups {
  /** Distinct visitors in the range, with any events; where a name is divided by a property, with events of that name. */
  readonly visitors: number
  readonly groups: readonly EventNameGroup[]
  /** Those of the first `eventSeriesRowsMax` groups; empty where no buckets are asked for. */
  readonly counts: readonly BucketCount[]
}

const onlyRows = `SELECT t.1,t.2 FROM ${tuplesIn({ only_events: 'String', only_values: 'String' })}`

/** Vitals and leaves of pages count for the visitors of the range alone, as in `recent_events`. */
const isShown = "kind NOT IN ('web_vital','page_leave')"

interface Row extends EventNameGroup {
  readonly is_whole: number
  /** In the first row alone. */
  readonly counts?: readonly BucketCount[]
}

/** By one statement (two with a filter of channels), with buckets and without. */
export async function readEventNames(ch: Reader, request: EventNamesRequest): Promise<EventNameGroups> {
  const { name, property, limit, bucketStarts, only } = request
  const chosen = await isOfChosen(ch, request)
  const named = isNamed(request)
  const isDivided = property === undefined ? '1' : hasProperty('property')
  const isWanted = name === undefined && property === undefined ? '1' : `${named.sql} AND ${isDivided}`
  const isOfWhole = name === undefined || property === undefined ? '1' : `${isShown} AND ${named.sql}`
  const value = property === undefined ? "''" : `substringUTF8(${propertyValue('property')},1,${propertyValueShownMax})`
  const counted = `${inWorkspace} AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')} AND ${isFolded} AND ${chosen.sql}`
  const shown = `SELECT visitor,session,id AS event_id,kind AS event_kind,${eventMs} AS at,toString(event_name) AS event,${value} AS value
    FROM events WHERE ${counted} AND ${isShown} AND ${isWanted}${only === undefined ? '' : ` AND (event,value) IN (${onlyRows})`}`
  const list = `SELECT * FROM (
       SELECT 0 AS is_whole,event,value,toString(argMax(event_kind,(at,event_id))) AS kind,count() AS events,
         uniqExactIf(visitor,visitor!=0) AS visitors,uniqExactIf(cityHash64(visitor,session),visitor!=0) AS sessions,
         countIf(event_kind='conversion') AS conversions,max(at) AS last_ms
       FROM (${shown})
       GROUP BY event,value
       UNION ALL SELECT 1,'','','',0,uniqExactIf(visitor,visitor!=0),0,0,0 FROM events WHERE ${counted} AND ${isOfWhole})
     ORDER BY is_whole DESC,visitors DESC,events DESC,event,value LIMIT {limit:UInt32}`
  const rows = await ch.query<Row>(
    `WITH ${coverageSql} AS coverage${bucketStarts === undefined ? ` ${list}` : withCounts(list, shown)}`,
    {
      ...chosen.params,
      ...named.params,
      ...(property !== undefined && propertyParams('property', property)),
      limit: limit + 1,
      ...(only && { only_events: only.map((row) => row.event), only_values: only.map((row) => row.value) }),
      ...(bucketStarts && { bucket_starts: bucketStarts }),
    },
    { settings: composedStatement },
  )
  const [whole, ...groups] = rows
  return {
    visitors: whole!.visitors,
    groups: groups.map(({ is_whole: _, counts: __, ...group }) => group),
    counts: whole!.counts ?? [],
  }
}

const columns = ['is_whole', 'event', 'value', 'kind', 'events', 'visitors', 'sessions', 'conversions', 'last_ms']

/**
 * SQL of the list with the counts of its first rows in each bucket. Both parts read one snapshot, so events of the buckets add up.
 * @param shown SQL of the events that rows are made of
 */
function withCounts(list: string, shown: string): string {
  // The first element is the whole.
  return `,
    (SELECT groupArray((${columns.join(',')})) FROM (${list})) AS listed,
    arrayMap(one->(one.2,one.3),arraySlice(listed,2,${eventSeriesRowsMax})) AS keys,
    (SELECT groupArray((place-1,start,n,distinct_visitors)) FROM (
      SELECT indexOf(keys,(event,value)) AS place,roundDown(at,{bucket_starts:Array(Int64)}) AS start,
        count() AS n,uniqExactIf(visitor,visitor!=0) AS distinct_visitors
      FROM (${shown}) WHERE place>0 GROUP BY place,start)) AS of_buckets
    SELECT ${columns.map((name, at) => `listed[nth].${at + 1} AS ${name}`).join(',')},if(nth=1,of_buckets,[]) AS counts
    FROM (SELECT arrayJoin(arrayEnumerate(listed)) AS nth) ORDER BY nth`
}

/** SQL condition: the event has the name, or one that the filter wants where there is no name. */
function isNamed({ name, filters = new Map() }: Pick<NamedEvents, 'name' | 'filters'>): BoundSql {
  if (name !== undefined) return { sql: 'event_name={name:String}', params: { name } }
  const { wantedEventSql, params } = selectionOf(filters, undefined)
  return { sql: wantedEventSql?.('toString(event_name)') ?? '1', params }
}

/**
 * Names of properties that the newest events of that name, or of those that the filter wants, have: the most frequent first.
 * Other filters don't count. The table's own order, by hours, finds the newest ones without reading all.
 */
export async function readPropertyNames(
  ch: Reader,
  { workspaceId, name, filters, start, end }: Span & Pick<NamedEvents, 'workspaceId' | 'name' | 'filters'>,
): Promise<string[]> {
  const named = isNamed({ name, filters })
  const rows = await ch.query<{ readonly name: string }>(
    `SELECT arrayJoin(JSONExtractKeys(properties)) AS name FROM (
       SELECT properties FROM events WHERE ${inWorkspace} AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')}
         AND ${isShown} AND ${named.sql}
       ORDER BY toStartOfHour(occurred_at) DESC,visitor DESC,occurred_at DESC LIMIT ${propertyNamesEventsMax})
     GROUP BY name HAVING name!='' AND lengthUTF8(name)<=${propertyNameLengthMax}
     ORDER BY count() DESC,name LIMIT ${propertyNamesMax}`,
    { ...named.params, workspace: workspaceId, start, end },
  )
  return rows.map(({ name }) => name)
}
