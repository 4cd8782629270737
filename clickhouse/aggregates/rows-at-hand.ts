/**
 * Rows of `events` that a reader holds in its hands, and what they add to an aggregate table: to plan a statement over raw
 * rows takes ClickHouse longer than to go through a few thousand of them, so a reader fetches these once and counts them
 * itself. The figures are the same as those of SQL: both are defined in tables.ts, side by side.
 */
import type { ClickHouse } from '../client.ts'
import type { BinaryColumns } from '../row-binary.ts'
import {
  type AggregateKeys,
  type AggregateRow,
  type AggregateValue,
  aggregateRow,
  type Newest,
  newestOf,
  none,
} from './aggregate-rows.ts'
import { DistinctSet, digestSql } from './distinct-set.ts'
import { Distribution } from './distribution.ts'
import { type AggregateTable, type ColumnOfAggregate, keysRead } from './tables.ts'

/** Of rows of `events`, all that is text for tables that look at single rows. */
export interface RowTexts {
  readonly kind: string
  readonly path: string
  readonly title: string
  readonly metric: string
  readonly hasVisitor: boolean
}

/**
 * Rows with the same texts: of thousands of rows there are a few hundred such groups, and what goes by texts is found out
 * once for each of them. Every list has one number for each row, in one order.
 */
export interface AlikeRows extends RowTexts {
  readonly ids: Float64Array
  /** Milliseconds since 1970. */
  readonly ats: Float64Array
  /** Digests (distinct-set.ts); of rows without a visitor they say nothing. */
  readonly visitors: Float64Array
  readonly sessions: Float64Array
  /** Of web vitals; the others' say nothing. */
  readonly values: Float64Array
}

/** A row with all that is to be known of its session. */
export interface EventRow extends RowTexts {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly visitorDigest: number
  readonly sessionDigest: number
  readonly value: number
  /** A hash of 64 bits, which no number holds, as decimal text; '0': none. */
  readonly visitorHash: string
  readonly session: number
  readonly source: string
  readonly medium: string
  readonly device: string
  readonly browser: string
  /** Empty where it isn't known. */
  readonly countryCode: string
  readonly engagementMs: number
}

const at = 'toUnixTimestamp64Milli(occurred_at)'
/** Each under a name that no column has, or as it is: the condition is over the columns. */
const columns = `id, ${at} AS at, kind, toBool(visitor != 0) AS hasVisitor, ${digestSql('visitor')} AS visitorDigest,
  ${digestSql('session')} AS sessionDigest, path, title, metric, metric_value AS value, toString(visitor) AS visitorHash,
  session, source, medium, device, browser, toStringCutToZero(country) AS countryCode, engagement_ms AS engagementMs`

/** @param condition SQL over `events` */
export interface RowsWanted {
  readonly condition: string
  readonly params: Readonly<Record<string, unknown>>
  readonly max: number
}

/** @returns undefined when there are more than `max` */
export async function readRows(
  ch: Pick<ClickHouse, 'query'>,
  { condition, params, max }: RowsWanted,
): Promise<EventRow[] | undefined> {
  const rows = await ch.query<EventRow>(
    `SELECT ${columns} FROM events WHERE ${condition} LIMIT {rows_max:UInt32}`,
    { ...params, rows_max: max + 1 },
    { isLong: true },
  )
  return rows.length > max ? undefined : rows
}

const alikeColumns: BinaryColumns = {
  kind: 'text',
  path: 'text',
  title: 'text',
  metric: 'text',
  hasVisitor: 'flag',
  ids: 'numbers',
  ats: 'numbers',
  visitors: 'numbers',
  sessions: 'numbers',
  values: 'numbers',
}

/**
 * The same with less of each row, for thousands of them.
 * @param isLasting whether they are the same for ever
 */
export async function readAlikeRows(
  ch: Pick<ClickHouse, 'query'>,
  { condition, params, max }: RowsWanted,
  isLasting = false,
): Promise<AlikeRows[] | undefined> {
  const list = (value: string) => `groupArray(toFloat64(${value}))`
  const alike = await ch.query<AlikeRows>(
    `SELECT toString(kind) AS kind, path, title, toString(metric) AS metric, toBool(visitor != 0) AS hasVisitor,
       ${list('id')} AS ids, ${list(at)} AS ats, ${list(digestSql('visitor'))} AS visitors,
       ${list(digestSql('session'))} AS sessions, ${list('metric_value')} AS values
     FROM (SELECT kind, path, title, metric, id, occurred_at, visitor, session, metric_value
       FROM events WHERE ${condition} LIMIT {rows_max:UInt32})
     GROUP BY kind, path, title, metric, hasVisitor`,
    { ...params, rows_max: max + 1 },
    { binary: alikeColumns, isLasting },
  )
  return countRows(alike) > max ? undefined : alike
}

export function countRows(alike: readonly AlikeRows[]): number {
  return alike.reduce((sum, { ids }) => sum + ids.length, 0)
}

