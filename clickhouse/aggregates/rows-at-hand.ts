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
import { DistinctSet } from './distinct-set.ts'
import type { AggregateTable, ColumnOfAggregate } from './tables.ts'

export interface EventRow {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly kind: string
  /** A hash of 64 bits, which no number holds, as decimal text; '0': none. */
  readonly visitorHash: string
  readonly session: number
  readonly path: string
  readonly title: string
  readonly source: string
  readonly medium: string
  readonly device: string
  readonly browser: string
  /** Empty where it isn't known. */
  readonly countryCode: string
  readonly metric: string
  readonly value: number
  readonly engagementMs: number
}

/** Each under a name that no column has, or as it is: the condition is over the columns. */
const columns = `id, toUnixTimestamp64Milli(occurred_at) AS at, kind, toString(visitor) AS visitorHash, session, path, title, source,
  medium, device, browser, toStringCutToZero(country) AS countryCode, metric, metric_value AS value, engagement_ms AS engagementMs`

/**
 * @param condition SQL over `events`
 * @returns undefined when there are more than `max`
 */
export async function readRows(
  ch: Pick<ClickHouse, 'query'>,
  condition: string,
  params: Readonly<Record<string, unknown>>,
  max: number,
): Promise<EventRow[] | undefined> {
  const rows = await ch.query<EventRow>(`SELECT ${columns} FROM events WHERE ${condition} LIMIT {rows_max:UInt32}`, {
    ...params,
    rows_max: max + 1,
  })
  return rows.length > max ? undefined : rows
}

export function hasVisitor({ visitorHash }: EventRow): boolean {
  return visitorHash !== '0'
}

/** What the rows that a table counts add to it, by its keys and `bucket` where asked for. */
export function rowsCounted(
  { keys, keysOfRow = {}, isCounted = () => false, columns: all }: AggregateTable,
  rows: readonly EventRow[],
  columns: readonly string[],
  bucketOf?: (row: EventRow) => number,
): AggregateRow[] {
  const groups = new Map<string, { keys: AggregateKeys; rows: EventRow[] }>()
  for (const row of rows) {
    if (!isCounted(row)) continue
    const named = keys.map((key) => [key, keysOfRow[key]?.(row) ?? (row[key as keyof EventRow] as string)])
    if (bucketOf !== undefined) named.push(['bucket', bucketOf(row)])
    const group = JSON.stringify(named)
    const known = groups.get(group)
    if (known === undefined) groups.set(group, { keys: Object.fromEntries(named), rows: [row] })
    else known.rows.push(row)
  }
  return [...groups.values()].map((group) =>
    aggregateRow(group.keys, Object.fromEntries(columns.map((name) => [name, addedBy(all[name]!, group.rows)]))),
  )
}

function addedBy({ form, ofRow }: ColumnOfAggregate, rows: readonly EventRow[]): AggregateValue {
  const values = rows.map((row) => ofRow!(row))
  if (form === 'sum') return values.reduce<number>((sum, value) => sum + Number(value), 0)
  if (form !== 'newest') {
    return DistinctSet.of(
      form,
      values.filter((value) => value !== undefined),
    )
  }
  const dated = rows.map((row, at): Newest => (values[at] === undefined ? none : [row.at, row.id, values[at]]))
  return dated.reduce(newestOf)
}
