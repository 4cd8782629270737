/**
 * Rows of `events` that a reader holds in its hands, and what they add to an aggregate table: to plan a statement over raw
 * rows takes ClickHouse longer than to go through a few thousand of them, so a reader fetches these once and gives each
 * statement what they come to. The figures are the same as those of SQL: both are defined in tables.ts, side by side.
 */
import type { ClickHouse } from '../client.ts'
import type { AggregateTable, ValueOfRow } from './tables.ts'

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

/** SQL that selects one row `given` for each place of some arrays, of equal length: a tuple of what stands there. */
export function givenRows(
  name: string,
  arrays: readonly { readonly type: string; readonly values: readonly unknown[] }[],
): { sql: string; params: Readonly<Record<string, unknown>> } {
  const placeholders = arrays.map(({ type }, at) => `{${name}_given_${at}:Array(${type})}`)
  return {
    sql: `SELECT arrayJoin(arrayZip(${placeholders.join(', ')})) AS given`,
    params: Object.fromEntries(arrays.map(({ values }, at) => [`${name}_given_${at}`, values])),
  }
}

export interface ConstantOptions {
  /** Names of the table's columns; the others aren't given. */
  readonly columns: readonly string[]
  /** Adds the column `bucket`. */
  readonly bucketOf?: (row: EventRow) => number
  /** Tells the parameters from those of other parts of the statement. */
  readonly name: string
}

/** SQL that selects the table's keys, `bucket` where asked for, and the columns; undefined when the rows add nothing. */
export function constantSql(
  table: AggregateTable,
  rows: readonly EventRow[],
  { columns, bucketOf, name }: ConstantOptions,
): { sql: string; params: Readonly<Record<string, unknown>> } | undefined {
  const { keys, keysOfRow = {}, isCounted = () => false } = table
  const keyOf = (key: string, row: EventRow) => keysOfRow[key]?.of(row) ?? row[key as keyof EventRow]
  const groups = new Map<string, EventRow[]>()
  for (const row of rows) {
    if (!isCounted(row)) continue
    const group = JSON.stringify([bucketOf?.(row), ...keys.map((key) => keyOf(key, row))])
    const members = groups.get(group)
    if (members === undefined) groups.set(group, [row])
    else members.push(row)
  }
  if (groups.size === 0) return undefined
  const all = [...groups.values()]
  const first = all.map(([row]) => row!)
  const arrays: { type: string; values: readonly unknown[] }[] = []
  const nextIs = (type: string, values: readonly unknown[]) => `given.${arrays.push({ type, values })}`
  const selected = [
    ...keys.map((key) => {
      const values = first.map((row) => keyOf(key, row))
      return `${nextIs(keysOfRow[key]?.type ?? 'String', values)} AS ${key}`
    }),
    ...(bucketOf === undefined ? [] : [`${nextIs('Int64', first.map(bucketOf))} AS bucket`]),
    ...columns.map((column) => `${valueSql(table.columns[column]!.ofRow!, all, nextIs)} AS ${column}`),
  ]
  // A column beside the others, so that there are two at least: arrayZip makes tuples of them.
  nextIs(
    'UInt8',
    first.map(() => 0),
  )
  const { sql, params } = givenRows(name, arrays)
  return { sql: `SELECT ${selected.join(', ')} FROM (${sql})`, params }
}

/** SQL of what each group adds; `nextIs` takes one value a group and says where the statement finds them. */
function valueSql(
  value: ValueOfRow,
  groups: readonly (readonly EventRow[])[],
  nextIs: (type: string, values: readonly unknown[]) => string,
): string {
  if (value.as === 'sum') {
    const sums = groups.map((rows) => rows.reduce((sum, row) => sum + value.of(row), 0))
    return nextIs(value.type, sums)
  }
  if (value.as === 'set') {
    const sets = groups.map((rows) => [...new Set(rows.map(value.of).filter((each) => each !== undefined))].map(BigInt))
    return `arrayReduce('${value.state}', ${nextIs('Array(UInt64)', sets)})`
  }
  const newest = groups.map((rows) => newestOf(rows.filter((row) => value.of(row) !== undefined)))
  const none = value.type === 'String' ? '' : 0
  const parts = [
    `fromUnixTimestamp64Milli(${nextIs(
      'Int64',
      newest.map((row) => row?.at ?? 0),
    )}, 'UTC')`,
    nextIs(
      'UInt64',
      newest.map((row) => row?.id ?? 0),
    ),
    nextIs(
      value.type,
      newest.map((row) => (row === undefined ? none : value.of(row))),
    ),
  ]
  return `tuple(${parts.join(', ')})`
}

/** By time, then id. */
function newestOf(rows: readonly EventRow[]): EventRow | undefined {
  return rows.reduce<EventRow | undefined>(
    (newest, row) =>
      newest === undefined || row.at > newest.at || (row.at === newest.at && row.id > newest.id) ? row : newest,
    undefined,
  )
}
