/**
 * Rows of aggregates as a reader holds them: read by several statements, or counted from rows at hand, and merged here.
 * Most of them can be remembered, because the generations that they come from never change.
 */
import { DistinctSet } from './distinct-set.ts'
import { Distribution } from './distribution.ts'
import type { ColumnOfAggregate } from './tables.ts'

/** The newest of some values: when it came, with which id; all zero, or empty, where there is none. */
export type Newest = readonly [at: number, id: number, value: number | string]
export const none: Newest = [0, 0, '']

export type AggregateValue = number | Distribution | DistinctSet | Newest

export type AggregateKeys = Readonly<Record<string, string | number>>

/** Immutable: several answers may be made of it. */
export interface AggregateRow {
  /** The same text for the same keys. */
  readonly group: string
  readonly keys: AggregateKeys
  readonly values: Readonly<Record<string, AggregateValue>>
}

/** @param keys all rows have them in the same order; no text of events holds a NUL */
export function aggregateRow(keys: AggregateKeys, values: AggregateRow['values']): AggregateRow {
  return { group: Object.values(keys).join('\0'), keys, values }
}

type ColumnForm = ColumnOfAggregate['form']

/** SQL of a value in the form in which `decodeValue` takes it. `name` is one that stands nowhere else in the statement. */
export function encodedSql(form: ColumnForm, expression: string, name: string): string {
  if (form === 'sum' || form === 'distribution') return `${expression} AS ${name}`
  if (form !== 'newest') return `hex(${expression}) AS ${name}`
  const tuple = `${name}tuple`
  return `(toUnixTimestamp64Milli((${expression} AS ${tuple}).1), ${tuple}.2, ${tuple}.3) AS ${name}`
}

export function decodeValue(form: ColumnForm, value: unknown): AggregateValue {
  if (form === 'sum') return value as number
  if (form === 'distribution') return Distribution.fromPairs(value as [number, number][])
  return form === 'newest' ? (value as Newest) : DistinctSet.fromState(form, value as string)
}

/** What all rows of equal keys come to. Immutable, and remembers what it was asked. */
export class MergedRow {
  readonly keys: AggregateKeys
  readonly #added: readonly AggregateRow['values'][]
  /** What they are added to: its answers are remembered too. */
  readonly #base: MergedRow | undefined
  readonly #merged: Record<string, AggregateValue> = {}
  readonly #counts: Record<string, number> = {}

  constructor(keys: AggregateKeys, added: readonly AggregateRow['values'][], base?: MergedRow) {
    this.keys = keys
    this.#added = added
    this.#base = base
  }

  text(key: string): string {
    return this.keys[key] as string
  }

  number(key: string): number {
    return this.keys[key] as number
  }

  sum(column: string): number {
    return this.#value(column) as number
  }

  /** The number of distinct values. */
  count(column: string): number {
    this.#counts[column] ??= DistinctSet.countTogether(this.#parts(column) as DistinctSet[])
    return this.#counts[column]
  }

  distribution(column: string): Distribution {
    return this.#value(column) as Distribution
  }

  newest(column: string): Newest {
    return this.#value(column) as Newest
  }

  /** All columns, merged. */
  get values(): AggregateRow['values'] {
    const [some, ...others] = this.#added
    if (this.#base === undefined && others.length === 0) return some!
    return Object.fromEntries(Object.keys(some!).map((column) => [column, this.#value(column)]))
  }

  #value(column: string): AggregateValue {
    this.#merged[column] ??= mergeValues(this.#parts(column))
    return this.#merged[column]
  }

  /** At least one. */
  #parts(column: string): AggregateValue[] {
    const before = this.#base === undefined ? [] : [this.#base.#value(column)]
    return [...before, ...this.#added.map((values) => values[column]!)]
  }
}

/** @param values of one form, at least one */
function mergeValues(values: readonly AggregateValue[]): AggregateValue {
  const [first] = values
  if (values.length === 1) return first!
  if (typeof first === 'number') return (values as number[]).reduce((sum, value) => sum + value)
  if (first instanceof Distribution) return Distribution.sum(values as Distribution[])
  if (first instanceof DistinctSet) return DistinctSet.union(values as DistinctSet[])
  return (values as Newest[]).reduce(newestOf)
}

/** By time, then id. */
export function newestOf(one: Newest, other: Newest): Newest {
  return other[0] > one[0] || (other[0] === one[0] && other[1] > one[1]) ? other : one
}

/** One row for each combination of keys. Immutable. */
export class MergedRows {
  readonly #byGroup: ReadonlyMap<string, MergedRow>

  constructor(rows: readonly AggregateRow[], base?: MergedRows) {
    const byGroup = new Map(base === undefined ? [] : base.#byGroup)
    for (const [group, some] of groupsOf(rows)) {
      const values = some.map(({ values }) => values)
      byGroup.set(group, new MergedRow(some[0]!.keys, values, byGroup.get(group)))
    }
    this.#byGroup = byGroup
  }

  /** The same with more rows; what they don't touch is shared. */
  with(rows: readonly AggregateRow[]): MergedRows {
    return rows.length === 0 ? this : new MergedRows(rows, this)
  }

  get all(): MergedRow[] {
    return [...this.#byGroup.values()]
  }

  /** What they come to, one row for each combination of keys. */
  get rows(): AggregateRow[] {
    return [...this.#byGroup].map(([group, { keys, values }]) => ({ group, keys, values }))
  }
}

function groupsOf(rows: readonly AggregateRow[]): Map<string, AggregateRow[]> {
  const groups = new Map<string, AggregateRow[]>()
  for (const row of rows) {
    const known = groups.get(row.group)
    if (known === undefined) groups.set(row.group, [row])
    else known.push(row)
  }
  return groups
}

/**
 * As ClickHouse orders texts: by their bytes, which is by code points. UTF-16 orders otherwise only what lies above its surrogates.
 */
export function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const difference = rankOf(one.charCodeAt(at)) - rankOf(other.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return one.length - other.length
}

/** Halves of a surrogate pair, which stand for what is above all that has one unit. */
const surrogates = { first: 0xd800, last: 0xdfff }

function rankOf(unit: number): number {
  return unit >= surrogates.first && unit <= surrogates.last ? unit + 0x10000 : unit
}
