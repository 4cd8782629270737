/** How a period is divided into days that are read from cells and spans that are read from events. */
import type { Span } from '../../../schemas/time/time-range.ts'
import { type CellDays, closedDays, isSome, staleDays } from './figure-parts.ts'
import type { DaySpan, Pieces } from './pieces.ts'

export interface DaysAndSpans {
  /** Days whose cells are read, but for the stale ones. */
  readonly days: DaySpan
  readonly staleDays: readonly number[]
  /** The spans that are read from events, in order. */
  readonly spans: readonly Span[]
}

const noDays = { from: 1, to: 0 }

/** Hours are read from events alone. */
export function spansOf(pieces: Pieces | undefined, cells: CellDays, hasDayBuckets: boolean): DaysAndSpans {
  if (pieces === undefined) return { days: noDays, staleDays: [], spans: [] }
  const { start, end, cutStart, days, cutEnd } = pieces
  const closed = closedDays(days, cells)
  if (!hasDayBuckets || !isSome(closed)) return { days: noDays, staleDays: [], spans: [{ start, end }] }
  const stale = staleDays(days, cells)
  const ofStale = stale.map((day): Span => ({ start: pieces.startOf(day), end: pieces.startOf(day + 1) }))
  const afterClosed: Span = { start: pieces.startOf(closed.to + 1), end }
  const isMore = closed.to < days.to || cutEnd !== undefined
  const spans = [...(cutStart ? [cutStart] : []), ...ofStale, ...(isMore ? [afterClosed] : [])]
  return { days: closed, staleDays: stale, spans: joined(spans) }
}

/** Spans that follow one another become one. */
function joined(spans: readonly Span[]): Span[] {
  const all: Span[] = []
  for (const span of spans) {
    const last = all.at(-1)
    if (last?.end === span.start) all.splice(-1, 1, { start: last.start, end: span.end })
    else all.push(span)
  }
  return all
}
