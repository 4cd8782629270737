/** Visits of Matomo and rows of Google Analytics as tracking events, of field names as their own documentation has them. */
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { makeGa4Mapper } from '../../cli/imports/from-ga4.ts'
import { makeMatomoMapper } from '../../cli/imports/from-matomo.ts'
import type { ImportedEvent, Mapped } from '../../cli/imports/imported-event.ts'
import { readJsonObjects } from '../../cli/imports/read-json-objects.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { countryName, countryOfName } from '../../schemas/reference/country-names.ts'
import { countryCodes } from '../../schemas/reference/country-zones.ts'

function eventsOf(mapped: Mapped): readonly ImportedEvent[] {
  if ('refused' in mapped || 'leftOut' in mapped) expect.fail(JSON.stringify(mapped))
  const events = mapped.filter((part) => 'event' in part)
  for (const { event } of events) expect(validateBatchEvent(event, 0)).toBeNull()
  return events
}

const fromMatomo = (visit: unknown) => makeMatomoMapper()(visit)
const second = (nth: number) => 1_710_000_000 + nth
const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString()
/** As the reporting API answers it: numbers are texts in some versions. */
const visit = (actionDetails: readonly object[], fields: object = {}) => ({
  idSite: '1',
  idVisit: '771',
  visitIp: '193.0.0.0',
  visitorId: 'e280af5191b64f18',
  siteCurrency: 'EUR',
  referrerType: 'search',
  referrerName: 'Google',
  referrerUrl: 'https://www.google.com/',
  languageCode: 'de-de',
  deviceType: 'Smartphone',
  operatingSystem: 'iOS 17.2',
  operatingSystemName: 'iOS',
  browserName: 'Mobile Safari',
  country: 'Germany',
  countryCode: 'de',
  regionCode: 'BE',
  region: 'Berlin',
  city: 'Berlin',
  resolution: '390x844',
  lastActionTimestamp: second(90),
  ...fields,
  actionDetails,
})
const page = {
  type: 'action',
  url: 'https://example.com/pricing',
  pageTitle: 'Pricing',
  pageId: '51',
  timestamp: second(0),
}

test('a visit of Matomo has its pages, how long they were looked at, and where it came from', () => {
  const common = {
    anonymous_id: 'e280af5191b64f18',
    session_id: 'matomo-771',
    language: 'de-de',
    screen_width: 390,
    url: page.url,
    title: 'Pricing',
  }
  const visitor = {
    country: 'de',
    region: 'BE',
    regionName: 'Berlin',
    city: 'Berlin',
    device: 'mobile',
    browser: 'Safari',
    os: 'iOS',
  }
  const mapped = fromMatomo(
    visit([
      { ...page, timeSpent: '30' },
      { ...page, pageId: '52', timestamp: second(30) },
    ]),
  )
  const event = (event_name: string, id: string, nth: number, more: object = {}) => ({
    event: { ...common, event_name, client_event_id: id, occurred_at: timeOf(second(nth)), ...more },
    visitor,
  })
  expect(eventsOf(mapped)).toEqual([
    event('pageview', 'matomo-771-a51', 0, { referrer: 'https://www.google.com/' }),
    event('page_leave', 'matomo-771-a51-leave', 30, { properties: { engagement_ms: 30_000 } }),
    event('pageview', 'matomo-771-a52', 30),
  ])
})

test('times of actions, which Matomo tells by the clock of the site, come back to UTC; what it does not know is unknown', () => {
  const local = (offset: number) => [
    { ...page, timestamp: second(offset) },
    { ...page, timestamp: second(90 + offset) },
  ]
  const unknown = {
    operatingSystemName: 'unknown',
    deviceType: 'Unknown',
    browserName: 'Unknown',
    operatingSystem: 'Unknown',
    countryCode: 'xx',
  }
  for (const offset of [7_200, -34_200, 20_700]) {
    for (const told of [{ firstActionTimestamp: second(3) }, {}]) {
      const events = eventsOf(fromMatomo(visit(local(offset), { ...unknown, ...told })))
      expect(events.map(({ event }) => event['occurred_at'])).toEqual([timeOf(second(0)), timeOf(second(90))])
      const { country, device, browser, os } = events[0]!.visitor!
      expect([country, device, browser, os]).toEqual([undefined, undefined, undefined, undefined])
    }
  }
  expect(fromMatomo(visit([{ ...page, timestamp: 1e14 }]))).toEqual([{ refused: 'timestamp: no seconds since 1970' }])
})

