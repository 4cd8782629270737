import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectClickHouse } from '../../clickhouse/client.ts'
import { insertInbox } from '../../postgres/tables/inbox.ts'
import { makeTestWorkspace, type TestWorkspace } from '../support/overview.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

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

describe('counters', () => {
  let workspace: TestWorkspace
  const today = { start: '2026-11-20', end: '2026-11-20T14:25:00Z' }
  beforeAll(async () => {
    workspace = await makeTestWorkspace(stores, { timezone: 'Europe/Berlin' })
    await workspace.addEvents([
      // Local midnight of the 20th is 23:00 UTC of the 19th.
      { visitor: 9, occurred_at: '2026-11-19T22:59:59.999Z' },
      { visitor: 1, occurred_at: '2026-11-19T23:00:00Z', path: '/', engagement_ms: 4_000 },
      { visitor: 1, occurred_at: '2026-11-19T23:00:30Z', kind: 'page_leave', engagement_ms: 5_999 },
      { visitor: 2, occurred_at: '2026-11-20T08:00:00Z', path: '/a' },
      { visitor: 2, occurred_at: '2026-11-20T08:00:10.500Z', path: '/b' },
      { visitor: 3, occurred_at: '2026-11-20T09:00:00Z' },
      { visitor: 3, occurred_at: '2026-11-20T09:00:01Z', kind: 'conversion' },
      { visitor: 3, occurred_at: '2026-11-20T09:00:02Z', kind: 'conversion' },
      { visitor: 0, occurred_at: '2026-11-20T10:00:00Z', kind: 'conversion', source: 'newsletter', medium: 'email' },
      { visitor: 2, session: 77, occurred_at: '2026-11-20T14:24:59.999Z', kind: 'custom' },
      { visitor: 8, occurred_at: '2026-11-20T14:25:00Z' },
    ])
    await workspace.addBotVisits([
      { occurred_at: '2026-11-20T00:00:00Z' },
      { occurred_at: '2026-11-20T14:25:00Z' },
      { occurred_at: '2026-11-19T22:00:00Z' },
    ])
  })

  it('count what lies from the start on and before the end, server events without a visitor', async () => {
    const { metrics } = await workspace.ask(today)
    expect(metrics).toMatchObject({ visitors: 3, sessions: 4, pageviews: 4, events: 9, conversions: 3, bot_visits: 1 })
    expect(metrics).toMatchObject({ conversion_rate: 33.33, pages_per_session: 1, live_visitors: 2 })
  })

  it('count as a bounce one pageview without conversion, event of its own or ten seconds of engagement', async () => {
    const { metrics } = await workspace.ask(today)
    // Of four sessions only visitor 1's, with 9,999 ms: 30 s, 10.5 s, 2 s and 0 s long.
    expect(metrics.bounce_rate).toBe(25)
    expect(metrics.average_session_seconds).toBe(10.63)
  })

  it('of the period before are the same counters', async () => {
    const { metrics } = await workspace.ask(today)
    expect(metrics.previous).toMatchObject({ visitors: 1, sessions: 1, pageviews: 1, events: 1, bot_visits: 1 })
    expect(Object.keys(metrics.previous!).sort()).toEqual(
      Object.keys(metrics)
        .filter(
          (name) =>
            !['live_visitors', 'ad_campaigns', 'as_of', 'lists_cut', 'range', 'previous', 'previous_range'].includes(
              name,
            ),
        )
        .sort(),
    )
  })

  it('of the series are each bucket’s own', async () => {
    const { traffic_series } = await workspace.ask(today)
    const busy = traffic_series.filter((point) => point.visitors + point.conversions > 0)
    expect(
      busy.map(({ label, visitors, sessions, pageviews, conversions }) => [
        label,
        visitors,
        sessions,
        pageviews,
        conversions,
      ]),
    ).toEqual([
      ['2026-11-20 00:00', 1, 1, 1, 0],
      ['2026-11-20 09:00', 1, 1, 2, 0],
      ['2026-11-20 10:00', 1, 1, 1, 2],
      ['2026-11-20 11:00', 0, 0, 0, 1],
      ['2026-11-20 15:00', 1, 1, 0, 0],
    ])
  })
})

