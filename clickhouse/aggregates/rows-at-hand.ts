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

/** Rows of a group: those at some places of its lists, or, where that is undefined, all of them. */
export interface PickedRows {
  readonly rows: AlikeRows
  readonly places: readonly number[] | undefined
}

export function allOf(alike: readonly AlikeRows[]): PickedRows[] {
  return alike.map((rows) => ({ rows, places: undefined }))
}

/** Those of the rows from one moment to just before another. */
export function rowsBetween(alike: readonly AlikeRows[], start: number, end: number): PickedRows[] {
  const between: PickedRows[] = []
  for (const rows of alike) {
    const { ats } = rows
    const places: number[] = []
    for (let place = 0; place < ats.length; place++) if (ats[place]! >= start && ats[place]! < end) places.push(place)
    if (places.length > 0) between.push({ rows, places: places.length === ats.length ? undefined : places })
  }
  return between
}

/**
 * What the rows that a table counts add to it.
 * @param columns names of the table's columns
 * @param bucketOf where given, rows are counted by this key too
 */
export function rowsCounted(
  table: AggregateTable,
  picked: readonly PickedRows[],
  columns: readonly string[],
  bucketOf?: (at: number) => number,
): AggregateRow[] {
  const names = keysRead(table.keys) as ('path' | 'metric')[]
  const groups = new Map<string, { readonly keys: AggregateKeys; readonly parts: PickedRows[] }>()
  const add = (keys: AggregateKeys, part: PickedRows) => {
    const { group } = aggregateRow(keys, {})
    const known = groups.get(group)
    if (known === undefined) groups.set(group, { keys, parts: [part] })
    else known.parts.push(part)
  }
  for (const part of picked) {
    const { rows } = part
    if (table.isCounted?.(rows) !== true) continue
    // Alike rows have the same keys, but for the bucket.
    const texts: Record<string, string> = {}
    for (const name of names) texts[name] = rows[name]
    if (bucketOf === undefined) add(texts, part)
    else for (const [bucket, places] of placesByBucket(part, bucketOf)) add({ ...texts, bucket }, { rows, places })
  }
  return [...groups].map(([group, { keys, parts }]) => ({
    ...{ group, keys },
    values: Object.fromEntries(columns.map((name) => [name, addedBy(table.columns[name]!, parts)])),
  }))
}

function placesByBucket({ rows, places }: PickedRows, bucketOf: (at: number) => number): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (let nth = 0; nth < (places ?? rows.ids).length; nth++) {
    const place = places === undefined ? nth : places[nth]!
    const bucket = bucketOf(rows.ats[place]!)
    const known = found.get(bucket)
    if (known === undefined) found.set(bucket, [place])
    else known.push(place)
  }
  return found
}

function addedBy({ form, ofRows }: ColumnOfAggregate, parts: readonly PickedRows[]): AggregateValue {
  const { of, as, isCounted } = ofRows!
  const counted = isCounted === undefined ? parts : parts.filter(({ rows }) => isCounted(rows))
  if (of === 'rows') return countPicked(counted)
  if (of === 'title') return newestIn(counted, ({ title }) => title)
  if (form === 'newest') return newestIn(counted, ({ values }, place) => values[place]!)
  const numbers = numbersOf(counted, of)
  if (form === 'sum') return numbers.reduce((sum, value) => sum + value, 0)
  return form === 'distribution'
    ? Distribution.of(as === undefined ? numbers : numbers.map(as))
    : DistinctSet.of(form, numbers)
}

function countPicked(parts: readonly PickedRows[]): number {
  return parts.reduce((sum, { rows, places }) => sum + (places ?? rows.ids).length, 0)
}

function numbersOf(parts: readonly PickedRows[], of: 'visitors' | 'sessions' | 'values'): Float64Array {
  const all = new Float64Array(countPicked(parts))
  let at = 0
  for (const { rows, places } of parts) {
    const numbers = rows[of]
    if (places === undefined) {
      all.set(numbers, at)
      at += numbers.length
    } else {
      for (let nth = 0; nth < places.length; nth++) all[at++] = numbers[places[nth]!]!
    }
  }
  return all
}

function newestIn(parts: readonly PickedRows[], valueAt: (rows: AlikeRows, place: number) => number | string): Newest {
  let newest = none
  for (const { rows, places } of parts) {
    for (let nth = 0; nth < (places ?? rows.ids).length; nth++) {
      const place = places === undefined ? nth : places[nth]!
      newest = newestOf(newest, [rows.ats[place]!, rows.ids[place]!, valueAt(rows, place)])
    }
  }
  return newest
}
