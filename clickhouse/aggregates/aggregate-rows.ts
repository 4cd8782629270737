/**
 * Rows of aggregates as a reader holds them: read by several statements, or counted from rows at hand, and merged here.
 * Most of them can be remembered, because the generations that they come from never change.
 */
import { DistinctSet } from './distinct-set.ts'
import type { ColumnOfAggregate } from './tables.ts'

/** The newest of some values: when it came, with which id; all zero, or empty, where there is none. */
export type Newest = readonly [at: number, id: number, value: number | string]
export const none: Newest = [0, 0, '']

export type AggregateValue = number | DistinctSet | Newest

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
  if (form === 'sum') return `${expression} AS ${name}`
  if (form !== 'newest') return `hex(${expression}) AS ${name}`
  const tuple = `${name}tuple`
  return `(toUnixTimestamp64Milli((${expression} AS ${tuple}).1), ${tuple}.2, ${tuple}.3) AS ${name}`
}

export function decodeValue(form: ColumnForm, value: unknown): AggregateValue {
  if (form === 'sum') return value as number
  return form === 'newest' ? (value as Newest) : DistinctSet.fromState(form, value as string)
}

/** What all rows of equal keys come to. Immutable, and remembers what it was asked. */
export class MergedRow {
  readonly keys: AggregateKeys
  readonly #added: AggregateRow['values']
  /** What it is added to: its answers are remembered too. */
  readonly #base: MergedRow | undefined
  readonly #merged: Record<string, AggregateValue> = {}

  constructor(keys: AggregateKeys, added: AggregateRow['values'], base?: MergedRow) {
    this.keys = keys
    this.#added = added
    this.#base = base
  }

  with(values: AggregateRow['values']): MergedRow {
    return new MergedRow(this.keys, values, this)
  }

  /** The rows that it is made of. */
  get parts(): AggregateRow[] {
    const before = this.#base === undefined ? [] : this.#base.parts
    return [...before, aggregateRow(this.keys, this.#added)]
  }

  text(key: string): string {
    return this.keys[key] as string
  }

  number(key: string): number {
    return this.keys[key] as number
  }

  sum(column: string): number {
    return this.#all<number>(column, (one, other) => one + other)
  }

  /** The number of distinct values. */
  count(column: string): number {
    return this.#all<DistinctSet>(column, (one, other) => DistinctSet.union([one, other])).count()
  }

  newest(column: string): Newest {
    return this.#all<Newest>(column, newestOf)
  }

  #all<Value extends AggregateValue>(column: string, merge: (one: Value, other: Value) => Value): Value {
    const added = this.#added[column] as Value
    if (this.#base === undefined) return added
    this.#merged[column] ??= merge(this.#base.#all(column, merge), added)
    return this.#merged[column] as Value
  }
}

/** By time, then id. */
export function newestOf(one: Newest, other: Newest): Newest {
  return other[0] > one[0] || (other[0] === one[0] && other[1] > one[1]) ? other : one
}

/** One row for each combination of keys. Immutable. */
export class MergedRows {
  readonly #byGroup: ReadonlyMap<string, MergedRow>

  constructor(rows: Iterable<AggregateRow>, others?: MergedRows) {
    const byGroup = new Map(others === undefined ? [] : others.#byGroup)
    for (const { group, keys, values } of rows) {
      byGroup.set(group, byGroup.get(group)?.with(values) ?? new MergedRow(keys, values))
    }
    this.#byGroup = byGroup
  }

  /** The rows that all of them are made of. */
  get parts(): AggregateRow[] {
    return this.all.flatMap((row) => row.parts)
  }

  /** The same with more rows; what they don't touch is shared. */
  with(rows: readonly AggregateRow[]): MergedRows {
    return rows.length === 0 ? this : new MergedRows(rows, this)
  }

  get all(): MergedRow[] {
    return [...this.#byGroup.values()]
  }
}

/** As ClickHouse orders texts: by their bytes. */
export function compareTexts(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
}