export function alikeRowsOf(rows: readonly EventRow[]): AlikeRows[] {
  const groups = new Map<string, EventRow[]>()
  for (const row of rows) {
    const name = [row.kind, row.path, row.title, row.metric, row.hasVisitor].join('\0')
    const known = groups.get(name)
    if (known === undefined) groups.set(name, [row])
    else known.push(row)
  }
  return [...groups.values()].map((some) => {
    const { kind, path, title, metric, hasVisitor } = some[0]!
    return {
      ...{ kind, path, title, metric, hasVisitor },
      ids: Float64Array.from(some, ({ id }) => id),
      ats: Float64Array.from(some, ({ at }) => at),
      visitors: Float64Array.from(some, ({ visitorDigest }) => visitorDigest),
      sessions: Float64Array.from(some, ({ sessionDigest }) => sessionDigest),
      values: Float64Array.from(some, ({ value }) => value),
    }
  })
}

/** Those of the rows from one moment to just before another; groups that lie between them whole stay as they are. */
export function rowsBetween(alike: readonly AlikeRows[], start: number, end: number): AlikeRows[] {
  const between: AlikeRows[] = []
  for (const rows of alike) {
    const { ats } = rows
    const places: number[] = []
    for (let place = 0; place < ats.length; place++) if (ats[place]! >= start && ats[place]! < end) places.push(place)
    if (places.length === ats.length) between.push(rows)
    else if (places.length > 0) between.push(pick(rows, places))
  }
  return between
}

function pick(rows: AlikeRows, places: readonly number[]): AlikeRows {
  const of = (numbers: Float64Array) => numbersAt(numbers, places)
  const { ids, ats, visitors, sessions, values } = rows
  return { ...rows, ids: of(ids), ats: of(ats), visitors: of(visitors), sessions: of(sessions), values: of(values) }
}

function numbersAt(numbers: Float64Array, places: Part['places']): Float64Array {
  if (places === undefined) return numbers
  const some = new Float64Array(places.length)
  for (let nth = 0; nth < places.length; nth++) some[nth] = numbers[places[nth]!]!
  return some
}

/** Rows of a group: those at some places of its lists, or, where that is undefined, all of them. */
interface Part {
  readonly rows: AlikeRows
  readonly places: readonly number[] | undefined
}

/**
 * What the rows that a table counts add to it.
 * @param columns names of the table's columns
 * @param bucketOf where given, rows are counted by this key too
 */
export function rowsCounted(
  table: AggregateTable,
  alike: readonly AlikeRows[],
  columns: readonly string[],
  bucketOf?: (at: number) => number,
): AggregateRow[] {
  const groups = new Map<string, { readonly keys: AggregateKeys; readonly parts: Part[] }>()
  for (const rows of alike) {
    if (table.isCounted?.(rows) !== true) continue
    for (const [keys, places] of placesByKeys(table, rows, bucketOf)) {
      const { group } = aggregateRow(keys, {})
      const known = groups.get(group)
      if (known === undefined) groups.set(group, { keys, parts: [{ rows, places }] })
      else known.parts.push({ rows, places })
    }
  }
  return [...groups].map(([group, { keys, parts }]) => ({
    ...{ group, keys },
    values: Object.fromEntries(columns.map((name) => [name, addedBy(table.columns[name]!, parts)])),
  }))
}

/** Alike rows have the same keys, but for the bucket. */
function placesByKeys(
  { keys }: AggregateTable,
  rows: AlikeRows,
  bucketOf?: (at: number) => number,
): (readonly [AggregateKeys, Part['places']])[] {
  const texts = Object.fromEntries(keysRead(keys).map((key) => [key, rows[key as 'path' | 'metric']]))
  if (bucketOf === undefined) return [[texts, undefined]]
  const found = new Map<number, number[]>()
  for (let place = 0; place < rows.ids.length; place++) {
    const bucket = bucketOf(rows.ats[place]!)
    const known = found.get(bucket)
    if (known === undefined) found.set(bucket, [place])
    else known.push(place)
  }
  const isOne = found.size === 1
  return [...found].map(([bucket, places]) => [{ ...texts, bucket }, isOne ? undefined : places])
}

function addedBy({ form, ofRows }: ColumnOfAggregate, parts: readonly Part[]): AggregateValue {
  const { of, as, isCounted } = ofRows!
  const counted = isCounted === undefined ? parts : parts.filter(({ rows }) => isCounted(rows))
  if (of === 'rows') return counted.reduce((sum, { rows, places }) => sum + (places ?? rows.ids).length, 0)
  if (of === 'title') return newestIn(counted, ({ title }) => title)
  if (form === 'newest') return newestIn(counted, ({ values }, place) => values[place]!)
  const numbers = joined(counted.map(({ rows, places }) => numbersAt(rows[of], places)))
  if (form === 'sum') return numbers.reduce((sum, value) => sum + value, 0)
  return form === 'distribution'
    ? Distribution.of(as === undefined ? numbers : numbers.map(as))
    : DistinctSet.of(form, numbers)
}

function joined(lists: readonly Float64Array[]): Float64Array {
  const [first] = lists
  if (lists.length === 1) return first!
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    all.set(list, at)
    at += list.length
  }
  return all
}

function newestIn(parts: readonly Part[], valueAt: (rows: AlikeRows, place: number) => number | string): Newest {
  let newest = none
  for (const { rows, places } of parts) {
    for (let nth = 0; nth < (places ?? rows.ids).length; nth++) {
      const place = places === undefined ? nth : places[nth]!
      newest = newestOf(newest, [rows.ats[place]!, rows.ids[place]!, valueAt(rows, place)])
    }
  }
  return newest
}
