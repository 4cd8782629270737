/**
 * Lines of Google Analytics 4's export to BigQuery: its tables `events_YYYYMMDD` as JSON lines. Field names are those of
 * Google's schema of the export. BigQuery writes whole numbers as texts. A session's number is the visitor's own, so the
 * session is both.
 */
import { createHash } from 'node:crypto'
import { isObject } from '../../schemas/json-object.ts'
import {
  eventNameLengthMax,
  identifierLengthMax,
  languageLengthMax,
  titleLengthMax,
  urlLengthMax,
} from '../../schemas/limits/event-limits.ts'
import { countryOfName } from '../../schemas/reference/country-names.ts'
import { cut, type Mapped, nameOf, numberOf, textOf, withoutUndefined } from './imported-event.ts'
import { browserNamed, deviceNamed, systemNamed } from './visitor-names.ts'

type Fields = Readonly<Record<string, unknown>>
type Parameters = Readonly<Record<string, string | number>>

/** Those of Google's recommended events that most sites count as key events. */
export const usualConversions = ['purchase', 'generate_lead', 'sign_up'] as const

/** Tell nothing that other events don't. */
const leftOut = new Set(['session_start', 'first_visit', 'first_open'])

/** @param conversions names of events that are conversions */
export function makeGa4Mapper(conversions: readonly string[] = usualConversions): (row: unknown) => Mapped {
  const isConversion = new Set(conversions)
  return (row) => {
    if (!isObject(row)) return { refused: 'the line is no JSON object' }
    const name = textOf(row['event_name'])
    const microseconds = numberOf(row['event_timestamp'])
    if (name === undefined) return { refused: 'event_name: Field required' }
    if (microseconds === undefined) return { refused: 'event_timestamp: Field required' }
    const time = new Date(Math.floor(microseconds / 1000))
    if (Number.isNaN(time.getTime())) return { refused: 'event_timestamp: no microseconds since 1970' }
    const visitor = textOf(row['user_pseudo_id'])
    // Without consent: nobody can say whose it is, and together they would be one visitor.
    if (visitor === undefined) return { leftOut: `${cut(name, 60)} without user_pseudo_id` }
    const given = parametersOf(row['event_params'])
    const own = isConversion.has(name) ? conversionOf(name, given, row) : ownFieldsOf(name, given)
    if ('leftOut' in own) return own
    const session = given['ga_session_id']
    const device = recordOf(row['device'])
    const text = (key: string, max: number) => cut(nameOf(given[key]), max)
    const event = {
      url: text('page_location', urlLengthMax),
      referrer: text('page_referrer', urlLengthMax),
      title: text('page_title', titleLengthMax),
      ...campaignOf(row),
      anonymous_id: cut(visitor, identifierLengthMax),
      occurred_at: time.toISOString(),
      session_id: session === undefined ? undefined : cut(`${visitor}.${session}`, identifierLengthMax),
      language: cut(textOf(device['language']), languageLengthMax),
      ...own,
      client_event_id: idOf(row),
    }
    const known = knownVisitorOf(device, recordOf(row['geo']))
    const engagement_ms = numberOf(given['engagement_time_msec']) ?? 0
    if (own.event_name === 'page_leave' || own.event_name === 'pageview' || engagement_ms <= 0) {
      return [{ event, visitor: known }]
    }
    // Time on the page comes with any event; a page view has that of the page before.
    const leave = { event_name: 'page_leave', event_type: undefined, properties: { engagement_ms } }
    const left = { ...event, ...leave, client_event_id: `${event.client_event_id}-leave` }
    return [
      { event, visitor: known },
      { event: left, visitor: known },
    ]
  }
}

interface OwnFields {
  readonly event_name: string
  readonly event_type?: 'conversion'
  readonly properties?: Parameters
}

