/**
 * Visits of Matomo, as its reporting API answers `Live.getLastVisitsDetails` in JSON. Its field names are those of
 * Matomo's plugins Live, Actions, Events, Goals, Ecommerce and Referrers. A visit is a session, its `actionDetails` are
 * the events. Numbers come as such or as texts, depending on the version.
 */

import { isObject } from '../../schemas/json-object.ts'
import {
  eventNameLengthMax,
  identifierLengthMax,
  languageLengthMax,
  titleLengthMax,
  urlLengthMax,
} from '../../schemas/limits/event-limits.ts'
import {
  cut,
  type ImportedEvent,
  type Mapped,
  type NotTaken,
  nameOf,
  numberOf,
  textOf,
  widthOf,
  withoutUndefined,
} from './imported-event.ts'
import { browserNamed, deviceNamed, systemNamed } from './visitor-names.ts'

type Fields = Readonly<Record<string, unknown>>

/** @returns reads one visit after another, which are to be of one website */
export function makeMatomoMapper(): (visit: unknown) => Mapped {
  let site: string | undefined
  return (visit) => {
    if (!isObject(visit)) return { refused: 'the visit is no JSON object' }
    if (visit['result'] === 'error') return { refused: `the API answered: ${nameOf(visit['message']) ?? 'error'}` }
    const id = nameOf(visit['idVisit'])
    if (id === undefined) return { refused: 'idVisit: Field required' }
    if (!Array.isArray(visit['actionDetails'])) return { refused: 'actionDetails: Field required' }
    const itsSite = nameOf(visit['idSite'])
    site ??= itsSite
    if (itsSite !== site) return { refused: `idSite: not ${site}, as the first visit has` }
    return eventsOf(visit, id, visit['actionDetails'].filter(isObject))
  }
}

function eventsOf(visit: Fields, visitId: string, actions: readonly Fields[]): (ImportedEvent | NotTaken)[] {
  const common = {
    // Without it, as where Matomo hides it, each visit is somebody's.
    anonymous_id: textOf(visit['visitorId']) ?? `matomo-visit-${visitId}`,
    session_id: `matomo-${visitId}`,
    language: cut(textOf(visit['languageCode']), languageLengthMax),
    screen_width: widthOf(textOf(visit['resolution'])),
  }
  const visitor = {
    country: knownOf(visit['countryCode']),
    region: knownOf(visit['regionCode']),
    regionName: knownOf(visit['region']),
    city: knownOf(visit['city']),
    device: deviceNamed(knownOf(visit['deviceType'])),
    browser: browserNamed(knownOf(visit['browserName']) ?? withoutVersion(visit['browser'])),
    os: systemNamed(knownOf(visit['operatingSystemName']) ?? withoutVersion(visit['operatingSystem'])),
  }
  let pageUrl: string | undefined
  let isFirst = true
  const inTime = inOrder(actions)
  const ahead = secondsAhead(visit, inTime)
  return inTime.flatMap((action, at): (ImportedEvent | NotTaken)[] => {
    const seconds = numberOf(action['timestamp'])
    if (seconds === undefined) return [{ refused: 'timestamp: Field required' }]
    // Years beyond make no date.
    if (Math.abs(seconds) > secondsMax) return [{ refused: 'timestamp: no seconds since 1970' }]
    const url = addressOf(action['url'])
    if (isPageView(action)) pageUrl = url
    const own = ownFieldsOf(action, visit)
    if ('leftOut' in own) return [own]
    const { isElsewhere, id = String(at), leaveAfter, ...fields } = own
    const page = isElsewhere ? pageUrl : (url ?? pageUrl)
    const arrival = isFirst ? arrivalOf(visit) : {}
    isFirst = false
    const make = (event: Fields, after: number, suffix: string): ImportedEvent => ({
      event: {
        ...common,
        ...event,
        url: page,
        client_event_id: idOf(visitId, id, suffix),
        occurred_at: new Date((seconds - ahead + after) * 1000).toISOString(),
      },
      visitor,
    })
    const made = make({ ...fields, ...arrival }, 0, '')
    if (leaveAfter === undefined) return [made]
    const engaged = { engagement_ms: Math.round(leaveAfter * 1000) }
    return [made, make({ event_name: 'page_leave', title: fields.title, properties: engaged }, leaveAfter, '-leave')]
  })
}

const secondsMax = 1e11
/** Offsets of timezones are multiples of it. */
const offsetStep = 900

/**
 * How far the timestamps of actions are ahead of UTC. Matomo computes them from the site's local time as if that were
 * UTC (its issue 22720). Those of the visit's first and last action are right.
 */
function secondsAhead(visit: Fields, actions: readonly Fields[]): number {
  const pairs = [
    [actions[0], visit['firstActionTimestamp']],
    [actions.at(-1), visit['lastActionTimestamp']],
  ] as const
  for (const [action, right] of pairs) {
    const [given, utc] = [numberOf(action?.['timestamp']), numberOf(right)]
    if (given !== undefined && utc !== undefined) return Math.round((given - utc) / offsetStep) * offsetStep
  }
  return 0
}

