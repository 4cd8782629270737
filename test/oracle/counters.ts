/** The counters of `metrics`, of a range. */
import { countDistinct, type EventFact, type Facts, kind, sessionOf, visitorOf } from './facts.ts'
import type { Span } from './range.ts'
import { type Session, startingIn } from './sessions.ts'

export interface Counters {
  readonly visitors: number
  readonly pageviews: number
  readonly sessions: number
  readonly events: number
  readonly conversions: number
  readonly conversion_rate: number
  readonly revenue_cents: number
  readonly bounce_rate: number
  readonly average_session_seconds: number
  readonly pages_per_session: number
  readonly new_contacts: number
  readonly bot_visits: number
  readonly link_clicks: number
}

export interface Presence {
  readonly visitors: number
  readonly sessions: number
  readonly pageviews: number
  readonly conversions: number
}

export function inSpan<T extends { occurred_at: number }>(rows: readonly T[], span: Span): T[] {
  return rows.filter((row) => row.occurred_at >= span.start && row.occurred_at < span.end)
}

export function ofKind(events: readonly EventFact[], wanted: number): EventFact[] {
  return events.filter((event) => event.kind === wanted)
}

export function visitorsOf(events: readonly EventFact[]): number {
  return countDistinct(events.map(visitorOf).filter((visitor) => visitor !== ''))
}

/** Who and what there was among these events. */
export function presenceOf(events: readonly EventFact[]): Presence {
  return {
    visitors: visitorsOf(events),
    sessions: countDistinct(events.map(sessionOf).filter((session) => session !== 0)),
    pageviews: ofKind(events, kind.pageview).length,
    conversions: ofKind(events, kind.conversion).length,
  }
}

/** A quotient of whole numbers with two decimals, half up; 0 where the divisor is 0. Exact, by whole numbers only. */
export function twoDecimals(dividend: number, divisor: number): number {
  if (divisor === 0) return 0
  const [above, below] = [BigInt(dividend) * 200n + BigInt(divisor), BigInt(divisor) * 2n]
  return Number(above / below) / 100
}

export function perCent(part: number, whole: number): number {
  return twoDecimals(part * 100, whole)
}

/** `facts.events` are the readable ones; `firstBotVisitAt` is the earliest time of a bot visit that counts. */
export function countersOf(
  facts: Facts,
  sessions: Map<number, Session>,
  span: Span,
  readable: { readonly events: number; readonly botVisits: number },
): Counters {
  const events = inSpan(facts.events, span)
  const presence = presenceOf(events)
  const starting = startingIn(sessions, span)
  const durationMs = starting.reduce((sum, session) => sum + session.durationMs, 0)
  return {
    ...presence,
    events: events.length,
    conversion_rate: perCent(visitorsOf(ofKind(events, kind.conversion)), presence.visitors),
    revenue_cents: 0,
    bounce_rate: perCent(starting.filter(({ isBounce }) => isBounce).length, starting.length),
    average_session_seconds: twoDecimals(durationMs, starting.length * 1000),
    pages_per_session: twoDecimals(presence.pageviews, presence.sessions),
    new_contacts: newContacts(facts, span, readable.events),
    bot_visits: inSpan(facts.botVisits, span).filter((visit) => visit.occurred_at >= readable.botVisits).length,
    link_clicks: 0,
  }
}

function newContacts(facts: Facts, span: Span, readableFrom: number): number {
  const addresses = [...new Set(facts.emails.map(({ email }) => email))]
  const firsts = addresses.map((address) =>
    Math.min(...facts.emails.filter(({ email }) => email === address).map(({ occurredAt }) => occurredAt)),
  )
  return firsts.filter((first) => first >= span.start && first < span.end && first >= readableFrom).length
}
