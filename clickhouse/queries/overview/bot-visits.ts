/** Crawler visits: a count beside the figures of people, in none of them. */
import { moment } from '../../aggregates/row-scope.ts'
import { type ReadableSpan, type Reader, spanParams, within } from './span.ts'

export interface BotVisits {
  readonly current: number
  readonly previous: number
}

/** Of a range, and of one that ends where it begins. */
export async function readBotVisits(ch: Reader, span: ReadableSpan, previousStart: number): Promise<BotVisits> {
  const { from: previous_from } = spanParams({ ...span, start: previousStart }) as { from: number }
  const [row] = await ch.query<BotVisits>(
    `SELECT countIf(occurred_at >= ${moment('from')}) AS current, count() - current AS previous
     FROM bot_visits WHERE ${within('previous_from', 'to')}`,
    { ...spanParams(span), previous_from },
  )
  return row ?? { current: 0, previous: 0 }
}