/** Versions before 4 give the newest one first. */
function inOrder(actions: readonly Fields[]): Fields[] {
  const timeOf = (action: Fields | undefined) => numberOf(action?.['timestamp']) ?? 0
  const isBackwards = timeOf(actions[0]) > timeOf(actions.at(-1))
  return (isBackwards ? actions.toReversed() : [...actions]).sort((a, b) => timeOf(a) - timeOf(b))
}

function isPageView({ type }: Fields): boolean {
  return type === 'action'
}

interface OwnFields {
  readonly event_name: string
  readonly event_type?: 'conversion'
  readonly title?: string | undefined
  readonly properties?: Fields
  /** Sets it apart within the visit; its place there does where there is none. */
  readonly id?: string
  /** Its `url` isn't that of the page. */
  readonly isElsewhere?: boolean
  /** Seconds that the page was looked at, as far as Matomo knows. */
  readonly leaveAfter?: number
}

function ownFieldsOf(action: Fields, visit: Fields): OwnFields | { readonly leftOut: string } {
  const row = nameOf(action['pageId'])
  const id = row !== undefined && { id: `a${row}` }
  switch (action['type']) {
    case 'action': {
      const spent = numberOf(action['timeSpent']) ?? 0
      const title = cut(textOf(action['pageTitle']), titleLengthMax)
      return { event_name: 'pageview', title, ...id, ...(spent > 0 && { leaveAfter: spent }) }
    }
    case 'event': {
      const [category, name] = [nameOf(action['eventCategory']), nameOf(action['eventName'])]
      const [done, value] = [nameOf(action['eventAction']), numberOf(action['eventValue'])]
      const properties = withoutUndefined({ category, action: done, name, value })
      return {
        event_name: named([category, done].filter((one) => one !== undefined).join(':'), 'event'),
        properties,
        ...id,
      }
    }
    case 'outlink':
      return {
        event_name: 'outbound_click',
        properties: withoutUndefined({ href: textOf(action['url']) }),
        isElsewhere: true,
        ...id,
      }
    case 'download':
      return {
        event_name: 'file_download',
        properties: withoutUndefined({ href: textOf(action['url']) }),
        isElsewhere: true,
        ...id,
      }
    case 'search': {
      const [search_term, category] = [nameOf(action['siteSearchKeyword']), nameOf(action['siteSearchCategory'])]
      const properties = withoutUndefined({ search_term, category, results: numberOf(action['siteSearchCount']) })
      return { event_name: 'site_search', properties, ...id }
    }
    case 'goal': {
      const goal = nameOf(action['goalId'])
      // An action may convert several goals, and a goal several times.
      const place = `g${goal}-${nameOf(action['goalPageId']) ?? nameOf(action['timestamp'])}`
      const event_name = named(nameOf(action['goalName']), `goal_${goal}`)
      return { event_type: 'conversion', event_name, properties: withoutUndefined({ goal_id: goal }), id: place }
    }
    case 'ecommerceOrder': {
      const order = nameOf(action['orderId'])
      const [value, items] = [numberOf(action['revenue']), numberOf(action['items'])]
      const properties = withoutUndefined({ order_id: order, value, currency: textOf(visit['siteCurrency']), items })
      const place = order === undefined ? id : { id: `o${order}` }
      return { event_type: 'conversion', event_name: 'purchase', properties, ...place }
    }
    default:
      return { leftOut: cut(nameOf(action['type']), 40) ?? 'an action without a type' }
  }
}

/** Where the visit came from. Matomo takes campaigns out of the addresses of pages. */
function arrivalOf(visit: Fields): Fields {
  const text = (name: string) => cut(textOf(visit[name]), identifierLengthMax)
  const referrer = cut(textOf(visit['referrerUrl']), urlLengthMax)
  const isCampaign = visit['referrerType'] === 'campaign'
  const campaign = text('campaignName') ?? (isCampaign ? text('referrerName') : undefined)
  // A campaign of no known source is one itself: else the visit would count as direct.
  const source = text('campaignSource') ?? (isCampaign && referrer === undefined ? campaign : undefined)
  return withoutUndefined({
    referrer,
    source,
    medium: text('campaignMedium'),
    campaign,
    content: text('campaignContent'),
  })
}

function idOf(visit: string, own: string, suffix: string): string {
  return cut(`matomo-${visit}-${own}`, identifierLengthMax - suffix.length)! + suffix
}

function named(name: string | undefined, otherwise: string): string {
  return cut(name || otherwise, eventNameLengthMax)!
}

/** Some versions leave the scheme out. */
function addressOf(url: unknown): string | undefined {
  const text = textOf(url)
  if (text === undefined) return undefined
  return cut(/^[a-z][a-z0-9+.-]*:|^\//i.test(text) ? text : `https://${text}`, urlLengthMax)
}

/** Matomo says in words or by `xx` that it doesn't know. */
function knownOf(value: unknown): string | undefined {
  const text = textOf(value)
  return text === undefined || /^(unknown|xx)$/i.test(text) ? undefined : text
}

/** `Chrome 118.0`: versions stand there where the plain name doesn't. */
function withoutVersion(text: unknown): string | undefined {
  return knownOf(textOf(text)?.replace(/ [\d.]+$/, ''))
}
