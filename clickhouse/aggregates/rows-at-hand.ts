/**
 * Rows of `events` that a reader holds in its hands, and what they add to an aggregate table: to plan a statement over raw
 * rows takes ClickHouse longer than to go through a few thousand of them, so a reader fetches these once and counts them
 * itself. The figures are the same as those of SQL: both are defined in tables.ts, side by side.
 */
import type { ClickHouse } from '../client.ts'
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
import type { AggregateTable, ColumnOfAggregate } from './tables.ts'

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
  /** Of web vitals; the others have none. */
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
  /** They are the same for ever. */
  readonly isLasting?: boolean
}

/** @returns undefined when there are more than `max` */
export async function readRows(
  ch: Pick<ClickHouse, 'query'>,
  { condition, params, max, isLasting = false }: RowsWanted,
): Promise<EventRow[] | undefined> {
  const rows = await ch.query<EventRow>(
    `SELECT ${columns} FROM events WHERE ${condition} LIMIT {rows_max:UInt32}`,
    { ...params, rows_max: max + 1 },
    { isLong: true, isLasting },
  )
  return rows.length > max ? undefined : rows
}

/** The same with less of each row, for thousands of them: their numbers come as bytes. */
export async function readAlikeRows(
  ch: Pick<ClickHouse, 'query'>,
  { condition, params, max }: RowsWanted,
): Promise<AlikeRows[] | undefined> {
  const texts = 'kind, path, title, metric'
  const bytesOf = (expression: string, when = '1') => `hex(groupArrayStateIf(toFloat64(${expression}), ${when}))`
  const groups = await ch.query<RowTexts & Readonly<Record<NumbersOfRows, string>>>(
    `SELECT ${texts}, toBool(visitor != 0) AS hasVisitor, ${bytesOf('id')} AS ids, ${bytesOf(at)} AS ats,
       ${bytesOf(digestSql('visitor'), 'visitor != 0')} AS visitors, ${bytesOf(digestSql('session'), 'visitor != 0')} AS sessions,
       ${bytesOf('metric_value', "metric != 'none'")} AS values
     FROM (SELECT ${texts}, id, occurred_at, visitor, session, metric_value FROM events WHERE ${condition} LIMIT {rows_max:UInt32})
     GROUP BY ${texts}, hasVisitor`,
    { ...params, rows_max: max + 1 },
    { isLong: true },
  )
  const alike = groups.map(({ ids, ats, visitors, sessions, values, ...texts }) => ({
    ...texts,
    ...{ ids: numbersIn(ids), ats: numbersIn(ats), values: numbersIn(values) },
    ...{ visitors: numbersIn(visitors), sessions: numbersIn(sessions) },
  }))
  return countRows(alike) > max ? undefined : alike
}

type NumbersOfRows = 'ids' | 'ats' | 'visitors' | 'sessions' | 'values'

/** A state of `groupArray(Float64)`: their number as a varint, then the numbers, little-endian. */
function numbersIn(hex: string): Float64Array {
  const bytes = Buffer.from(hex, 'hex')
  const start = bytes.findIndex((byte) => byte < 0x80) + 1
  // At the begin of a buffer of its own: numbers have to lie at multiples of eight.
  return new Float64Array(new Uint8Array(bytes.subarray(start)).buffer)
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

/** Those of the rows whose time is wanted; groups of which all are stay as they are. */
export function rowsAt(alike: readonly AlikeRows[], isWanted: (at: number) => boolean): AlikeRows[] {
  return alike.flatMap((rows) => {
    const wanted = indexesOf(rows).filter((nth) => isWanted(rows.ats[nth]!))
    if (wanted.length === rows.ids.length) return [rows]
    return wanted.length === 0 ? [] : [pick(rows, wanted)]
  })
}

function indexesOf({ ids }: AlikeRows): number[] {
  return Array.from(ids, (_, nth) => nth)
}

function pick(rows: AlikeRows, wanted: readonly number[]): AlikeRows {
  const of = (numbers: Float64Array) =>
    numbers.length === 0 ? numbers : Float64Array.from(wanted, (nth) => numbers[nth]!)
  const { ids, ats, visitors, sessions, values } = rows
  return { ...rows, ids: of(ids), ats: of(ats), visitors: of(visitors), sessions: of(sessions), values: of(values) }
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
  return [...groups.values()].map(({ keys, parts }) =>
    aggregateRow(keys, Object.fromEntries(columns.map((name) => [name, addedBy(table.columns[name]!, parts)]))),
  )
}

/** Alike rows have the same keys, but for those that are numbers. */
function placesByKeys(
  { keys, keyOfValue }: AggregateTable,
  rows: AlikeRows,
  bucketOf?: (at: number) => number,
): (readonly [AggregateKeys, Part['places']])[] {
  const texts = Object.fromEntries(
    keys.filter((key) => key !== 'value').map((key) => [key, rows[key as 'path' | 'metric']]),
  )
  if (keyOfValue === undefined && bucketOf === undefined) return [[texts, undefined]]
  const found = new Map<string, readonly [AggregateKeys, number[]]>()
  for (let place = 0; place < rows.ids.length; place++) {
    const value = keyOfValue?.(rows.values[place]!)
    const bucket = bucketOf?.(rows.ats[place]!)
    const name = `${value} ${bucket}`
    const known = found.get(name)
    if (known !== undefined) known[1].push(place)
    else
      found.set(name, [
        { ...texts, ...(keyOfValue && { value }), ...(bucketOf && { bucket }) } as AggregateKeys,
        [place],
      ])
  }
  return [...found.values()]
}

function addedBy({ form, ofRows }: ColumnOfAggregate, parts: readonly Part[]): AggregateValue {
  const { of, isCounted = () => true } = ofRows!
  const counted = parts.filter(({ rows }) => isCounted(rows))
  if (of === 'title') return counted.map((part) => newestIn(part, () => part.rows.title)).reduce(newestOf, none)
  if (form === 'newest') {
    return counted.map((part) => newestIn(part, (place) => part.rows.values[place]!)).reduce(newestOf, none)
  }
  if (of === 'rows') return counted.reduce((sum, { rows, places }) => sum + (places ?? rows.ids).length, 0)
  const numbers = counted.flatMap(({ rows, places }) => numbersAt(rows[of], places))
  return form === 'sum' ? numbers.reduce((sum, value) => sum + value, 0) : DistinctSet.of(form, numbers)
}

function numbersAt(numbers: Float64Array, places: Part['places']): number[] {
  return places === undefined ? [...numbers] : places.map((place) => numbers[place]!)
}

function newestIn({ rows, places }: Part, valueAt: (place: number) => number | string): Newest {
  const { ids, ats } = rows
  const isNewer = (one: number, other: number) =>
    ats[one]! > ats[other]! || (ats[one] === ats[other] && ids[one]! > ids[other]!)
  const newest = (places ?? indexesOf(rows)).reduce((one, other) => (isNewer(other, one) ? other : one))
  return [ats[newest]!, ids[newest]!, valueAt(newest)]
}
