import { describe, expect, it } from 'vitest'
import { makeTestWorkspace } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

describe('a workspace without events', () => {
  it('has zeros everywhere, and every bucket and vital', async () => {
    const overview = await (await makeTestWorkspace(stores, {})).ask({ days: '2' })
    const zeros = {
      visitors: 0,
      pageviews: 0,
      sessions: 0,
      events: 0,
      conversions: 0,
      conversion_rate: 0,
      revenue_cents: 0,
      ...{ revenue_by_currency: {}, ad_spend_cents: 0, ad_spend_by_currency: {} },
      bounce_rate: 0,
      average_session_seconds: 0,
      pages_per_session: 0,
      new_contacts: 0,
      bot_visits: 0,
      link_clicks: 0,
    }
    expect(overview.metrics).toEqual({
      ...zeros,
      ad_campaigns: [],
      live_visitors: 0,
      as_of: expect.stringMatching(/^\d{4}-.*Z$/),
      readable_from: expect.stringMatching(/T00:00:00.000Z$/),
      lists_cut: false,
      range: { start: '2026-11-19T00:00:00.000Z', end: '2026-11-20T14:25:00.000Z', timezone: 'UTC', bucket: 'hour' },
      previous: zeros,
      previous_range: { start: '2026-11-17T00:00:00.000Z', end: '2026-11-18T14:25:00.000Z' },
    })
    expect(overview.traffic_series).toHaveLength(39)
    expect(overview.traffic_series[0]).toEqual({
      label: '2026-11-19 00:00',
      start: '2026-11-19T00:00:00.000Z',
      end: '2026-11-19T01:00:00.000Z',
      ...{ visitors: 0, pageviews: 0, sessions: 0, conversions: 0, revenue_cents: 0 },
    })
    expect(overview.web_vital_series).toHaveLength(39)
    expect(overview.web_vital_series[0]).toMatchObject({ values: {}, counts: { FCP: 0, LCP: 0, INP: 0, CLS: 0 } })
    expect(overview.web_vitals.map(({ metric, rating, count, p75 }) => [metric, rating, count, p75])).toEqual([
      ['FCP', 'no_data', 0, 0],
      ['LCP', 'no_data', 0, 0],
      ['INP', 'no_data', 0, 0],
      ['CLS', 'no_data', 0, 0],
    ])
    const { top_sources, top_pages, devices, browsers, countries, web_vital_pages, recent_events } = overview
    for (const list of [top_sources, top_pages, devices, browsers, countries, web_vital_pages, recent_events]) {
      expect(list).toEqual([])
    }
  })

  it('shows the snippet with the newest key', async () => {
    const workspace = await makeTestWorkspace(stores, {})
    const { snippet } = await workspace.ask()
    const script_url = `https://api.example.com/svc.js?key=${workspace.trackingKey}`
    expect(snippet).toEqual({
      workspace_id: workspace.id,
      workspace_slug: expect.stringMatching(/^acme/),
      tracking_key: workspace.trackingKey,
      script_url,
      snippet: `<script async src="${script_url}"></script>`,
    })
  })
})

it('says as of when it is: everything folded by then is in it', async () => {
  const workspace = await makeTestWorkspace(stores, {})
  const before = Date.now()
  await workspace.addEvents([{ visitor: 1 }])
  const { metrics } = await workspace.ask()
  expect(metrics).toMatchObject({ visitors: 1, lists_cut: false })
  expect(Date.parse(metrics.as_of)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(metrics.as_of)).toBeLessThanOrEqual(Date.now())
})
