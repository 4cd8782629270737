import { describe, expect, it } from 'vitest'
import type { EventLike } from '../support/event-rows.ts'
import { makeTestWorkspace, type Overview } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

async function overviewOf(events: readonly EventLike[], query: Record<string, string> = {}): Promise<Overview> {
  const workspace = await makeTestWorkspace(stores, {})
  await workspace.addEvents(events)
  return workspace.ask(query)
}

/** Ids of other leases than those that count up from 1: folds take up ids in order. */
const above = 2 ** 45

const google = { source: 'google', medium: 'organic' }
const mail = { source: 'newsletter', medium: 'email' }
const credited = ({ top_sources }: Overview) =>
  Object.fromEntries(top_sources.filter((row) => row.conversions > 0).map((row) => [row.source, row.conversions]))

describe('a conversion is credited', () => {
  it('to the last source of its visitor that isn’t direct, in whatever session', async () => {
    const overview = await overviewOf([
      { visitor: 1, session: 1, occurred_at: '2026-11-01T10:00:00Z', ...google },
      { visitor: 1, session: 2, occurred_at: '2026-11-10T10:00:00Z', ...mail },
      { visitor: 1, session: 3, occurred_at: '2026-11-20T10:00:00Z' },
      { visitor: 1, session: 3, occurred_at: '2026-11-20T10:01:00Z', kind: 'conversion' },
    ])
    expect(credited(overview)).toEqual({ newsletter: 1 })
  })

  it('also to a touch before the range, if it is in no row of the range itself', async () => {
    const events: EventLike[] = [
      { visitor: 1, session: 1, occurred_at: '2026-11-01T10:00:00Z', ...google },
      { visitor: 1, session: 3, occurred_at: '2026-11-20T10:01:00Z', kind: 'conversion' },
    ]
    const { top_sources } = await overviewOf(events, { days: '1' })
    expect(top_sources.map(({ source, visitors, conversions }) => [source, visitors, conversions])).toEqual([
      ['direct', 1, 0],
      ['google', 0, 1],
    ])
  })

  it('to a touch of 30 days before, and not of a millisecond more', async () => {
    const touchedAt = async (occurred_at: string) =>
      credited(
        await overviewOf(
          [
            { visitor: 1, session: 1, occurred_at, ...google },
            { visitor: 1, session: 2, occurred_at: '2026-11-20T10:00:00Z', kind: 'conversion' },
          ],
          { days: '1' },
        ),
      )
    expect(await touchedAt('2026-10-21T10:00:00.000Z')).toEqual({ google: 1 })
    expect(await touchedAt('2026-10-21T09:59:59.999Z')).toEqual({ direct: 1 })
  })

  it('to its own source before an older one, and to none that comes after', async () => {
    const overview = await overviewOf([
      { id: above + 11, visitor: 1, occurred_at: '2026-11-20T10:00:00Z', ...google },
      { id: above + 12, visitor: 1, occurred_at: '2026-11-20T10:01:00Z', kind: 'conversion', ...mail },
      { id: above + 13, visitor: 1, occurred_at: '2026-11-20T10:01:00Z', source: 'bing', medium: 'organic' },
      { visitor: 2, occurred_at: '2026-11-20T10:00:00Z', kind: 'conversion' },
      { visitor: 2, occurred_at: '2026-11-20T10:00:01Z', source: 'bing', medium: 'organic' },
    ])
    expect(credited(overview)).toEqual({ newsletter: 1, direct: 1 })
  })

  it('without a visitor, to the source that it sent itself', async () => {
    const { top_sources } = await overviewOf([
      { visitor: 0, kind: 'conversion', ...mail },
      { visitor: 0, ...google },
    ])
    expect(top_sources).toMatchObject([{ source: 'newsletter', visitors: 0, events: 0, conversions: 1 }])
    expect(top_sources).toHaveLength(1)
  })
})

describe('breakdowns', () => {
  it('count sessions by their first event and conversions by their own, with labels', async () => {
    const { devices, browsers, countries } = await overviewOf([
      { visitor: 1, device: 'mobile', browser: 'Safari', country: 'DE', occurred_at: '2026-11-20T10:00:00Z' },
      { visitor: 1, device: 'desktop', browser: 'Chrome', country: 'FR', occurred_at: '2026-11-20T10:01:00Z' },
      { visitor: 2, device: 'unknown', browser: '', occurred_at: '2026-11-20T11:00:00Z' },
      { visitor: 0, device: 'tablet', browser: '', country: 'FR', kind: 'conversion' },
    ])
    const short = (rows: Overview['devices']) =>
      rows.map(({ key, label, visitors, sessions, pageviews, conversions }) => [
        key,
        label,
        visitors,
        sessions,
        pageviews,
        conversions,
      ])
    expect(short(devices)).toEqual([
      ['mobile', 'Mobile', 1, 1, 2, 0],
      ['unknown', 'Unknown', 1, 1, 1, 0],
      ['tablet', 'Tablet', 0, 0, 0, 1],
    ])
    expect(short(browsers)).toEqual([
      ['unknown', 'Unknown', 1, 1, 1, 1],
      ['Safari', 'Safari', 1, 1, 2, 0],
    ])
    expect(short(countries)).toEqual([
      ['DE', 'Germany', 1, 1, 2, 0],
      ['unknown', 'Unknown', 1, 1, 1, 0],
      ['FR', 'France', 0, 0, 0, 1],
    ])
  })
})

describe('recent_events', () => {
  it('show every field of an event', async () => {
    const { recent_events } = await overviewOf([
      {
        id: 2 ** 52 + 1,
        kind: 'conversion',
        event_name: 'purchase',
        session: 2 ** 53 - 1,
        anonymous_id: 'aid-1',
        occurred_at: '2026-11-20T10:00:00.007Z',
        received_at: Date.parse('2026-11-20T10:00:01Z'),
        path: '/kasse/ü',
        title: 'Kasse “€”',
        referrer: 'https://news.example/',
        campaign: 'autumn',
        content: 'button',
        properties: '{"plan":"pro","n":1.5,"deep":{"list":[null,true]}}',
        ...google,
      },
      { occurred_at: '2026-11-20T09:00:00Z', session_named: 0, properties: '' },
    ])
    expect(recent_events[0]).toEqual({
      id: 2 ** 52 + 1,
      object_id: `event_${2 ** 52 + 1}`,
      contact_id: null,
      session_id: 2 ** 53 - 1,
      anonymous_id: 'aid-1',
      event_type: 'conversion',
      event_name: 'purchase',
      url: 'https://example.com/kasse/ü',
      path: '/kasse/ü',
      title: 'Kasse “€”',
      referrer: 'https://news.example/',
      ...google,
      campaign: 'autumn',
      content: 'button',
      currency: '',
      value_cents: 0,
      properties: { plan: 'pro', n: 1.5, deep: { list: [null, true] } },
      occurred_at: '2026-11-20T10:00:00.007Z',
      created_at: '2026-11-20T10:00:01.000Z',
    })
    expect(recent_events[1]).toMatchObject({ session_id: null, properties: {} })
  })
})
