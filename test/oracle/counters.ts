/** The counters of `metrics`, of a range. */
import { countDistinct, type EventFact, type Facts, kind, visitorOf } from './facts.ts'
import { type Span, since } from './range.ts'
import { type Counted, type NameOf, type Session, startingIn } from './sessions.ts'

export function inSpan<T extends { occurred_at: number }>(rows: readonly T[], span: Span): T[] {
  return rows.filter((row) => row.occurred_at >= span.start && row.occurred_at < span.end)
}

export function ofKind(events: readonly EventFact[], wanted: number): EventFact[] {
  return events.filter((event) => event.kind === wanted)
}

export function visitorsOf(events: readonly EventFact[]): number {
  return countDistinct(events.map(visitorOf).filter((visitor) => visitor !== ''))
}

/** Distinct sessions, or what else `nameOf` names. */
export function sessionsAmong(events: readonly EventFact[], nameOf: NameOf): number {
  return countDistinct(events.map(nameOf).filter((name) => name !== ''))
}

/** Who and what there was among these events. */
export function presenceOf(events: readonly EventFact[], { nameOf, counted }: Sessions) {
  return {
    visitors: visitorsOf(events),
    sessions: sessionsAmong(events, nameOf),
    pageviews: events.filter(counted.isCountedView).length,
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

/** Means over the sessions that begin in a range or bucket. */
export function ownFacts(starting: readonly Session[]) {
  const durationMs = starting.reduce((sum, session) => sum + session.durationMs, 0)
  return {
    bounce_rate: perCent(starting.filter(({ isBounce }) => isBounce).length, starting.length),
    average_session_seconds: twoDecimals(durationMs, starting.length * 1000),
  }
}

/** All sessions there are, and their names. */
export interface Sessions {
  readonly all: readonly Session[]
  readonly nameOf: NameOf
  readonly counted: Counted
}

/** The first moment of what is in any figure. */
export interface Readable {
  readonly events: number
  readonly botVisits: number
}

export function countersOf(facts: Facts, sessions: Sessions, asked: Span, readable: Readable) {
  const span = since(readable.events, asked)
  const events = inSpan(facts.events, span)
  const presence = presenceOf(events, sessions)
  return {
    ...presence,
    events: events.filter(sessions.counted.isCountedEvent).length,
    conversion_rate: perCent(visitorsOf(ofKind(events, kind.conversion)), presence.visitors),
    revenue_cents: 0,
    ...ownFacts(startingIn(sessions.all, span)),
    pages_per_session: twoDecimals(presence.pageviews, presence.sessions),
    new_contacts: newContacts(facts, span),
    bot_visits: inSpan(facts.botVisits, since(readable.botVisits, asked)).length,
    link_clicks: 0,
  }
}

function newContacts(facts: Facts, span: Span): number {
  const addresses = [...new Set(facts.emails.map(({ email }) => email))]
  const firsts = addresses.map((address) =>
    Math.min(...facts.emails.filter(({ email }) => email === address).map(({ occurredAt }) => occurredAt)),
  )
  return firsts.filter((first) => first >= span.start && first < span.end).length
}
