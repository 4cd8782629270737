/** Crawler visits of a range: a count beside the figures of people, in none of them. */
import { inRange, type ReadableSpan, type Reader, spanParams } from './span.ts'

export async function readBotVisits(ch: Reader, span: ReadableSpan): Promise<number> {
  const [row] = await ch.query<{ visits: number }>(
    `SELECT count() AS visits FROM bot_visits WHERE ${inRange}`,
    spanParams(span),
  )
  return row?.visits ?? 0
}