test('what else happened in a visit of Matomo has the page where it did; what has no place here is named', () => {
  const action = (type: string, nth: number, fields: object) => ({ type, timestamp: second(nth), ...fields })
  const goal = { goalName: 'Newsletter', goalId: 3, goalPageId: '61', revenue: 0, url: page.url }
  const own = { eventCategory: 'Video', eventAction: 'play', eventName: 'Intro', eventValue: '3', url: page.url }
  const searched = { siteSearchKeyword: 'boots', siteSearchCategory: null, siteSearchCount: '4' }
  const mapped = fromMatomo(
    visit([
      // Newest first, as older versions answer.
      action('ecommerceAbandonedCart', 80, { revenue: 89 }),
      action('ecommerceOrder', 70, { orderId: 'A-9', revenue: '19.90', items: '2', pageId: 9 }),
      action('goal', 60, goal),
      action('search', 50, { ...searched, pageId: 110 }),
      action('download', 40, { url: 'https://example.com/a.pdf', pageId: 100 }),
      action('outlink', 30, { url: 'https://other.example/x', pageId: 90 }),
      action('event', 20, { ...own, pageId: 80 }),
      page,
      { type: 'action', url: page.url },
    ]),
  )
  const events = eventsOf(mapped)
  expect(new Set(events.map(({ event }) => event['url']))).toEqual(new Set([page.url]))
  expect(new Set(events.map(({ event }) => event['client_event_id'])).size).toBe(events.length)
  expect(events.map(({ event }) => [event['event_type'], event['event_name'], event['properties']])).toEqual([
    [undefined, 'pageview', undefined],
    [undefined, 'Video:play', { category: 'Video', action: 'play', name: 'Intro', value: 3 }],
    [undefined, 'outbound_click', { href: 'https://other.example/x' }],
    [undefined, 'file_download', { href: 'https://example.com/a.pdf' }],
    [undefined, 'site_search', { search_term: 'boots', results: 4 }],
    ['conversion', 'Newsletter', { goal_id: '3' }],
    ['conversion', 'purchase', { order_id: 'A-9', value: 19.9, currency: 'EUR', items: 2 }],
  ])
  expect((mapped as readonly object[]).filter((part) => !('event' in part))).toEqual([
    { refused: 'timestamp: Field required' },
    { leftOut: 'ecommerceAbandonedCart' },
  ])
})

test('a campaign of Matomo is the source where no other is known; other websites, and what is no visit, are refused', () => {
  const arrival = (fields: object) => {
    const [{ event }] = eventsOf(
      fromMatomo(visit([page], { referrerUrl: null, referrerType: 'campaign', ...fields })),
    ) as [ImportedEvent]
    return { source: event['source'], medium: event['medium'], campaign: event['campaign'] }
  }
  expect(arrival({ referrerName: 'spring' })).toEqual({ source: 'spring', campaign: 'spring' })
  expect(
    arrival({ referrerName: 'spring', campaignSource: 'ads', campaignMedium: 'cpc', campaignName: 'May' }),
  ).toEqual({
    source: 'ads',
    medium: 'cpc',
    campaign: 'May',
  })
  const map = makeMatomoMapper()
  map(visit([page]))
  expect(map(visit([page], { idSite: 2 }))).toEqual({ refused: 'idSite: not 1, as the first visit has' })
  expect(map({ result: 'error', message: 'token_auth' })).toEqual({ refused: 'the API answered: token_auth' })
  expect(map({ idVisit: 1 })).toEqual({ refused: 'actionDetails: Field required' })
})

