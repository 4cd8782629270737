/** Rows of Umami, PostHog and Plausible as tracking events: each event is one that the public interface would take. */
import { expect, test } from 'vitest'
import { makePlausibleMapper } from '../../cli/imports/from-plausible.ts'
import { fromPosthog } from '../../cli/imports/from-posthog.ts'
import { fromUmami } from '../../cli/imports/from-umami.ts'
import type { ImportedEvent, Mapped } from '../../cli/imports/imported-event.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'

function eventsOf(mapped: Mapped): readonly ImportedEvent[] {
  if ('refused' in mapped || 'leftOut' in mapped) expect.fail(JSON.stringify(mapped))
  const events = mapped.filter((part) => 'event' in part)
  for (const { event } of events) expect(validateBatchEvent(event, 0)).toBeNull()
  return events
}
const eventOf = (mapped: Mapped) => eventsOf(mapped)[0]!.event

/** As Umami Cloud exports the table. */
const umamiRow = {
  website_id: '5c5c1a52-0000-4000-8000-000000000001',
  session_id: '1d1c7f4e-0000-4000-8000-00000000000a',
  visit_id: '9b0e6a10-0000-4000-8000-00000000000b',
  event_id: '7a2f11aa-0000-4000-8000-00000000000c',
  hostname: 'example.com',
  browser: 'ios',
  os: 'iOS',
  device: 'mobile',
  screen: '390x844',
  language: 'de-DE',
  country: 'DE',
  region: 'DE-BE',
  city: 'Berlin',
  url_path: '/app/#/orders',
  url_query: 'utm_source=newsletter&utm_medium=email',
  utm_source: 'newsletter',
  utm_medium: 'email',
  referrer_path: '/search',
  referrer_query: 'q=a',
  referrer_domain: 'duckduckgo.com',
  page_title: 'Orders',
  event_type: '1',
  created_at: '2024-03-05 14:22:31',
}

test('a page view of Umami has its page, referrer, visitor, visit and time, and what was known of the visitor', () => {
  expect(eventsOf(fromUmami(umamiRow, undefined))).toEqual([
    {
      event: {
        event_name: 'pageview',
        url: 'https://example.com/app/?utm_source=newsletter&utm_medium=email#/orders',
        referrer: 'https://duckduckgo.com/search?q=a',
        title: 'Orders',
        anonymous_id: umamiRow.session_id,
        session_id: umamiRow.visit_id,
        occurred_at: '2024-03-05 14:22:31Z',
        language: 'de-DE',
        screen_width: 390,
        client_event_id: `umami-${umamiRow.event_id}`,
      },
      visitor: { country: 'DE', region: 'DE-BE', city: 'Berlin', device: 'mobile', browser: 'Safari', os: 'iOS' },
    },
  ])
})

test('rows of older Umamis have neither visit nor host, and NULL as databases write it', () => {
  const {
    hostname: _,
    visit_id: __,
    ...old
  } = { ...umamiRow, referrer_domain: '\\N', created_at: '2023-03-05 14:22:31.123+02' }
  expect(eventOf(fromUmami(old, 'https://shop.example'))).toMatchObject({
    occurred_at: '2023-03-05 14:22:31.123+02:00',
    session_id: undefined,
    referrer: undefined,
    url: expect.stringMatching(/^https:\/\/shop\.example\/app/),
  })
  expect(eventOf(fromUmami(old, undefined))).toMatchObject({ url: expect.stringMatching(/^\/app/) })
})

test('own events of Umami keep their name, measurements become vitals, links and pixels are left out', () => {
  const custom = { ...umamiRow, event_type: '2', event_name: 'Sign up', tag: 'b' }
  expect(eventOf(fromUmami(custom, undefined))).toMatchObject({ event_name: 'Sign up', properties: { tag: 'b' } })
  const tagged = eventOf(fromUmami({ ...umamiRow, tag: 'b' }, undefined, () => ({ author: 'Ada' })))
  expect(tagged['properties']).toEqual({ tag: 'b', author: 'Ada' })
  const measured = eventsOf(
    fromUmami({ ...umamiRow, event_type: '5', lcp: '1812.5', cls: '0.02', ttfb: '90.0' }, undefined),
  )
  expect(measured.map(({ event }) => [event['client_event_id'], event['properties']])).toEqual([
    [`umami-${umamiRow.event_id}-LCP`, { metric: 'LCP', value: 1812.5 }],
    [`umami-${umamiRow.event_id}-CLS`, { metric: 'CLS', value: 0.02 }],
  ])
  expect(fromUmami({ ...umamiRow, event_type: '4' }, undefined)).toEqual({ leftOut: 'event_type 4' })
  expect(fromUmami({ website_id: 'w' }, undefined)).toEqual({ refused: 'event_id: Field required' })
})

