/** Conversions as they are credited, and the touches that they could be credited to. */
import type { Touch } from '../../schemas/event/touch.ts'
import type { Span } from '../../schemas/time/time-range.ts'
import { eventMs, isTouch, moment } from '../rollups/event-sql.ts'
import { type EventPoint, isBeforePoint, pointParams } from './event-point.ts'
import { inBuild, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { hoursOfVisitors, pairsIn } from './people/copy-events.ts'
import type { Reader } from './reader.ts'
import { newestTouchesBefore, spanOfTouches } from './touches-before.ts'

export interface CreditsRequest extends Span {
  readonly workspaceId: number
  readonly build: number
  /** The local days of the span. */
  readonly days: { readonly from: number; readonly to: number }
  /** Only those behind it. */
  readonly before: EventPoint
  readonly limit: number
}

/** Moments in milliseconds. */
export interface CreditedConversion {
  readonly id: number
  readonly at: number
  /** Decimal text; '0' of a server event. */
  readonly visitor: string
  readonly rule: 'touch' | 'session' | 'event'
  readonly source: string
  readonly medium: string
  readonly touchedAt: number
}

/** The newest ones of a span, newest first. */
export function readCredits(ch: Reader, request: CreditsRequest): Promise<CreditedConversion[]> {
  const { workspaceId, build, days, start, end, before, limit } = request
  return ch.query<CreditedConversion>(
    `WITH ${coverageSql} AS coverage
     SELECT id, toUnixTimestamp64Milli(credits.occurred_at) AS at, toString(credits.visitor) AS visitor, rule, toString(credits.source) AS source,
       toString(credits.medium) AS medium, toUnixTimestamp64Milli(touched_at) AS touchedAt
     FROM credits FINAL
     WHERE ${inBuild} AND day >= {from_day:UInt16} AND day <= {to_day:UInt16}
       AND credits.occurred_at >= ${moment('start')} AND credits.occurred_at < ${moment('end')} AND ${isBeforePoint('credits.occurred_at')} AND ${isFolded}
     ORDER BY credits.occurred_at DESC, id DESC LIMIT {limit:UInt32}`,
    { workspace: workspaceId, build, from_day: days.from, to_day: days.to, start, end, ...pointParams(before), limit },
  )
}

export interface VisitorTouch extends Touch {
  readonly id: number
  readonly visitor: string
}

/** Touches of these conversions' visitors, newest first: of each conversion those that are shown. */
export async function readTouchesBefore(
  ch: Reader,
  { workspaceId, build }: Pick<CreditsRequest, 'workspaceId' | 'build'>,
  conversions: readonly CreditedConversion[],
): Promise<VisitorTouch[]> {
  const own = conversions.filter(({ visitor }) => visitor !== '0').map((one) => ({ ...one, whose: one.visitor }))
  if (own.length === 0) return []
  const visitors = [...new Set(own.map(({ visitor }) => visitor))]
  const chosen = pairsIn(
    visitors.map((visitor) => [workspaceId, visitor]),
    'chosen',
  )
  const touches = newestTouchesBefore(
    `SELECT events.visitor AS whose, id, ${eventMs} AS at, toString(events.visitor) AS visitor, toString(events.source) AS source,
       toString(events.medium) AS medium, toString(events.campaign) AS campaign, toString(events.content) AS content
     FROM events
     WHERE (workspace_id, toStartOfHour(occurred_at), events.visitor) IN (${hoursOfVisitors(chosen.sql, 'build = {build:UInt32}')})
       AND occurred_at >= ${moment('start')} AND occurred_at <= ${moment('end')} AND events.${isTouch}`,
    own,
  )
  return ch.query<VisitorTouch>(touches.sql, { ...chosen.params, ...touches.params, build, ...spanOfTouches(own) })
}
