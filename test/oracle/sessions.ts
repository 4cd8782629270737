/** Sessions with their own facts, and the credit of conversions. */
import { byTime, channelOf, day, type EventFact, groupBy, hour, kind, sessionOf, visitorOf } from './facts.ts'
import type { Span } from './range.ts'

export interface Session {
  readonly visitor: string
  readonly source: string
  readonly medium: string
  readonly device: number
  readonly browser: string
  readonly country: string
  readonly startsAt: number
  readonly durationMs: number
  readonly pageviews: number
  readonly events: number
  /** Undefined without a pageview. */
  readonly entryPath: string | undefined
  readonly isBounce: boolean
}

export interface Channel {
  readonly source: string
  readonly medium: string
}

/** All sessions around the range, whole: those that start in it and others, by their number. */
export function sessionsAround(events: readonly EventFact[], span: Span): Map<number, Session> {
  const near = events.filter(
    (event) =>
      event.occurred_at >= span.start - 24 * hour && event.occurred_at < span.end + 24 * hour && sessionOf(event) !== 0,
  )
  const sessions = new Map<number, Session>()
  for (const [number, members] of groupBy(near, sessionOf)) sessions.set(number, describe(members.sort(byTime)))
  return sessions
}

export function startingIn(sessions: Map<number, Session>, span: Span): Session[] {
  return [...sessions.values()].filter(({ startsAt }) => startsAt >= span.start && startsAt < span.end)
}

function describe(members: readonly EventFact[]): Session {
  const first = members[0]!
  const pageviews = members.filter((event) => event.kind === kind.pageview)
  const engagementMs = members.reduce((sum, event) => sum + event.engagement_ms, 0)
  const has = (wanted: number) => members.some((event) => event.kind === wanted)
  return {
    visitor: visitorOf(first),
    ...channelOf(first),
    device: first.device,
    browser: first.browser,
    country: first.country,
    startsAt: first.occurred_at,
    durationMs: members.at(-1)!.occurred_at - first.occurred_at,
    pageviews: pageviews.length,
    events: members.length,
    entryPath: pageviews[0]?.path,
    isBounce: pageviews.length === 1 && !has(kind.conversion) && !has(kind.custom) && engagementMs < 10_000,
  }
}

/** Source and medium that a conversion is credited to. */
export function creditOf(conversion: EventFact, events: readonly EventFact[], sessions: Map<number, Session>): Channel {
  const visitor = visitorOf(conversion)
  if (visitor === '') return channelOf(conversion)
  const touch = events
    .filter((event) => visitorOf(event) === visitor && channelOf(event).source !== 'direct')
    .filter((event) => byTime(event, conversion) <= 0 && event.occurred_at >= conversion.occurred_at - 30 * day)
    .sort(byTime)
    .at(-1)
  return touch ? channelOf(touch) : sessions.get(sessionOf(conversion))!
}