/** As posthog-js sends it and a batch export writes it. */
const posthogRow = (event: string, properties: object = {}, row: object = {}) => ({
  uuid: '018f9f3e-8c1b-7d52-9a71-5f1b0f7f2a10',
  event,
  distinct_id: '018f9f3e-0000-7000-8000-00000000000d',
  person_id: 'b6f1',
  timestamp: '2024-05-22T17:09:29.220000Z',
  team_id: 1,
  elements_chain: '',
  properties: {
    $os: 'Mac OS X',
    $browser: 'Chrome',
    $device_type: 'Desktop',
    $browser_language: 'en-US',
    token: 'phc_x',
    $current_url: 'https://example.com/pricing?utm_source=x',
    $host: 'example.com',
    $pathname: '/pricing',
    $session_id: '018f9f3e-1111',
    $device_id: '018f9f3e-2222',
    $referrer: '$direct',
    $screen_width: 1728,
    $ip: '193.0.6.139',
    $geoip_country_code: 'NL',
    $geoip_city_name: 'Amsterdam',
    $geoip_subdivision_1_code: 'NH',
    $geoip_subdivision_1_name: 'North Holland',
    utm_source: 'x',
    title: 'Pricing',
    ...properties,
  },
  ...row,
})

test('a page view of PostHog has its page, visitor, session and time, and what was known of the visitor', () => {
  expect(eventsOf(fromPosthog(posthogRow('$pageview')))).toEqual([
    {
      event: {
        event_name: 'pageview',
        url: 'https://example.com/pricing?utm_source=x',
        title: 'Pricing',
        anonymous_id: '018f9f3e-2222',
        session_id: '018f9f3e-1111',
        occurred_at: '2024-05-22T17:09:29.220000Z',
        language: 'en-US',
        screen_width: 1728,
        client_event_id: 'posthog-018f9f3e-8c1b-7d52-9a71-5f1b0f7f2a10',
      },
      visitor: {
        country: 'NL',
        region: 'NH',
        regionName: 'North Holland',
        city: 'Amsterdam',
        device: 'desktop',
        browser: 'Chrome',
        os: 'macOS',
      },
    },
  ])
})

test('a time that BigQuery wrote is UTC', () => {
  const { occurred_at } = eventOf(fromPosthog(posthogRow('$pageview', {}, { timestamp: '2024-05-22 17:09:29.22 UTC' })))
  expect(occurred_at).toBe('2024-05-22 17:09:29.22Z')
})

test('an event of a server is its distinct_id’s, and has address and user agent where these were sent', () => {
  const properties = JSON.stringify({
    $ip: '193.0.6.139',
    $raw_user_agent: 'Mozilla/5.0',
    plan: 'pro',
    $lib: 'posthog-node',
  })
  expect(eventOf(fromPosthog(posthogRow('plan changed', {}, { distinct_id: 'user-1', properties })))).toMatchObject({
    event_name: 'plan changed',
    anonymous_id: 'user-1',
    ip: '193.0.6.139',
    user_agent: 'Mozilla/5.0',
    properties: { plan: 'pro' },
  })
})

test('PostHog’s own events become ours where there are such, and are left out by their name elsewhere', () => {
  const posthogEvent = (event: string, properties?: object) => eventOf(fromPosthog(posthogRow(event, properties)))
  const left = { $prev_pageview_duration: 12.5, $prev_pageview_max_scroll_percentage: 0.4 }
  expect(posthogEvent('$pageleave', left)).toMatchObject({
    event_name: 'page_leave',
    properties: { engagement_ms: 12_500, scroll_depth: 40 },
  })
  // In an app of one page, the next view tells of the one before.
  const views = eventsOf(fromPosthog(posthogRow('$pageview', { ...left, $prev_pageview_pathname: '/home' })))
  expect(views.map(({ event }) => [event['event_name'], event['url'], event['properties']])).toEqual([
    ['page_leave', 'https://example.com/home', { engagement_ms: 12_500, scroll_depth: 40 }],
    ['pageview', 'https://example.com/pricing?utm_source=x', undefined],
  ])
  expect(new Set(views.map(({ event }) => event['client_event_id'])).size).toBe(2)
  const click = { $event_type: 'click', $el_text: 'Buy' }
  expect(posthogEvent('$autocapture', click)).toMatchObject({ event_name: 'button_click', properties: { text: 'Buy' } })
  const away = { ...click, $external_click_url: 'https://other.example/' }
  expect(posthogEvent('$autocapture', away)).toMatchObject({
    event_name: 'outbound_click',
    properties: { href: 'https://other.example/', text: 'Buy' },
  })
  expect(posthogEvent('$autocapture', { $event_type: 'submit' })).toMatchObject({ event_name: 'form_submit' })
  const set = { $set: { email: 'ada@example.com', name: 'Ada' }, $anon_distinct_id: 'anon-1' }
  expect(posthogEvent('$identify', set)).toMatchObject({
    event_type: 'identify',
    email: 'ada@example.com',
    full_name: 'Ada',
    anonymous_id: '018f9f3e-2222',
    properties: { user_id: '018f9f3e-0000-7000-8000-00000000000d' },
  })
  const vitals = eventsOf(
    fromPosthog(posthogRow('$web_vitals', { $web_vitals_LCP_value: 900, $web_vitals_INP_value: 40 })),
  )
  expect(vitals.map(({ event }) => event['properties'])).toEqual([
    { metric: 'LCP', value: 900 },
    { metric: 'INP', value: 40 },
  ])
  expect(fromPosthog(posthogRow('$feature_flag_called'))).toEqual({ leftOut: '$feature_flag_called' })
  expect(fromPosthog({ event: '$pageview', properties: {} })).toEqual({ refused: 'timestamp: Field required' })
})

