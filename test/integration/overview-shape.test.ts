/** The overview's shape: the metrics of an empty workspace, and every field of an event. */
import { expect, test } from 'vitest'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { makeTestWorkspace } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

// property/overview.test.ts has such ranges too, with the lists, buckets and vitals of them.
test('a workspace without events has zeros in every metric, and the snippet', async () => {
  const workspace = await makeTestWorkspace(stores, {})
  const { metrics, snippet } = await workspace.ask({ days: '2' })
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
  expect(metrics).toEqual({
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
  const script_url = `https://api.example.com/svc.js?key=${workspace.trackingKey}`
  expect(snippet).toEqual({
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
  // Not folded yet. property/overview.test.ts has which events are the newest.
  await insertEventRows(stores.ch, [makeEventRow({ workspace_id: workspace.id, occurred_at: '2026-11-20T14:00:00Z' })])
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
  expect(recent_events).toHaveLength(2)
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
