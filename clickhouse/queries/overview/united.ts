/**
 * Rows of an aggregate table that are found in several places: in the aggregates of whole days, in those of hours, among the
 * raw rows. Each place is asked by a statement of its own and the answers are merged here: those of the aggregates can be
 * remembered, and a statement over one place is planned much faster than one over all of them.
 */
import {
  type AggregateRow,
  aggregateRow,
  decodeValue,
  encodedSql,
  MergedRows,
} from '../../aggregates/aggregate-rows.ts'
import { type AggregateTable, countedColumns, keysOfEvent, keysRead } from '../../aggregates/tables.ts'
import type { BoundSql } from '../../bound-sql.ts'
import type { EachOf, Growing, OfWorkspace } from '../../query-options.ts'
import type { Cells } from './composition.ts'
import { countHeld, type HeldCounts, noneHeld } from './held-rows.ts'
import { bucketStart, type Reader } from './span.ts'

export interface UnitedOptions {
  /** Names of columns; the others aren't read. */
  readonly columns: readonly string[]
  /** Adds the key `bucket`: the last of these moments that isn't after the row's. */
  readonly buckets?: readonly number[]
  /** Rows of these only, in a table that has the key `path`. */
  readonly paths?: readonly string[]
}

/** A statement that selects rows of a table's shape. */
export interface Place extends BoundSql {
  /** Whether it selects the same for ever. */
  readonly isLasting: boolean
  /** It selects, in this column, one of the texts of a list, and of each the same whichever others are asked for. */
  readonly each?: EachOf | undefined
  /** Its generations, where others come with every commit: it selects whose a row is, too. */
  readonly growing?: Growing | undefined
}

/** Of growing places, which several workspaces ask the same of. */
export const ofWorkspace: OfWorkspace = { parameter: 'workspaces', column: 'workspace_id' }

const bucketOfCell = 'roundDown(toInt64(hour) * 3600000, {bucket_starts:Array(Int64)})'

/** Each selects the table's keys, `bucket` where asked for, and the columns. Several rows may have equal keys. */
export function placesOf(table: AggregateTable, cells: Cells, { columns, buckets, paths }: UnitedOptions): Place[] {
  const narrowed = { ...table, columns: Object.fromEntries(columns.map((name) => [name, table.columns[name]!])) }
  const bucketFrom = (expression: string) => (buckets === undefined ? [] : [`${expression} AS bucket`])
  const fromCells = [...table.keys, ...bucketFrom(bucketOfCell), ...columns].join(', ')
  const fromEvents = [...keysOfEvent(table), ...bucketFrom(bucketStart), countedColumns(narrowed)].join(', ')
  const where = paths === undefined ? '1' : 'path IN {paths:Array(String)}'
  const more = { ...(paths && { paths }), ...(buckets && { bucket_starts: buckets }) }
  return [
    ...cells.aggregated.map(({ sql, params, growing }) => ({
      sql: `SELECT ${growing === undefined ? '' : `${ofWorkspace.column}, `}${fromCells} FROM ${table.name} WHERE ${sql} AND ${where}`,
      params: { ...params, ...more },
      isLasting: true,
      growing,
      each: paths && { parameter: 'paths', column: 'path' },
    })),
    ...cells.raw.map((condition) => ({
      sql: `SELECT ${fromEvents} FROM events WHERE ${condition.sql} AND ${table.events} AND ${where}${groupBy(keysOf(table, buckets))}`,
      params: { ...condition.params, ...more },
      isLasting: false,
    })),
  ]
}

/** All places in one, for what can be remembered as a whole; undefined: there are none. The cells have nothing at hand. */
export function unitedSql(table: AggregateTable, cells: Cells, options: UnitedOptions): BoundSql | undefined {
  const aggregated = cells.aggregated.map(({ sql, params }) => ({ sql, params }))
  const places = placesOf(table, { ...cells, aggregated }, options)
  if (places.length === 0) return undefined
  return {
    sql: `(${places.map(({ sql }) => sql).join('\nUNION ALL\n')})`,
    params: Object.assign({}, ...places.map(({ params }) => params)),
  }
}

/** Of all that the cells hold, one row for each combination of keys, `bucket` among them. */
export async function readUnited(
  ch: Reader,
  table: AggregateTable,
  cells: Cells,
  options: UnitedOptions & Pick<MergedOptions, 'most'>,
): Promise<MergedRows> {
  return mergeParts(await readParts(ch, table, cells, options))
}

/** Rows by how long they stay what they are. */
export interface RowParts {
  /** The same object as long as it is the same. */
  readonly lasting: MergedRows
  readonly passing: readonly AggregateRow[]
}

export function mergeParts({ lasting, passing }: RowParts): MergedRows {
  return lasting.with(passing)
}

export async function readParts(
  ch: Reader,
  table: AggregateTable,
  cells: Cells,
  options: UnitedOptions & Pick<MergedOptions, 'most'>,
): Promise<RowParts> {
  const answers = await askCells(ch, table, cells, options)
  return partsOf(answers, countHeld(table, cells.atHand, options))
}

/** Asks what `readUnited` will ask. */
export function askCells(
  ch: Reader,
  table: AggregateTable,
  cells: Cells,
  options: UnitedOptions & Pick<MergedOptions, 'most'>,
): Promise<Answers> {
  return askPlaces(ch, table, placesOf(table, cells, options), { ...options, keys: keysOf(table, options.buckets) })
}