async function objectsIn(text: string, bytesMax = 100, chunkBytes = 3) {
  const bytes = Buffer.from(text)
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, at) =>
    bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  )
  const found: (string | null)[] = []
  const file = { text: Readable.from(chunks), bytesRead: () => 0, close: () => {} }
  for await (const some of readJsonObjects('visits.json', file, bytesMax)) {
    for (const one of some) found.push(one === null ? null : one.toString())
  }
  return found
}

test('objects come out of a list one by one, or of lines, whatever their texts hold; one beyond the bound is dropped', async () => {
  const odd = JSON.stringify({ a: '}]{"\\', b: [{ c: 'é' }] })
  expect(await objectsIn(`\ufeff[${odd},\n {"d":1}]`)).toEqual([odd, '{"d":1}'])
  expect(await objectsIn(`${odd}\n{}\n`)).toEqual([odd, '{}'])
  expect(await objectsIn(`[{"a":"${'x'.repeat(200)}"},${odd}]`)).toEqual([null, odd])
  expect(await objectsIn('[]')).toEqual([])
  await expect(objectsIn('[{"a":1},{"b":')).rejects.toThrow('visits.json ends in the middle, behind 1 objects')
  await expect(objectsIn('[{}')).rejects.toThrow('ends in the middle')
  await expect(objectsIn('<?xml version="1.0"?>')).rejects.toThrow('no list of JSON objects')
})

/** As `bq extract` writes it: whole numbers are texts, and what is NULL isn't there. */
const row = (event_name: string, parameters: Record<string, string | number> = {}, fields: object = {}) => ({
  event_date: '20240309',
  event_timestamp: '1710000000123456',
  event_name,
  user_pseudo_id: '123.456',
  event_params: Object.entries({
    ga_session_id: 1_709_999_999,
    ga_session_number: 2,
    page_location: 'https://example.com/a?utm_source=x',
    page_title: 'A',
    page_referrer: 'https://www.google.com/',
    ...parameters,
  }).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { int_value: String(value) } : { string_value: value },
  })),
  device: {
    category: 'desktop',
    operating_system: 'Macintosh',
    language: 'en-us',
    web_info: { browser: 'Chrome', browser_version: '122.0.0.0', hostname: 'example.com' },
  },
  geo: { country: 'Türkiye', region: '(not set)', city: 'Ankara' },
  stream_id: '9',
  platform: 'WEB',
  batch_page_id: '1710000000000',
  batch_ordering_id: '1',
  batch_event_index: '1',
  ...fields,
})
const fromGa4 = makeGa4Mapper()
const ga4Event = (...given: Parameters<typeof row>) => eventsOf(fromGa4(row(...given)))[0]!.event

test('a page view of Google Analytics has its page, visitor, session and time, and what was known of the visitor', () => {
  expect(eventsOf(fromGa4(row('page_view')))).toEqual([
    {
      event: {
        event_name: 'pageview',
        url: 'https://example.com/a?utm_source=x',
        referrer: 'https://www.google.com/',
        title: 'A',
        anonymous_id: '123.456',
        session_id: '123.456.1709999999',
        language: 'en-us',
        occurred_at: '2024-03-09T16:00:00.123Z',
        client_event_id: expect.stringMatching(/^ga4-[\w-]{43}$/),
      },
      visitor: { country: 'TR', city: 'Ankara', device: 'desktop', browser: 'Chrome', os: 'macOS' },
    },
  ])
})

