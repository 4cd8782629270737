/** The overview for filtered sessions, from plain rows: docs/metrics.md, "Filters". */
import { channelOf as channelGroupOf } from '../../schemas/reference/channels.ts'
import {
  byTime,
  channelOf,
  day,
  type EventFact,
  type Facts,
  type FilterName,
  groupBy,
  kind,
  type OverviewQuery,
  visitorOf,
} from './facts.ts'
import { breakdownKeys } from './lists.ts'
import { localDay } from './local-time.ts'
import { sessionNames } from './sessions.ts'

type Filters = NonNullable<OverviewQuery['filters']>

export interface Filtered {
  /** Events of the chosen sessions, as far as a session goes. */
  readonly events: readonly EventFact[]
  readonly isCountedView: (event: EventFact) => boolean
  readonly isCountedEvent: (event: EventFact) => boolean
}

export function filterFacts({ events }: Pick<Facts, 'events'>, filters: Filters, timezone: string): Filtered {
  const nameOf = sessionNames(events, timezone)
  const chains = groupBy(
    events.filter((event) => visitorOf(event) !== ''),
    nameOf,
  )
  const chosen = [...chains.values()]
    .map((chain) => firstTwoDays(chain, timezone))
    .filter((one) => isChosen(one, filters))
  const isWanted = (name: FilterName, text: string) => {
    const wanted = (filters[name] ?? []).filter((value) => !value.startsWith('!'))
    return wanted.length === 0 || wanted.some((value) => fits(value, text))
  }
  return {
    events: chosen.flat(),
    isCountedView: (event) => event.kind === kind.pageview && isWanted('path', event.path),
    isCountedEvent: (event) => isWanted('event', event.event_name),
  }
}

function firstTwoDays(chain: readonly EventFact[], timezone: string): EventFact[] {
  const ordered = [...chain].sort(byTime)
  const lastDay = localDay(timezone, ordered[0]!.occurred_at) + day
  return ordered.filter((event) => localDay(timezone, event.occurred_at) <= lastDay)
}

function isChosen(session: readonly EventFact[], filters: Filters): boolean {
  return (Object.entries(filters) as [FilterName, readonly string[]][]).every(([name, values]) => {
    if (name === 'event_property') return hasProperties(session, values, filters.event ?? [])
    const texts = textsOf(name, session)
    const has = (value: string) => texts.some((text) => fits(value, text))
    const [wanted, unwanted] = [
      values.filter((one) => !one.startsWith('!')),
      values.filter((one) => one.startsWith('!')),
    ]
    return (wanted.length === 0 || wanted.some(has)) && !unwanted.some((value) => has(value.slice(1)))
  })
}

/** Values of one property are alternatives; each property has to fit, in an event that the filter of events names. */
function hasProperties(session: readonly EventFact[], values: readonly string[], names: readonly string[]): boolean {
  const named = names.filter((name) => !name.startsWith('!'))
  const looked = session.filter(({ event_name }) => named.length === 0 || named.some((name) => fits(name, event_name)))
  const has = (value: string) => {
    const [, name, pattern] = /^!?(\w+):(.*)$/.exec(value)!
    const found = looked.map(({ properties }) => JSON.parse(properties)[name!]).filter((one) => one !== undefined)
    return found.some((one) => fits(pattern!, typeof one === 'string' ? one : JSON.stringify(one)))
  }
  const wanted = groupBy(
    values.filter((value) => !value.startsWith('!')),
    (value) => value.split(':')[0]!,
  )
  const unwanted = values.filter((value) => value.startsWith('!'))
  return [...wanted.values()].every((some) => some.some(has)) && !unwanted.some(has)
}

/** The texts of a session that a filter looks at. */
function textsOf(name: Exclude<FilterName, 'event_property'>, session: readonly EventFact[]): string[] {
  const entry = session[0]!
  const views = session.filter((event) => event.kind === kind.pageview)
  const { source, medium } = channelOf(entry)
  switch (name) {
    case 'source':
      return [source]
    case 'medium':
      return [medium]
    case 'channel':
      return [channelGroupOf(source, medium)]
    case 'campaign':
      return [entry.campaign]
    case 'entry_path':
      return [views[0]?.path ?? '']
    case 'exit_path':
      return [views.at(-1)?.path ?? '']
    case 'device':
      return [breakdownKeys.devices(entry)]
    case 'browser':
      return [breakdownKeys.browsers(entry)]
    case 'os':
      return [entry.os === '' ? 'unknown' : entry.os]
    case 'country':
      return [breakdownKeys.countries(entry)]
    case 'region':
      return [entry.region || 'unknown']
    case 'city':
      return [entry.city === '' ? 'unknown' : `${entry.city}, ${entry.region || entry.country}`]
    case 'path':
      return views.map(({ path }) => path)
    case 'hostname':
      return views.map(({ url }) => /^https:\/\/([^/]*)/.exec(url)?.[1] ?? '')
    case 'event':
      return session.map(({ event_name }) => event_name)
  }
}

/** `*` is any text, and behind a backslash a star; the tests have no other signs. */
export function fits(pattern: string, text: string): boolean {
  const parts = pattern
    .split(/(?<!\\)\*/)
    .map((part) => part.replace(/\\(.)/g, '$1').replace(/[.?+*^$()[\]{}|\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*')}$`, 'u').test(text)
}
