/** Top sources, top pages and breakdowns, all their rows in order: the caller takes the first. */

import { ofKind, ownFacts, perCent, sessionsAmong, visitorsOf } from './counters.ts'
import { byTime, countDistinct, type EventFact, groupBy, kind, visitorOf } from './facts.ts'
import type { Channel, Counted, NameOf, Session } from './sessions.ts'

/** By code point: UTF-8 keeps that order, JavaScript's own comparison doesn't. */
export function byText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function sum(sessions: readonly Session[], count: (session: Session) => number): number {
  return sessions.reduce((total, session) => total + count(session), 0)
}

/** `credits`: what each conversion in range is credited to. `starting`: the sessions that start in range. */
export function topSources(starting: readonly Session[], credits: readonly Channel[]) {
  const keyOf = ({ source, medium }: Channel) => JSON.stringify([source, medium])
  const sessionsByKey = groupBy(starting, keyOf)
  const creditsByKey = groupBy(credits, keyOf)
  const keys = [...new Set([...sessionsByKey.keys(), ...creditsByKey.keys()])]
  return keys
    .map((key) => {
      const [source, medium] = JSON.parse(key) as [string, string]
      const sessions = sessionsByKey.get(key) ?? []
      return {
        source,
        medium,
        visitors: countDistinct(sessions.map(({ visitor }) => visitor)),
        sessions: sessions.length,
        pageviews: sum(sessions, ({ pageviews }) => pageviews),
        events: sum(sessions, ({ events }) => events),
        conversions: creditsByKey.get(key)?.length ?? 0,
      }
    })
    .sort(
      (a, b) =>
        b.visitors - a.visitors ||
        b.conversions - a.conversions ||
        byText(a.source, b.source) ||
        byText(a.medium, b.medium),
    )
}

/** `events`: those in range; `viewed`: all pageviews in range. `pageSessionName` names the sessions of a page. */
export function topPages(
  events: readonly EventFact[],
  viewed: readonly EventFact[],
  starting: readonly Session[],
  pageSessionName: NameOf,
  { isCountedView }: Counted,
) {
  const conversions = ofKind(events, kind.conversion)
  const titled = viewed.filter(({ title }) => title !== '').sort(byTime)
  const titleOf = (path: string) => titled.findLast((view) => view.path === path)?.title ?? ''
  return [...groupBy(events.filter(isCountedView), ({ path }) => path)]
    .map(([path, views]) => {
      const entered = starting.filter(({ entryPath }) => entryPath === path)
      return {
        path,
        title: titleOf(path),
        pageviews: views.length,
        visitors: visitorsOf(views),
        sessions: sessionsAmong(views, pageSessionName),
        conversions: conversions.filter((conversion) => conversion.path === path).length,
        bounce_rate: perCent(entered.filter(({ isBounce }) => isBounce).length, entered.length),
      }
    })
    .sort((a, b) => b.pageviews - a.pageviews || byText(a.path, b.path))
}

type Described = Pick<EventFact, 'device' | 'browser' | 'country'>

const deviceKeys = ['unknown', 'desktop', 'mobile', 'tablet', 'other']

export const breakdownKeys = {
  devices: ({ device }: Described) => deviceKeys[device]!,
  browsers: ({ browser }: Described) => (browser === '' ? 'unknown' : browser),
  countries: ({ country }: Described) => (country === '\0\0' ? 'unknown' : country),
} as const

/** `events`: those in range. */
export function breakdown(
  events: readonly EventFact[],
  starting: readonly Session[],
  keyOf: (described: Described) => string,
) {
  const conversions = groupBy(ofKind(events, kind.conversion), keyOf)
  const sessionsByKey = groupBy(starting, keyOf)
  return [...new Set([...conversions.keys(), ...sessionsByKey.keys()])]
    .map((key) => {
      const sessions = sessionsByKey.get(key) ?? []
      return {
        key,
        visitors: countDistinct(sessions.map(({ visitor }) => visitor)),
        pageviews: sum(sessions, ({ pageviews }) => pageviews),
        sessions: sessions.length,
        conversions: conversions.get(key)?.length ?? 0,
      }
    })
    .sort((a, b) => b.visitors - a.visitors || b.conversions - a.conversions || byText(a.key, b.key))
}

/** Sessions that start in range, by a page of each; empty for none. */
export function sessionsByPage(starting: readonly Session[], pageOf: (session: Session) => string | undefined) {
  return [...groupBy(starting, (session) => pageOf(session) ?? '')]
    .map(([key, sessions]) => ({
      key,
      visitors: countDistinct(sessions.map(({ visitor }) => visitor)),
      sessions: sessions.length,
      ...ownFacts(sessions),
    }))
    .sort((a, b) => b.visitors - a.visitors || b.sessions - a.sessions || byText(a.key, b.key))
}

/** Visitors that were live at `now`. */
export function liveVisitors(events: readonly EventFact[], now: number): number {
  return countDistinct(
    events
      .filter((event) => event.occurred_at >= now - 5 * 60 * 1000 && event.occurred_at <= now)
      .map(visitorOf)
      .filter((visitor) => visitor !== ''),
  )
}