function ownFieldsOf(name: string, given: Parameters): OwnFields | { readonly leftOut: string } {
  const engagement_ms = numberOf(given['engagement_time_msec'])
  switch (name) {
    case 'page_view':
      return { event_name: 'pageview' }
    case 'user_engagement':
      return { event_name: 'page_leave', properties: withoutUndefined({ engagement_ms }) }
    case 'scroll':
      return {
        event_name: 'page_leave',
        properties: withoutUndefined({ engagement_ms, scroll_depth: numberOf(given['percent_scrolled']) }),
      }
    case 'click':
      // One without a target is the site's own.
      if (given['link_url'] === undefined) break
      return {
        event_name: 'outbound_click',
        properties: withoutUndefined({ href: given['link_url'], text: given['link_text'], id: given['link_id'] }),
      }
    case 'file_download': {
      const properties = withoutUndefined({
        href: given['link_url'],
        name: given['file_name'],
        extension: given['file_extension'],
      })
      return { event_name: 'file_download', properties }
    }
    case 'view_search_results':
      return { event_name: 'site_search', properties: ownProperties(given) }
    case 'form_submit': {
      const [id, form, action] = [given['form_id'], given['form_name'], given['form_destination']]
      return { event_name: 'form_submit', properties: withoutUndefined({ id, name: form, action }) }
    }
  }
  if (leftOut.has(name)) return { leftOut: name }
  return { event_name: cut(name, eventNameLengthMax)!, properties: ownProperties(given) }
}

/** The amount is a property: revenue comes from payment providers alone. */
function conversionOf(name: string, given: Parameters, row: Fields): OwnFields {
  const order = nameOf(recordOf(row['ecommerce'])['transaction_id'])
  const known = order === '(not set)' ? undefined : order
  return {
    event_type: 'conversion',
    event_name: cut(name, eventNameLengthMax)!,
    properties: { ...withoutUndefined({ transaction_id: known }), ...ownProperties(given) },
  }
}

/** Each has one of four values. */
function parametersOf(list: unknown): Parameters {
  const given: [string, string | number][] = []
  for (const one of Array.isArray(list) ? list : []) {
    if (!isObject(one) || !isObject(one['value'])) continue
    const [key, { string_value, int_value, float_value, double_value }] = [textOf(one['key']), one['value']]
    const number = numberOf(int_value ?? double_value ?? float_value)
    // A whole number that JSON can't carry stays a text.
    const exact = Number.isInteger(number) && !Number.isSafeInteger(number) ? nameOf(int_value) : number
    const value = textOf(string_value) ?? exact
    if (key !== undefined && value !== undefined) given.push([key, value])
  }
  return Object.fromEntries(given)
}

/** Without those that Google's script adds to each event. */
function ownProperties(given: Parameters): Parameters {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !googles.test(name)))
}
const googles =
  /^(?:ga_|firebase_|batch_|page_(?:location|referrer|title)$|(?:engaged_session_event|session_engaged|engagement_time_msec|entrances|ignore_referrer|debug_mode|synthetic_bundle|source|medium|campaign|campaign_id|term|content|gclid|gclsrc|dclid|srsltid|gad_source|link_classes|link_domain|outbound)$)/

/**
 * The campaign that the event itself collected. The session's last click isn't taken: it names the source of an earlier visit where
 * this one has none.
 */
function campaignOf(row: Fields): Record<string, string | number> {
  const collected = recordOf(row['collected_traffic_source'])
  const text = (name: string) => {
    const value = textOf(collected[name])
    // `(direct)`, `(not set)` and the like are no names.
    return value?.startsWith('(') ? undefined : cut(value, identifierLengthMax)
  }
  const source = text('manual_source')
  const isAd = source === undefined && textOf(collected['gclid']) !== undefined
  return withoutUndefined({
    source: isAd ? 'google' : source,
    medium: text('manual_medium') ?? (isAd ? 'cpc' : undefined),
    campaign: text('manual_campaign_name'),
    content: text('manual_content'),
  })
}

/** Where it isn't known, the export says so in words. */
function placeOf(name: unknown): string | undefined {
  return name === '(not set)' ? undefined : textOf(name)
}

function knownVisitorOf(device: Fields, geo: Fields) {
  const web = recordOf(device['web_info'])
  return {
    country: countryOfName(textOf(geo['country']) ?? ''),
    region: placeOf(geo['region']),
    city: placeOf(geo['city']),
    device: deviceNamed(textOf(device['category'])),
    browser: browserNamed(textOf(web['browser']) ?? textOf(device['browser'])),
    os: systemNamed(textOf(device['operating_system'])),
  }
}

/** Rows have no id. These fields set them apart; older tables, which lack the batch's, have the parameters for it. */
function idOf(row: Fields): string {
  const batch = ['batch_page_id', 'batch_ordering_id', 'batch_event_index'].map((name) => nameOf(row[name]) ?? '')
  const parameters = batch.every((number) => number === '') ? row['event_params'] : null
  const key = [row['stream_id'], row['user_pseudo_id'], nameOf(row['event_timestamp']), row['event_name'], ...batch]
  return `ga4-${createHash('sha256')
    .update(JSON.stringify([key, parameters]))
    .digest('base64url')}`
}

function recordOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}
