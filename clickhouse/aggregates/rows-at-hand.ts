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

/** Each under a name that no column has, or as it is: the condition is over the columns. */
const singleColumns = `id, toUnixTimestamp64Milli(occurred_at) AS at, kind,
  if(visitor = 0, -1, toInt64(${digestSql('visitor')})) AS visitorDigest, ${digestSql('session')} AS sessionDigest,
  path, title, metric, metric_value AS value`
const columns = `${singleColumns}, toString(visitor) AS visitorHash, session, source, medium, device, browser,
  toStringCutToZero(country) AS countryCode, engagement_ms AS engagementMs`

/** @param condition SQL over `events` */
export interface RowsWanted {
  readonly condition: string
  readonly params: Readonly<Record<string, unknown>>
  readonly max: number
}

/** @returns undefined when there are more than `max` */
export async function readRows(ch: Pick<ClickHouse, 'query'>, wanted: RowsWanted): Promise<EventRow[] | undefined> {
  return readColumns<EventRow>(ch, columns, wanted)
}

/** The same with less of each row. */
export async function readSingleRows(
  ch: Pick<ClickHouse, 'query'>,
  wanted: RowsWanted,
): Promise<SingleRow[] | undefined> {
  return readColumns<SingleRow>(ch, singleColumns, wanted)
}

async function readColumns<Row>(
  ch: Pick<ClickHouse, 'query'>,
  names: string,
  { condition, params, max }: RowsWanted,
): Promise<Row[] | undefined> {
  const rows = await ch.query<Row>(
    `SELECT ${names} FROM events WHERE ${condition} LIMIT {rows_max:UInt32}`,
    { ...params, rows_max: max + 1 },
    { isLong: true },
  )
  return rows.length > max ? undefined : rows
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
