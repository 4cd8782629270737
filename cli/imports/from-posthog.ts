/**
 * Lines of PostHog's export of events as JSON lines: the model `events` of batch exports and file downloads. Its fields
 * are those of PostHog's documentation. Names and units of properties are those of posthog-js: durations in seconds,
 * scrolling from 0 to 1, `$direct` for no referrer. `$device_id` stays when a browser is identified, so it is the
 * visitor.
 */
import { parseJsonBody } from '../../schemas/json-body.ts'
import { isObject } from '../../schemas/json-object.ts'
import {
  fullNameLengthMax,
  languageLengthMax,
  screenWidthMax,
  timezoneLengthMax,
  titleLengthMax,
  urlLengthMax,
  userAgentLengthMax,
} from '../../schemas/limits/event-limits.ts'
import { cut, type ImportedEvent, type Mapped, textOf, withOffset, withoutUndefined } from './imported-event.ts'
import { browserNamed, deviceNamed, systemNamed } from './visitor-names.ts'

type Properties = Readonly<Record<string, unknown>>

const vitals = ['LCP', 'INP', 'CLS', 'FCP'] as const

export function fromPosthog(row: unknown): Mapped {
  if (!isObject(row)) return { refused: 'the line is no JSON object' }
  const name = textOf(row['event'])
  const time = textOf(row['timestamp'])
  if (name === undefined) return { refused: 'event: Field required' }
  if (time === undefined) return { refused: 'timestamp: Field required' }
  const properties = readProperties(row['properties'])
  if (properties === undefined) return { refused: 'properties: no JSON object' }
  const own = eventsOf(name, properties, row)
  if (!Array.isArray(own)) return own as Mapped

  const userAgent = cut(textOf(properties['$raw_user_agent']), userAgentLengthMax)
  const country = textOf(properties['$geoip_country_code'])
  const common = {
    url: cut(textOf(properties['$current_url']), urlLengthMax),
    referrer: referrerOf(properties),
    title: cut(textOf(properties['title']), titleLengthMax),
    anonymous_id: textOf(properties['$device_id']) ?? textOf(row['distinct_id']),
    session_id: textOf(properties['$session_id']),
    occurred_at: withOffset(time),
    user_agent: userAgent,
    timezone: cut(textOf(properties['$timezone']), timezoneLengthMax),
    // An address would win over the country that PostHog found for it at that time.
    ip: country === undefined ? textOf(properties['$ip']) : undefined,
    language: cut(textOf(properties['$browser_language']), languageLengthMax),
    screen_width: widthOf(properties),
  }
  const visitor = {
    country,
    region: textOf(properties['$geoip_subdivision_1_code']),
    regionName: textOf(properties['$geoip_subdivision_1_name']),
    city: textOf(properties['$geoip_city_name']),
    device: deviceNamed(textOf(properties['$device_type'])),
    browser: browserNamed(textOf(properties['$browser'])),
    os: systemNamed(textOf(properties['$os'])),
  }
  const uuid = textOf(row['uuid'])
  return own.map(({ suffix = '', ...fields }): ImportedEvent => {
    const id = uuid !== undefined && { client_event_id: `posthog-${uuid}${suffix}` }
    return { event: { ...common, ...fields, ...id }, visitor }
  })
}

interface OwnFields {
  readonly event_name: string
  /** Sets the events of one line apart. */
  readonly suffix?: string
  /** In place of the line's own page. */
  readonly url?: string | undefined
  readonly title?: undefined
  readonly event_type?: 'identify'
  readonly anonymous_id?: string
  readonly email?: string
  readonly full_name?: string
  readonly properties?: Properties
}

function eventsOf(name: string, properties: Properties, row: Properties): OwnFields[] | { readonly leftOut: string } {
  switch (name) {
    case '$pageview':
      return [...pageBefore(properties), { event_name: 'pageview', ...ownProperties(properties) }]
    case '$pageleave':
      return [{ event_name: 'page_leave', properties: leaveOf(properties) }]
    case '$autocapture':
      return clickOf(properties)
    case '$web_vitals': {
      const measured = vitals.filter((metric) => typeof properties[`$web_vitals_${metric}_value`] === 'number')
      if (measured.length === 0) return { leftOut: name }
      return measured.map((metric) => ({
        event_name: 'web_vital',
        suffix: `-${metric}`,
        properties: { metric, value: properties[`$web_vitals_${metric}_value`] },
      }))
    }
    case '$identify':
      return [identifyOf(properties, row)]
    default:
      return name.startsWith('$') ? { leftOut: name } : [{ event_name: name, ...ownProperties(properties) }]
  }
}

