/** Crawler visits: a count beside the figures of people, in none of them. */
import { type PeriodCounts, readPeriodCounts } from './periods.ts'
import type { ReadableSpan, Reader } from './span.ts'

/** Of a range, and of one that ends where it begins. */
export function readBotVisits(ch: Reader, span: ReadableSpan, previousStart: number): Promise<PeriodCounts> {
  const countIf = (condition: string) => `countIf(${condition})`
  return readPeriodCounts(ch, span, previousStart, { table: 'bot_visits', countIf })
}
