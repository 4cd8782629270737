/**
 * Sessions with their own facts, and the credit of conversions. A session is a distinct pair of visitor and session id.
 * A pair that is silent for a whole local day counts anew. A session is a chain of the pair: a maximal run of
 * consecutive local days with its events.
 */
import { byTime, channelOf, day, type EventFact, type Facts, groupBy, kind, pairOf, visitorOf } from './facts.ts'
import { localDay } from './local-time.ts'
import type { Span } from './range.ts'

export interface Session {
  readonly visitor: string
  /** Its first event. */
  readonly entry: EventFact
  readonly source: string
  readonly medium: string
  readonly device: number
  readonly browser: string
  readonly country: string
  readonly startsAt: number
  readonly durationMs: number
  readonly pageviews: number
  readonly events: number
  /** First and last page; undefined without a pageview. */
  readonly entryPath: string | undefined
  readonly exitPath: string | undefined
  readonly isBounce: boolean
}

export interface Channel {
  readonly source: string
  readonly medium: string
}

/** The name of what an event counts as: equal for two events of one session. Empty where it counts as none. */
export type NameOf = (event: EventFact) => string

export function sessionNames(events: readonly EventFact[], timezone: string): NameOf {
  return chainNames(events, timezone, pairOf)
}

/** Names the sessions of a page, by these pageviews: those of a pair and path, in chains of their own. */
export function pageSessionNames(pageviews: readonly EventFact[], timezone: string): NameOf {
  return chainNames(pageviews, timezone, (event) =>
    pairOf(event) === '' ? '' : JSON.stringify([pairOf(event), event.path]),
  )
}

/** Names an event by `keyOf` and the first day of its chain. */
function chainNames(events: readonly EventFact[], timezone: string, keyOf: NameOf): NameOf {
  const dayOf = (event: EventFact) => localDay(timezone, event.occurred_at)
  const daysByKey = new Map([...groupBy(events, keyOf)].map(([key, members]) => [key, new Set(members.map(dayOf))]))
  return (event) => {
    const key = keyOf(event)
    if (key === '') return ''
    const days = daysByKey.get(key)!
    let first = dayOf(event)
    while (days.has(first - day)) first -= day
    return `${key} ${first}`
  }
}

/** Which pageviews and events are counted: filters may want some alone. */
export interface Counted {
  isCountedView(event: EventFact): boolean
  isCountedEvent(event: EventFact): boolean
}

export const allCounted: Counted = {
  isCountedView: (event) => event.kind === kind.pageview,
  isCountedEvent: () => true,
}

/** All sessions of these events, whole. */
export function sessionsOf(events: readonly EventFact[], timezone: string, counted = allCounted): Session[] {
  const chains = groupBy(events, sessionNames(events, timezone))
  chains.delete('')
  return [...chains.values()].map((members) => describe(members.sort(byTime), timezone, counted))
}

export function startingIn(sessions: readonly Session[], span: Span): Session[] {
  return sessions.filter(({ startsAt }) => startsAt >= span.start && startsAt < span.end)
}

/** Facts are those of the chain's first two local days: sessions are meant for 24 hours at most. */
function describe(chain: readonly EventFact[], timezone: string, counted: Counted): Session {
  const first = chain[0]!
  const lastDay = localDay(timezone, first.occurred_at) + day
  const members = chain.filter((event) => localDay(timezone, event.occurred_at) <= lastDay)
  const pageviews = members.filter((event) => event.kind === kind.pageview)
  const engagementMs = members.reduce((sum, event) => sum + event.engagement_ms, 0)
  const has = (wanted: number) => members.some((event) => event.kind === wanted)
  return {
    visitor: visitorOf(first),
    entry: first,
    ...channelOf(first),
    device: first.device,
    browser: first.browser,
    country: first.country,
    startsAt: first.occurred_at,
    durationMs: members.at(-1)!.occurred_at - first.occurred_at,
    pageviews: members.filter(counted.isCountedView).length,
    events: members.filter(counted.isCountedEvent).length,
    entryPath: pageviews[0]?.path,
    exitPath: pageviews.at(-1)?.path,
    isBounce: pageviews.length === 1 && !has(kind.conversion) && !has(kind.custom) && engagementMs < 10_000,
  }
}

/** Source and medium that a conversion is credited to. `facts`: all there are. */
export function creditOf(conversion: EventFact, facts: PeopleFacts, timezone: string): Channel {
  const { events } = facts
  const visitor = visitorOf(conversion)
  const contact = visitor === '' ? contactOf(conversion, facts) : 0
  if (visitor === '' && contact === 0) return channelOf(conversion)
  const isOwn = (event: EventFact) =>
    visitor === '' ? contactOf(event, facts) === contact : visitorOf(event) === visitor
  const touch = events
    .filter((event) => isOwn(event) && channelOf(event).source !== 'direct')
    .filter((event) => byTime(event, conversion) <= 0 && event.occurred_at >= conversion.occurred_at - 30 * day)
    .sort(byTime)
    .at(-1)
  if (visitor === '') return channelOf(touch ?? conversion)
  return channelOf(touch ?? entryOf(conversion, events, timezone))
}

type PeopleFacts = Pick<Facts, 'events' | 'contacts' | 'bindings'>

/** Whose an event is: the contact of its own e-mail, else the one that its browser is bound to then. 0: nobody's. */
function contactOf(event: EventFact, { contacts, bindings }: PeopleFacts): number {
  if (event.email_hash.hi === 0 && contacts.includes(event.email_hash.lo)) return event.email_hash.lo
  const ofBrowser = bindings
    .filter(({ visitor }) => visitor.hi === event.visitor.hi && visitor.lo === event.visitor.lo)
    .sort((a, b) => a.from - b.from)
  const before = ofBrowser.filter(({ from }) => from <= event.occurred_at)
  return (before.at(-1) ?? ofBrowser[0])?.contact ?? 0
}

/** The first event of the conversion's visitor and session id on the local day before it, else on its own. */
function entryOf(conversion: EventFact, events: readonly EventFact[], timezone: string): EventFact {
  const ownDay = localDay(timezone, conversion.occurred_at)
  const ofPair = events.filter((event) => pairOf(event) === pairOf(conversion)).sort(byTime)
  const firstOn = (date: number) => ofPair.find((event) => localDay(timezone, event.occurred_at) === date)
  return firstOn(ownDay - day) ?? firstOn(ownDay)!
}