/** As ClickHouse writes a row of `events_v2` with ids as texts. */
const plausibleRow = {
  name: 'pageview',
  site_id: '7',
  hostname: 'example.com',
  pathname: '/pricing',
  user_id: '16538233444512345678',
  session_id: '9876543210987654321',
  timestamp: '2026-03-05 14:22:31',
  referrer: 'duckduckgo.com/a',
  referrer_source: 'DuckDuckGo',
  utm_source: '',
  utm_medium: 'email',
  country_code: 'DE',
  screen_size: 'Laptop',
  subdivision1_code: 'DE-BE',
  operating_system: 'Mac',
  browser: 'Mobile Safari',
  'meta.key': ['author'],
  'meta.value': ['Ada'],
}
const ofPlausible = (fields: object) => makePlausibleMapper()({ ...plausibleRow, ...fields })

test('a page view of Plausible has its page, referrer, visitor, session and time, and what was known of the visitor', () => {
  expect(eventsOf(ofPlausible({}))).toEqual([
    {
      event: {
        event_name: 'pageview',
        url: 'https://example.com/pricing',
        referrer: 'https://duckduckgo.com/a',
        anonymous_id: plausibleRow.user_id,
        session_id: plausibleRow.session_id,
        occurred_at: '2026-03-05 14:22:31Z',
        medium: 'email',
        properties: { author: 'Ada' },
      },
      visitor: { country: 'DE', region: 'DE-BE', device: 'desktop', browser: 'Safari', os: 'macOS' },
    },
  ])
  const [bare] = eventsOf(ofPlausible({ referrer: '', referrer_source: 'letter', country_code: '\0\0' }))
  expect([bare!.event['source'], bare!.visitor!.country]).toEqual(['letter', undefined])
})

test('a click on an ad that Plausible knows by its parameter is the ad’s, also where its page names no medium', () => {
  const came = (fields: object) => {
    const { source, medium } = eventOf(ofPlausible({ referrer: 'google.com', utm_medium: '', ...fields }))
    return [source, medium]
  }
  expect(came({ utm_medium: '(gclid)', click_id_param: 'gclid' })).toEqual(['google', 'cpc'])
  expect(came({ utm_medium: '(msclkid)', referrer: '' })).toEqual(['bing', 'cpc'])
  expect(came({ click_id_param: 'wbraid', utm_source: 'ads', utm_medium: 'paid' })).toEqual(['ads', 'paid'])
  expect(came({ utm_source: 'ads', utm_medium: '(paid)' })).toEqual(['ads', '(paid)'])
  expect(came({ click_id_param: 'fbclid' })).toEqual([undefined, undefined])
})

test('automatic goals of Plausible become our events, and engagement a page_leave; another site is refused', () => {
  const goal = (name: string, key: string, value: string) => {
    const { event_name, properties } = eventOf(ofPlausible({ name, 'meta.key': [key], 'meta.value': [value] }))
    return [event_name, properties]
  }
  const href = 'https://a.example/x.pdf'
  expect(goal('Outbound Link: Click', 'url', href)).toEqual(['outbound_click', { href }])
  expect(goal('File Download', 'url', href)).toEqual(['file_download', { href }])
  expect(goal('404', 'path', '/gone')).toEqual(['not_found', { path: '/gone' }])
  expect(goal('WP Search Queries', 'search_query', 'boots')).toEqual(['site_search', { search_term: 'boots' }])
  expect(goal('Signup', 'plan', 'pro')).toEqual(['Signup', { plan: 'pro' }])
  const left = (scroll_depth: number) =>
    eventOf(ofPlausible({ name: 'engagement', engagement_time: 30_000, scroll_depth })).properties
  expect([left(80), left(255)]).toEqual([{ engagement_ms: 30_000, scroll_depth: 80 }, { engagement_ms: 30_000 }])
  expect(ofPlausible({ user_id: 2 ** 60 })).toEqual({
    refused: 'user_id: a number too long for JSON; export it as a text',
  })
  const map = makePlausibleMapper()
  map(plausibleRow)
  expect(map({ ...plausibleRow, site_id: '8' })).toEqual({ refused: 'site_id: not 7, as the first line has' })
})