export interface MergedOptions {
  readonly columns: readonly string[]
  readonly keys: readonly string[]
  /** Of each place, no more rows than a bound, those with most of a column, apart for each value of an expression. */
  readonly most?: { readonly of: string; readonly by: string; readonly max: number }
}

/** The rows of several places, and those that are held. */
export async function readPlaces(
  ch: Reader,
  table: AggregateTable,
  places: readonly Place[],
  options: MergedOptions,
  held: HeldCounts = noneHeld,
): Promise<MergedRows> {
  return mergeParts(partsOf(await askPlaces(ch, table, places, options), held))
}

/** Of each place. */
interface Answers {
  readonly lasting: RowLists
  readonly passing: RowLists
}

function partsOf({ lasting, passing }: Answers, held: HeldCounts): RowParts {
  return { lasting: withLasting(mergeRemembered(lasting), held.lasting), passing: [...passing, held.passing].flat() }
}

async function askPlaces(
  ch: Reader,
  table: AggregateTable,
  places: readonly Place[],
  { columns, keys, most }: MergedOptions,
): Promise<Answers> {
  const formOf = (name: string) => table.columns[name]!.form
  const encoded = columns.map((name) =>
    encodedSql(formOf(name), table.columns[name]!.merge.replaceAll('?', name), `${name}_`),
  )
  const isOfValues = columns.some((name) => formOf(name) === 'distribution')
  const keysOfRows = keysRead(keys)
  const decode = (row: Readonly<Record<string, unknown>>) =>
    aggregateRow(
      Object.fromEntries(keysOfRows.map((key) => [key, row[key] as string | number])),
      Object.fromEntries(columns.map((name) => [name, decodeValue(formOf(name), row[`${name}_`])])),
    )
  const merge = (rows: readonly AggregateRow[]) => new MergedRows(rows).rows
  const ask = ({ sql, params, isLasting, each, growing }: Place) => {
    const whose = growing === undefined ? [] : [ofWorkspace.column]
    const grouped = [...new Set([...whose, ...keys, ...(each === undefined ? [] : [each.column])])]
    const limit =
      most === undefined ? '' : ` ORDER BY ${most.of}_ DESC LIMIT ${most.max} BY ${[...whose, most.by].join(', ')}`
    const merged = `SELECT ${[...grouped, ...encoded].join(', ')} FROM (${sql})${groupBy(grouped)}${limit}`
    return ch.query<AggregateRow>(isOfValues ? distributionsSql(merged, grouped, columns) : merged, params, {
      isLasting,
      decode,
      ...(each && { each }),
      ...(growing && { growing: { ...growing, merge }, ofWorkspace }),
    })
  }
  const askAll = (wanted: boolean) => Promise.all(places.filter(({ isLasting }) => isLasting === wanted).map(ask))
  const [lasting, passing] = await Promise.all([askAll(true), askAll(false)])
  return { lasting, passing }
}

/** How often each value occurs, from rows that have each value once. */
function distributionsSql(merged: string, keys: readonly string[], columns: readonly string[]): string {
  const others = keysRead(keys)
  const pairs = columns.map((name) => `arraySort(groupArray((value, counted.${name}_))) AS ${name}_`)
  return `SELECT ${[...others, ...pairs].join(', ')} FROM (${merged}) AS counted${groupBy(others)}`
}

type RowLists = readonly (readonly AggregateRow[])[]

/** What rows came to when they were merged, by the first of them. */
const merges = new WeakMap<AggregateRow, { readonly lists: RowLists; readonly merged: MergedRows }>()
const noRows = new MergedRows([])

/** Rows are the same objects as long as they are remembered: as long is what they come to. */
function mergeRemembered(lists: RowLists): MergedRows {
  const first = lists.find(({ length }) => length > 0)?.[0]
  if (first === undefined) return noRows
  const known = merges.get(first)
  if (known?.lists.length === lists.length && lists.every((list, at) => areSame(list, known.lists[at]!))) {
    return known.merged
  }
  const merged = new MergedRows(lists.flat())
  merges.set(first, { lists, merged })
  return merged
}

/** The same with rows that are held, which change sooner: what is asked ahead comes without them. */
const joined = new WeakMap<MergedRows, { readonly rows: readonly AggregateRow[]; readonly merged: MergedRows }>()

function withLasting(base: MergedRows, rows: readonly AggregateRow[]): MergedRows {
  if (rows.length === 0) return base
  // Of no rows there is one object for all questions.
  if (base === noRows) return mergeRemembered([rows])
  const known = joined.get(base)
  if (known !== undefined && areSame(rows, known.rows)) return known.merged
  const merged = base.with(rows)
  joined.set(base, { rows, merged })
  return merged
}

function areSame(list: readonly AggregateRow[], known: readonly AggregateRow[]): boolean {
  return list === known || (list.length === known.length && list.every((row, at) => row === known[at]))
}

function keysOf({ keys }: AggregateTable, buckets: readonly number[] | undefined): string[] {
  return [...keys, ...(buckets === undefined ? [] : ['bucket'])]
}

function groupBy(keys: readonly string[]): string {
  return keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`
}

/** SQL of a column's merged value, or another expression over its merged state. */
export function shown(table: AggregateTable, column: string): string {
  return table.columns[column]!.shown.replaceAll('?', column)
}
