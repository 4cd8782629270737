/** The overview's shape: every member of an empty workspace, every field of an event, and which events are the newest. */
import { expect, test } from 'vitest'
import { recentEventsMax } from '../../schemas/limits/overview-limits.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { makeTestWorkspace } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const now = Date.UTC(2026, 10, 20, 14, 25)
const [second, hour] = [1_000, 3_600_000]

test('a workspace without events has zeros everywhere, every bucket and vital, and the snippet', async () => {
  const workspace = await makeTestWorkspace(stores, {})
  const overview = await workspace.ask({ days: '2' })
  const zeros = {
    visitors: 0,
    pageviews: 0,
    sessions: 0,
    events: 0,
    conversions: 0,
    conversion_rate: 0,
    revenue_cents: 0,
    revenue_by_currency: {},
    ad_spend_cents: 0,
    ad_spend_by_currency: {},
    bounce_rate: 0,
    new_contacts: 0,
    average_session_seconds: 0,
    pages_per_session: 0,
    bot_visits: 0,
    link_clicks: 0,
  }
  expect(overview.metrics).toEqual({
    ...zeros,
    ad_campaigns: [],
    live_visitors: 0,
    lists_cut: false,
    as_of: expect.stringMatching(/^\d{4}-.*Z$/),
    readable_from: expect.stringMatching(/T00:00:00.000Z$/),
    range: { start: '2026-11-19T00:00:00.000Z', end: '2026-11-20T14:25:00.000Z', timezone: 'UTC', bucket: 'hour' },
    previous: zeros,
    previous_range: { start: '2026-11-17T00:00:00.000Z', end: '2026-11-18T14:25:00.000Z' },
  })
  expect(overview.traffic_series).toHaveLength(39)
  expect(overview.traffic_series[0]).toEqual({
    label: '2026-11-19 00:00',
    start: '2026-11-19T00:00:00.000Z',
    end: '2026-11-19T01:00:00.000Z',
    visitors: 0,
    pageviews: 0,
    sessions: 0,
    conversions: 0,
    revenue_cents: 0,
    bounce_rate: 0,
    average_session_seconds: 0,
  })
  expect(overview.web_vital_series).toHaveLength(39)
  const { values, counts } = overview.web_vital_series[0]!
  expect([values, counts]).toEqual([{}, { FCP: 0, LCP: 0, INP: 0, CLS: 0 }])
  expect(overview.web_vitals.map(({ metric, rating, count, p75 }) => [metric, rating, count, p75])).toEqual(
    ['FCP', 'LCP', 'INP', 'CLS'].map((metric) => [metric, 'no_data', 0, 0]),
  )
  const { top_sources, top_pages, devices, browsers, countries, web_vital_pages, recent_events } = overview
  for (const list of [top_sources, top_pages, devices, browsers, countries, web_vital_pages, recent_events]) {
    expect(list).toEqual([])
  }
  const script_url = `https://api.example.com/svc.js?key=${workspace.trackingKey}`
  expect(overview.snippet).toEqual({
    workspace_id: workspace.id,
    workspace_slug: expect.stringMatching(/^acme/),
    script_url,
    tracking_key: workspace.trackingKey,
    snippet: `<script async src="${script_url}"></script>`,
  })
})

test('an event is shown with every field, breakdowns have labels, and as_of is after what is in them', async () => {
  const workspace = await makeTestWorkspace(stores, {})
  const before = Date.now()
  const shown = {
    event_name: 'purchase',
    anonymous_id: 'aid-1',
    path: '/kasse/ü',
    title: 'Kasse “€”',
    referrer: 'https://news.example/',
    source: 'google',
    medium: 'organic',
    campaign: 'autumn',
    content: 'button',
  }
  await workspace.addEvents([
    {
      ...shown,
      id: 2 ** 52 + 1,
      kind: 'conversion',
      session: 2 ** 53 - 1,
      device: 'mobile',
      country: 'DE',
      occurred_at: '2026-11-20T10:00:00.007Z',
      received_at: Date.parse('2026-11-20T10:00:01Z'),
      properties: '{"plan":"pro","n":1.5,"deep":{"list":[null,true]}}',
    },
    { occurred_at: '2026-11-20T09:00:00Z', session_named: 0, properties: '', device: 'unknown', browser: '' },
  ])
  const { recent_events, devices, browsers, countries, metrics } = await workspace.ask()
  expect(recent_events[0]).toEqual({
    ...shown,
    id: 2 ** 52 + 1,
    object_id: `event_${2 ** 52 + 1}`,
    contact_id: null,
    session_id: 2 ** 53 - 1,
    event_type: 'conversion',
    url: 'https://example.com/kasse/ü',
    currency: '',
    value_cents: 0,
    properties: { plan: 'pro', n: 1.5, deep: { list: [null, true] } },
    occurred_at: '2026-11-20T10:00:00.007Z',
    created_at: '2026-11-20T10:00:01.000Z',
  })
  expect([recent_events[1]?.session_id, recent_events[1]?.properties]).toEqual([null, {}])
  const labels = [devices, browsers, countries].map((rows) => rows.map(({ key, label }) => [key, label]))
  expect(labels).toEqual([
    expect.arrayContaining([
      ['mobile', 'Mobile'],
      ['unknown', 'Unknown'],
    ]),
    expect.arrayContaining([['unknown', 'Unknown']]),
    expect.arrayContaining([
      ['DE', 'Germany'],
      ['unknown', 'Unknown'],
    ]),
  ])
  expect(Date.parse(metrics.as_of)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(metrics.as_of)).toBeLessThanOrEqual(Date.now())
})

test('recent events are at most fifty, the newest first, of one moment those of higher ids, and none that is not folded', async () => {
  const workspace = await makeTestWorkspace(stores, {})
  // Two of each second, over an hour's end and with gaps, in an order of ids that isn't that of time.
  const at = (nth: number) => now - 30 * 60 * second - (nth >> 1) * 37 * second
  const events = Array.from({ length: 3 * recentEventsMax }, (_, nth) => ({
    event_name: `${nth}`,
    occurred_at: at(nth),
  }))
  await workspace.addEvents(events.filter((_, nth) => nth % 3 === 0))
  await workspace.addEvents(events.filter((_, nth) => nth % 3 !== 0))
  await insertEventRows(stores.ch, [makeEventRow({ workspace_id: workspace.id, occurred_at: now - hour / 60 })])
  const { recent_events } = await workspace.ask({ days: '30' })
  const ids = new Map(recent_events.map(({ id, event_name }) => [event_name, id]))
  expect(ids.size).toBe(recentEventsMax)
  const expected = events
    .slice(0, recentEventsMax)
    .sort((a, b) => b.occurred_at - a.occurred_at || ids.get(b.event_name)! - ids.get(a.event_name)!)
  expect(recent_events.map(({ event_name }) => event_name)).toEqual(expected.map(({ event_name }) => event_name))
})
