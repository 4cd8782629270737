/** Counts of rows that aren't aggregated, of a range and of the one before it. */
import { moment } from '../../aggregates/row-scope.ts'
import { type ReadableSpan, type Reader, spanParams, within } from './span.ts'

export interface PeriodCounts {
  readonly current: number
  readonly previous: number
}

export interface CountedRows {
  readonly table: string
  /** SQL condition: which of its rows. */
  readonly where?: string
  /** SQL of the count of those for which a condition holds. */
  readonly countIf: (condition: string) => string
}

/** Of a range, and of one that ends where it begins. */
export async function readPeriodCounts(
  ch: Reader,
  span: ReadableSpan,
  previousStart: number,
  { table, where = '1', countIf }: CountedRows,
): Promise<PeriodCounts> {
  const { from: previous_from } = spanParams({ ...span, start: previousStart })
  const isCurrent = `occurred_at >= ${moment('from')}`
  const [row] = await ch.query<PeriodCounts>(
    `SELECT ${countIf(isCurrent)} AS current, ${countIf(`NOT (${isCurrent})`)} AS previous
     FROM ${table} WHERE ${within('previous_from', 'to')} AND ${where}`,
    { ...spanParams(span), previous_from },
  )
  return row ?? { current: 0, previous: 0 }
}