it('compares `days` with the same days and time of day before them', async () => {
  const workspace = await makeTestWorkspace(stores, { timezone: 'Europe/Berlin' })
  await workspace.addEvents([
    { visitor: 1, occurred_at: '2026-11-16T22:59:59.999Z' },
    { visitor: 2, occurred_at: '2026-11-16T23:00:00Z' },
    { visitor: 3, occurred_at: '2026-11-18T14:24:59.999Z' },
    { visitor: 4, occurred_at: '2026-11-18T14:25:00Z' },
    { visitor: 4, occurred_at: '2026-11-18T23:00:00Z' },
  ])
  await workspace.addBotVisits([{ occurred_at: '2026-11-16T23:00:00Z' }, { occurred_at: '2026-11-18T14:25:00Z' }])
  const { metrics } = await workspace.ask({ days: '2' })
  expect(metrics).toMatchObject({ visitors: 1, previous: { visitors: 2, pageviews: 2, bot_visits: 1 } })
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

describe('a session', () => {
  it('belongs to the range of its first event, with all that comes after', async () => {
    const workspace = await makeTestWorkspace(stores, {})
    await workspace.addEvents([
      { visitor: 1, occurred_at: '2026-11-18T23:50:00Z', path: '/in' },
      { visitor: 1, occurred_at: '2026-11-19T00:10:00Z', path: '/on' },
      { visitor: 2, occurred_at: '2026-11-19T23:55:00Z', path: '/late', source: 'bing', medium: 'organic' },
      { visitor: 2, occurred_at: '2026-11-20T00:05:00Z', path: '/later' },
    ])
    const { metrics, top_sources, top_pages } = await workspace.ask({ start: '2026-11-19', end: '2026-11-19' })
    expect(metrics).toMatchObject({
      visitors: 2,
      sessions: 2,
      pageviews: 2,
      average_session_seconds: 600,
      bounce_rate: 0,
    })
    expect(top_sources).toMatchObject([{ source: 'bing', visitors: 1, sessions: 1, pageviews: 2, events: 2 }])
    expect(top_pages.map(({ path, pageviews }) => [path, pageviews])).toEqual([
      ['/late', 1],
      ['/on', 1],
    ])
  })
})

describe('what the plan no longer keeps', () => {
  it('is as if it weren’t there, at once, while the range stays as asked', async () => {
    const workspace = await makeTestWorkspace(stores, { plan: 'starter' })
    await workspace.addEvents([
      // Of the day 30 days ago nothing is left, because it had begun by then.
      { visitor: 1, occurred_at: '2026-10-21T23:59:59.999Z' },
      { visitor: 2, occurred_at: '2026-10-22T00:00:00Z' },
    ])
    const { metrics, traffic_series } = await workspace.ask({ days: '60' })
    expect(metrics).toMatchObject({ visitors: 1, pageviews: 1, previous: null })
    expect(metrics.range.start).toBe('2026-09-22T00:00:00.000Z')
    expect(traffic_series).toHaveLength(60)
  })

  it('is less with the workspace’s own setting', async () => {
    const workspace = await makeTestWorkspace(stores, { plan: 'scale', retentionDays: 7 })
    await workspace.addEvents([{ occurred_at: '2026-11-13T14:24:59Z' }])
    expect((await workspace.ask({ days: '30' })).metrics.visitors).toBe(0)
    expect((await workspace.ask({ days: '3' })).metrics.previous).not.toBeNull()
    expect((await workspace.ask({ days: '4' })).metrics.previous).toBeNull()
  })
})

it('keeps one workspace’s events out of another’s figures', async () => {
  const [one, other] = [await makeTestWorkspace(stores, {}), await makeTestWorkspace(stores, {})]
  await one.addEvents([{ visitor: 1 }, { visitor: 2 }])
  await other.addEvents([{ visitor: 1 }])
  expect((await one.ask()).metrics.visitors).toBe(2)
  expect((await other.ask()).metrics.visitors).toBe(1)
})

it('counts new contacts by the first time their e-mail was seen', async () => {
  const workspace = await makeTestWorkspace(stores, {})
  let eventId = 0
  const seen = async (email: string | null, at: string) => {
    eventId++
    await stores.pg.transaction((tx) =>
      insertInbox(tx, eventId, [
        {
          event_id: eventId,
          workspace_id: workspace.id,
          event_type: 'identify',
          event_name: 'login',
          email,
          anonymous_id: '',
          full_name: '',
          properties: {},
          source: '',
          medium: '',
          campaign: '',
          content: '',
          occurred_at: Date.parse(at),
          received_at: Date.parse(at),
        },
      ]),
    )
  }
  await seen('ada@example.com', '2026-11-10T00:00:00Z')
  await seen('ada@example.com', '2026-11-20T00:00:00Z')
  await seen('bob@example.com', '2026-11-20T10:00:00Z')
  await seen(null, '2026-11-20T10:00:00Z')
  expect((await workspace.ask({ days: '1' })).metrics.new_contacts).toBe(1)
  expect((await workspace.ask({ days: '30' })).metrics.new_contacts).toBe(2)
})

it('says which store is away, and never answers half', async () => {
  const away = connectClickHouse('http://127.0.0.1:1')
  const workspace = await makeTestWorkspace({ ...stores, ch: away }, {})
  await expect(workspace.ask()).rejects.toMatchObject({ name: 'StoreUnavailable', store: 'clickhouse' })
  await away.close()
})
