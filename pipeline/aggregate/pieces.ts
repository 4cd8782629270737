/**
 * Divides what new rows change into statements of a bounded size, by the hours that they write: each session and each
 * conversion is evaluated by exactly one statement.
 */
import type { RowScope } from '../../clickhouse/aggregates/row-scope.ts'
import {
  aggregateKeysPerDayMax,
  aggregateRunRowsMax,
  aggregateStatementDaysMax,
  aggregateStatementRowsMax,
  segmentRowsMax,
} from '../../schemas/limits.ts'

/** How large a piece of work may be: smaller ones only in tests, which have few rows. */
export interface WorkSizes {
  /** Rows that one run takes up. */
  readonly runRows: number
  /** Ids among which rows are counted together to find where a run's share ends. */
  readonly sliceIds: number
  /** Rows that one statement has to do with. */
  readonly statementRows: number
  /** Hours of workspaces of one UTC day that are computed anew one by one: of more, all of the day is. */
  readonly dayKeys: number
}

export const usualSizes: WorkSizes = {
  runRows: aggregateRunRowsMax,
  sliceIds: 8 * segmentRowsMax,
  statementRows: aggregateStatementRowsMax,
  dayKeys: aggregateKeysPerDayMax,
}

/** New rows of one UTC day. */
export interface DeltaDay {
  /** Since 1970, as the hours. */
  readonly day: number
  readonly rows: number
  readonly firstHour: number
  readonly lastHour: number
  /** Time of the latest; milliseconds since 1970. */
  readonly lastAt: number
}

export interface Piece extends Pick<RowScope, 'hours' | 'part'> {
  /** None of its days has aggregates yet. */
  readonly isNew: boolean
}

export interface Division {
  readonly days: readonly DeltaDay[]
  /** A new row changes what belongs to hours from so many before its own … */
  readonly hoursBefore: number
  /** … to so many after it. */
  readonly hoursAfter: number
  /** Days that have aggregates. */
  readonly liveDays: ReadonlySet<number>
  /** Hours between two pieces of work that may still be one statement. */
  readonly gapMax: number
  /** Rows that one statement has to do with. */
  readonly rowsMax: number
}

export function dividePieces(division: Division): Piece[] {
  const pieces: (Piece & Pick<Slice, 'rows'>)[] = []
  for (const slice of slicesOf(division)) {
    const open = pieces.at(-1)
    if (slice.seenRows > 2 * division.rowsMax) {
      const of = Math.ceil(slice.seenRows / (2 * division.rowsMax))
      for (let remainder = 0; remainder < of; remainder++) pieces.push({ ...slice, part: { remainder, of } })
    } else if (
      open?.part === undefined &&
      open?.isNew === slice.isNew &&
      open.rows + slice.rows <= division.rowsMax &&
      slice.hours.end - open.hours.start <= aggregateStatementDaysMax * 24 &&
      slice.hours.start - open.hours.end <= division.gapMax
    ) {
      pieces[pieces.length - 1] = {
        ...open,
        hours: { start: open.hours.start, end: slice.hours.end },
        rows: open.rows + slice.rows,
      }
    } else {
      pieces.push(slice)
    }
  }
  return pieces.map(({ hours, part, isNew }) => ({ hours, isNew, ...(part === undefined ? {} : { part }) }))
}

interface Slice extends Piece {
  readonly rows: number
  /** With those of neighbouring days that are looked at. */
  readonly seenRows: number
}

/** The hours that are written, cut by days, without days that have no row at all. */
function slicesOf({ days, hoursBefore, hoursAfter, liveDays, rowsMax }: Division): Slice[] {
  const rowsOf = new Map(days.map(({ day, rows }) => [day, rows]))
  const total = days.reduce((sum, { rows }) => sum + rows, 0)
  // Apart from the others they are cheaper, but a statement more.
  const isWorthApart = total > rowsMax / 10
  const slices = new Map<number, { start: number; end: number }>()
  for (const { firstHour, lastHour } of days) {
    const end = lastHour + 1 + hoursAfter
    for (let start = Math.max(0, firstHour - hoursBefore); start < end; ) {
      const day = Math.floor(start / 24)
      const until = Math.min(end, (day + 1) * 24)
      const slice = slices.get(day)
      if (slice === undefined) slices.set(day, { start, end: until })
      else slices.set(day, { start: Math.min(slice.start, start), end: Math.max(slice.end, until) })
      start = until
    }
  }
  const reach = Math.min(1, hoursBefore)
  return [...slices]
    .filter(([day]) => liveDays.has(day) || rowsOf.has(day))
    .sort(([a], [b]) => a - b)
    .map(([day, hours]) => {
      let seenRows = 0
      for (let near = day - reach; near <= day + reach; near++) seenRows += rowsOf.get(near) ?? 0
      return { hours, isNew: isWorthApart && !liveDays.has(day), rows: rowsOf.get(day) ?? 0, seenRows }
    })
}