/** In an app of one page, a view tells of the one before: `$pageleave` comes of the last alone. */
function pageBefore(properties: Properties): OwnFields[] {
  const [left, page] = [leaveOf(properties), textOf(properties['$current_url'])]
  const path = textOf(properties['$prev_pageview_pathname'])
  if (Object.keys(left).length === 0 || path === undefined || !URL.canParse(path, page)) return []
  const url = cut(new URL(path, page).href, urlLengthMax)
  return [{ event_name: 'page_leave', suffix: '-before', url, title: undefined, properties: left }]
}

function leaveOf(properties: Properties): Properties {
  const seconds = properties['$prev_pageview_duration']
  const scrolled = properties['$prev_pageview_max_scroll_percentage']
  return {
    ...(typeof seconds === 'number' && { engagement_ms: Math.round(seconds * 1000) }),
    ...(typeof scrolled === 'number' && { scroll_depth: Math.round(scrolled * 100) }),
  }
}

function clickOf(properties: Properties): OwnFields[] | { readonly leftOut: string } {
  const href = cut(textOf(properties['$external_click_url']), urlLengthMax)
  const own = withoutUndefined({ href, text: textOf(properties['$el_text']) })
  const described = Object.keys(own).length === 0 ? {} : { properties: own }
  switch (properties['$event_type']) {
    case 'submit':
      return [{ event_name: 'form_submit', ...described }]
    case 'click':
      return [{ event_name: href === undefined ? 'button_click' : 'outbound_click', ...described }]
    default:
      return { leftOut: '$autocapture of neither clicks nor submissions' }
  }
}

/** `$set` has what is known of the person; `distinct_id` is the site's own id of them. */
function identifyOf(properties: Properties, row: Properties): OwnFields {
  const person = isObject(properties['$set']) ? properties['$set'] : {}
  const [email, name] = [textOf(person['email']), textOf(person['name'])]
  const [browser, userId] = [textOf(properties['$anon_distinct_id']), textOf(row['distinct_id'])]
  return {
    event_type: 'identify',
    event_name: 'identify',
    ...(email !== undefined && { email }),
    ...(name !== undefined && { full_name: cut(name, fullNameLengthMax)! }),
    ...(textOf(properties['$device_id']) === undefined && browser !== undefined && { anonymous_id: browser }),
    ...(userId !== undefined && { properties: { user_id: userId } }),
  }
}

/** The site's own properties; PostHog's begin with `$`. */
function ownProperties(properties: Properties): { properties?: Properties } {
  const own = Object.entries(properties).filter(([name]) => !name.startsWith('$') && !notOfTheSite.has(name))
  return own.length === 0 ? {} : { properties: Object.fromEntries(own) }
}

/** Added by posthog-js to each event: the title, its key, and what the URL says of the campaign. */
const notOfTheSite = new Set([
  'title',
  'token',
  'distinct_id',
  'ph_keyword',
  'gad_source',
  'mc_cid',
  '_kx',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_term',
  'gclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
  'twclid',
  'li_fat_id',
  'igshid',
  'ttclid',
  'rdt_cid',
  'epik',
  'qclid',
  'sccid',
  'irclid',
])

function referrerOf(properties: Properties): string | undefined {
  const referrer = textOf(properties['$referrer'])
  return referrer === '$direct' ? undefined : cut(referrer, urlLengthMax)
}

function widthOf(properties: Properties): number | undefined {
  const width = properties['$screen_width']
  return typeof width === 'number' && width >= 0 && width <= screenWidthMax ? Math.round(width) : undefined
}

/** Some exports have them as a JSON text within the JSON. */
function readProperties(value: unknown): Properties | undefined {
  if (typeof value !== 'string') return isObject(value) ? value : undefined
  const parsed = parseJsonBody(Buffer.from(value))
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined
}
