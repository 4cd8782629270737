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

/** A row of `events`, as far as tables count it that look at single rows. */
export interface SingleRow {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly kind: string
  /** The visitor's digest (distinct-set.ts); -1: there is none. */
  readonly visitorDigest: number
  readonly sessionDigest: number
  readonly path: string
  readonly title: string
  readonly metric: string
  readonly value: number
}

export interface EventRow extends SingleRow {
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
const visitorDigest = `if(visitor = 0, -1, toInt64(${digestSql('visitor')}))`
const sessionDigest = digestSql('session')
/** Each under a name that no column has, or as it is: the condition is over the columns. */
const columns = `id, ${at} AS at, kind, ${visitorDigest} AS visitorDigest, ${sessionDigest} AS sessionDigest,
  path, title, metric, metric_value AS value, toString(visitor) AS visitorHash, session, source, medium, device, browser,
  toStringCutToZero(country) AS countryCode, engagement_ms AS engagementMs`

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

/** Rows with the same texts, which are most of what rows are made of: each of the lists has one number for each row. */
interface AlikeRows extends Pick<SingleRow, 'kind' | 'path' | 'title' | 'metric'> {
  readonly ids: readonly number[]
  readonly ats: readonly number[]
  readonly visitors: readonly number[]
  readonly sessions: readonly number[]
  readonly values: readonly number[]
}

/** The same with less of each row, in any order: for thousands of them. */
export async function readSingleRows(
  ch: Pick<ClickHouse, 'query'>,
  { condition, params, max }: RowsWanted,
): Promise<SingleRow[] | undefined> {
  const texts = 'kind, path, title, metric'
  const alike = await ch.query<AlikeRows>(
    `SELECT ${texts}, groupArray(id) AS ids, groupArray(${at}) AS ats, groupArray(${visitorDigest}) AS visitors,
       groupArray(${sessionDigest}) AS sessions, groupArray(metric_value) AS values
     FROM (SELECT ${texts}, id, occurred_at, visitor, session, metric_value FROM events WHERE ${condition} LIMIT {rows_max:UInt32})
     GROUP BY ${texts}`,
    { ...params, rows_max: max + 1 },
    { isLong: true },
  )
  const rows = alike.flatMap(rowsOf)
  return rows.length > max ? undefined : rows
}

function rowsOf({ kind, path, title, metric, ids, ats, visitors, sessions, values }: AlikeRows): SingleRow[] {
  return ids.map((id, nth) => ({
    id,
    at: ats[nth]!,
    kind,
    visitorDigest: visitors[nth]!,
    sessionDigest: sessions[nth]!,
    path,
    title,
    metric,
    value: values[nth]!,
  }))
}

export function hasVisitor({ visitorDigest }: SingleRow): boolean {
  return visitorDigest !== -1
}

/** What the rows that a table counts add to it, by its keys and `bucket` where asked for. */
export function rowsCounted(
  { keys, keysOfRow = {}, isCounted = () => false, columns: all }: AggregateTable,
  rows: readonly SingleRow[],
  columns: readonly string[],
  bucketOf?: (row: SingleRow) => number,
): AggregateRow[] {
  const getters = keys.map((key) => keysOfRow[key] ?? ((row: SingleRow) => row[key as keyof SingleRow]))
  if (bucketOf !== undefined) getters.push(bucketOf)
  const names = bucketOf === undefined ? keys : [...keys, 'bucket']
  const groups = new Map<string, SingleRow[]>()
  for (const row of rows) {
    if (!isCounted(row)) continue
    let group = ''
    for (const keyOf of getters) group += `${keyOf(row)}\0`
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [row])
    else known.push(row)
  }
  return [...groups.values()].map((some) => {
    const ownKeys: AggregateKeys = Object.fromEntries(names.map((name, at) => [name, getters[at]!(some[0]!)]))
    return aggregateRow(ownKeys, Object.fromEntries(columns.map((name) => [name, addedBy(all[name]!, some)])))
  })
}

function addedBy({ form, ofRow }: ColumnOfAggregate, rows: readonly SingleRow[]): AggregateValue {
  const values = rows.map((row) => ofRow!(row))
  if (form === 'sum') return values.reduce<number>((sum, value) => sum + Number(value), 0)
  if (form !== 'newest') {
    return DistinctSet.of(
      form,
      values.filter((value) => typeof value === 'number'),
    )
  }
  const dated = rows.map((row, at): Newest => (values[at] === undefined ? none : [row.at, row.id, values[at]]))
  return dated.reduce(newestOf)
}
