/**
 * Divides a period into pieces that are counted alike:
 *
 *   start ──── midnight ─────────── midnight ──── end
 *     cutStart      whole local days       cutEnd
 *
 * A period from a local midnight has no cut start. One that reaches to the present has no cut end: no event is later.
 */
import { localDays } from '../../../schemas/time/local-days.ts'
import type { Span } from '../../../schemas/time/time-range.ts'

/** Local days since 1970; both ends belong to it. Empty where `to` is before `from`. */
export interface DaySpan {
  readonly from: number
  readonly to: number
}

export interface Pieces extends Span {
  /** The local day in which the period begins: who was seen before it is new to the period. */
  readonly sinceDay: number
  readonly cutStart: Span | undefined
  /** Days that are counted whole. */
  readonly days: DaySpan
  readonly cutEnd: (Span & { readonly day: number }) | undefined
  /** Where a local day of the period begins. */
  startOf(day: number): number
}

/** @returns undefined where nothing of the period is readable */
export function divide(
  { start: askedStart, end }: Span,
  { timezone, readableFrom, endsNow }: { timezone: string; readableFrom: number; endsNow: boolean },
): Pieces | undefined {
  const start = Math.max(askedStart, readableFrom)
  if (start >= end) return undefined
  const calendar = localDays(timezone, start, end)
  const [first, last] = [calendar.dayOf(start), calendar.dayOf(end - 1)]
  const endOfDay = (day: number) => calendar.starts[calendar.numbers.indexOf(day) + 1]!
  const isStartWhole = start === calendar.startOf(first)
  const isEndWhole = endsNow || end === endOfDay(last)
  // A period that reaches to the present goes on to its day's end, so that all queries of an answer see the same events.
  const period = { start, end: endsNow ? endOfDay(last) : end, sinceDay: first, startOf: calendar.startOf }
  if (first === last && !(isStartWhole && isEndWhole)) {
    if (isStartWhole) return { ...period, cutStart: undefined, days: none, cutEnd: { start, end, day: last } }
    return { ...period, cutStart: { start, end: period.end }, days: none, cutEnd: undefined }
  }
  return {
    ...period,
    cutStart: isStartWhole ? undefined : { start, end: endOfDay(first) },
    days: { from: isStartWhole ? first : first + 1, to: isEndWhole ? last : last - 1 },
    cutEnd: isEndWhole ? undefined : { start: calendar.startOf(last), end, day: last },
  }
}

const none: DaySpan = { from: 1, to: 0 }