test('events of Google Analytics become ours where there are such; key events are conversions, by the names that are given', () => {
  expect(ga4Event('user_engagement', { engagement_time_msec: 4200 })).toMatchObject({
    event_name: 'page_leave',
    properties: { engagement_ms: 4200 },
  })
  expect(ga4Event('scroll', { percent_scrolled: 90 })).toMatchObject({ properties: { scroll_depth: 90 } })
  const away = { link_url: 'https://other.example/', link_domain: 'other.example', outbound: 'true' }
  expect(ga4Event('click', away)).toMatchObject({ event_name: 'outbound_click', properties: { href: away.link_url } })
  const clicked = eventsOf(fromGa4(row('click', { ...away, engagement_time_msec: 40_000 })))
  const [click, leave] = clicked.map(({ event }) => event)
  const id = click!['client_event_id']
  expect(leave).toEqual({
    ...click,
    event_name: 'page_leave',
    properties: { engagement_ms: 40_000 },
    client_event_id: `${id}-leave`,
  })
  expect(ga4Event('file_download', { file_name: 'a.pdf' })).toMatchObject({
    event_name: 'file_download',
    properties: { name: 'a.pdf' },
  })
  expect(ga4Event('view_plan', { plan: 'pro', seats: 3, session_engaged: '1' })).toMatchObject({
    event_name: 'view_plan',
    properties: { plan: 'pro', seats: 3 },
  })
  const order = { ecommerce: { transaction_id: 'T-1', purchase_revenue: 10 } }
  expect(ga4Event('purchase', { currency: 'EUR' }, order)).toMatchObject({
    event_type: 'conversion',
    properties: { transaction_id: 'T-1', currency: 'EUR' },
  })
  const chosen = makeGa4Mapper(['view_plan'])
  expect(eventsOf(chosen(row('view_plan')))[0]!.event).toMatchObject({ event_type: 'conversion' })
  expect(eventsOf(chosen(row('purchase')))[0]!.event).not.toHaveProperty('event_type')

  expect(fromGa4(row('session_start'))).toEqual({ leftOut: 'session_start' })
  expect(fromGa4(row('page_view', {}, { user_pseudo_id: null }))).toEqual({
    leftOut: 'page_view without user_pseudo_id',
  })
  expect(fromGa4({ event_name: 'x' })).toEqual({ refused: 'event_timestamp: Field required' })
})

test('a campaign that Google Analytics collected is the source, and a click on an ad is Google’s', () => {
  const collected = (collected_traffic_source: object) => ga4Event('page_view', {}, { collected_traffic_source })
  expect(
    collected({ manual_source: 'bing', manual_medium: 'cpc', manual_campaign_name: 'autumn', manual_content: 'b' }),
  ).toMatchObject({ source: 'bing', medium: 'cpc', campaign: 'autumn', content: 'b' })
  expect(collected({ gclid: 'abc', manual_campaign_name: '(not set)' })).toMatchObject({
    source: 'google',
    medium: 'cpc',
  })
  expect(collected({ manual_source: '(direct)' })).not.toHaveProperty('source')
})

test('rows of Google Analytics have the same id in every export, and each its own', () => {
  const idOf = (...given: Parameters<typeof row>) => ga4Event(...given)['client_event_id']
  expect(idOf('page_view')).toBe(idOf('page_view', {}, { event_date: '20240310', is_active_user: true }))
  // Before there were the batch's numbers.
  const old = { batch_page_id: null, batch_ordering_id: null, batch_event_index: null }
  const ids = [
    idOf('page_view'),
    idOf('page_view', {}, { batch_event_index: '2' }),
    idOf('scroll'),
    idOf('page_view', {}, old),
    idOf('page_view', { page_title: 'B' }, old),
  ]
  expect(new Set(ids).size).toBe(ids.length)
})

test('countries are known by their English names, present, short and former ones', () => {
  for (const code of countryCodes()) expect([code, countryOfName(countryName(code))]).toEqual([code, code])
  expect(
    ['Turkey', 'Hong Kong', 'Bosnia and Herzegovina', "Cote d'Ivoire", 'Curacao', 'Myanmar (Burma)', 'Czechia'].map(
      countryOfName,
    ),
  ).toEqual(['TR', 'HK', 'BA', 'CI', 'CW', 'MM', 'CZ'])
  expect(['(not set)', '', 'Atlantis'].map(countryOfName)).toEqual([undefined, undefined, undefined])
})
