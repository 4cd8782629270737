/** SQL of an aggregate table's rows and those of the raw rows beside it, in one: columns are values and states to be merged. */
import { constantSql } from '../../aggregates/rows-at-hand.ts'
import { type AggregateTable, countedColumns, keysOfEvent } from '../../aggregates/tables.ts'
import type { Cells } from './composition.ts'
import { bucketStart } from './span.ts'

export interface UnitedOptions {
  /** Names of columns; the others aren't read. */
  readonly columns: readonly string[]
  /** Adds the column `bucket`: of buckets that begin at these moments, or this number for all rows. */
  readonly bucket?: readonly number[] | number
  /** SQL condition over the table's keys. */
  readonly where?: string
}

const bucketOfCell = 'roundDown(toInt64(hour) * 3600000, {bucket_starts:Array(Int64)})'

/** Whether what the cells hold is the same for ever: they are immutable generations, and no raw rows. */
export function isLasting(...cells: readonly Cells[]): boolean {
  return cells.every(({ raw, atHand }) => raw.length === 0 && atHand.length === 0)
}

/** Columns: the table's keys, `bucket` where asked for, the columns. Several rows may have equal keys. */
export function unitedSql(
  table: AggregateTable,
  cells: Cells,
  { columns, bucket, where = '1' }: UnitedOptions,
): { sql: string; params: Readonly<Record<string, unknown>> } {
  const narrowed = { ...table, columns: Object.fromEntries(columns.map((name) => [name, table.columns[name]!])) }
  const names = [...table.keys, ...(bucket === undefined ? [] : ['bucket'])]
  const bucketFrom = (each: string) =>
    bucket === undefined ? [] : [`${typeof bucket === 'number' ? `toInt64(${bucket})` : each} AS bucket`]
  const fromCells = [...table.keys, ...bucketFrom(bucketOfCell), ...columns]
  const fromEvents = [...keysOfEvent(table), ...bucketFrom(bucketStart), countedColumns(narrowed)]
  const groupBy = names.length === 0 ? '' : ` GROUP BY ${names.join(', ')}`
  const given = constantSql(table, cells.atHand, {
    columns,
    name: cells.name,
    ...(bucket !== undefined && {
      bucketOf: ({ at }) => (typeof bucket === 'number' ? bucket : startBefore(bucket, at)),
    }),
  })
  const selects = [
    ...(cells.aggregated === undefined
      ? []
      : [`SELECT ${fromCells.join(', ')} FROM ${table.name} WHERE ${cells.aggregated.sql} AND ${where}`]),
    ...cells.raw.map(
      ({ sql }) =>
        `SELECT ${fromEvents.join(', ')} FROM events WHERE ${sql} AND ${table.events} AND ${where}${groupBy}`,
    ),
    ...(given === undefined ? [] : [`SELECT ${[...names, ...columns].join(', ')} FROM (${given.sql}) WHERE ${where}`]),
  ]
  const params = {
    ...cells.aggregated?.params,
    ...given?.params,
    ...Object.assign({}, ...cells.raw.map((cell) => cell.params)),
    ...(typeof bucket === 'object' && { bucket_starts: bucket }),
  }
  return { sql: `(${selects.join('\nUNION ALL\n')})`, params }
}

/** The last of `starts` that isn't after `at`; before all of them, the first: as `roundDown` has it. */
function startBefore(starts: readonly number[], at: number): number {
  return starts.findLast((start) => start <= at) ?? starts[0]!
}

/** SQL of a column's merged value, or another expression over its merged state. */
export function shown(table: AggregateTable, column: string): string {
  return table.columns[column]!.shown.replaceAll('?', column)
}
