/** The oracle against figures worked out by hand: what judges must itself be right. */
import { describe, expect, test } from 'vitest'
import { makeBotVisitRow, makeEventRow } from '../support/event-rows.ts'
import { perCent, twoDecimals } from './counters.ts'
import { instantOf, localAt, offsetAt, startOfDay } from './local-time.ts'
import { computeOverview } from './overview.ts'
import { bucketsOf, resolveRange } from './range.ts'

const at = (text: string) => Date.parse(text)
const iso = (instant: number) => new Date(instant).toISOString()
const date = (text: string) => Date.parse(`${text}T00:00:00Z`)

describe('the oracle reads clocks', () => {
  test('with half hours, quarters, and changes of half an hour', () => {
    expect(offsetAt('Asia/Kathmandu', at('2026-01-01T00:07:00Z'))).toBe(5.75 * 3_600_000)
    expect(offsetAt('Australia/Lord_Howe', at('2026-01-01T00:00:00Z'))).toBe(11 * 3_600_000)
    expect(offsetAt('Australia/Lord_Howe', at('2026-07-01T00:00:00Z'))).toBe(10.5 * 3_600_000)
    expect(iso(localAt('Pacific/Chatham', at('2026-01-01T00:00:00Z')))).toBe('2026-01-01T13:45:00.000Z')
  })

  test('beginning a day with its first moment', () => {
    expect(iso(startOfDay('Europe/Berlin', date('2026-03-29')))).toBe('2026-03-28T23:00:00.000Z')
    // Cairo skips its midnight, Havana has it twice.
    expect(iso(startOfDay('Africa/Cairo', date('2026-04-24')))).toBe('2026-04-23T22:00:00.000Z')
    expect(iso(startOfDay('America/Havana', date('2025-11-02')))).toBe('2025-11-02T04:00:00.000Z')
  })

  test('moving skipped times forward and taking the earlier of repeated ones', () => {
    expect(iso(instantOf('Europe/Berlin', at('2026-03-29T02:30:00Z')))).toBe('2026-03-29T01:30:00.000Z')
    expect(iso(instantOf('Europe/Berlin', at('2026-10-25T02:30:00Z')))).toBe('2026-10-25T00:30:00.000Z')
    expect(iso(instantOf('America/Sao_Paulo', at('2018-11-04T00:15:00Z')))).toBe('2018-11-04T03:15:00.000Z')
  })
})

describe('the oracle cuts ranges', () => {
  const now = at('2026-11-20T12:34:56.789Z')
  const berlin = { timezone: 'Europe/Berlin', retentionDays: 730 }
  const resolve = (query: Parameters<typeof resolveRange>[0]) => {
    const span = resolveRange(query, berlin, now)
    return span && [iso(span.start), iso(span.end)]
  }

  test('as the query says', () => {
    expect(resolve({ days: 1 })).toEqual(['2026-11-19T23:00:00.000Z', iso(now)])
    expect(resolve({ days: 5, hours: 2 })).toEqual(['2026-11-20T10:34:56.789Z', iso(now)])
    expect(resolve({ start: '2026-11-01', hours: 2 })).toEqual(['2026-10-31T23:00:00.000Z', iso(now)])
    const oneDay = ['2026-11-17T23:00:00.000Z', '2026-11-18T23:00:00.000Z']
    expect(resolve({ end: '2026-11-18', days: 1 })).toEqual(oneDay)
    expect(resolve({ end: '2026-11-19T00:00:00', days: 1 })).toEqual(oneDay)
    expect(resolve({ end: '2026-11-18T23:00:00Z', days: 1 })).toEqual(oneDay)
    expect(resolve({ start: '2026-11-18', end: '2026-11-19T00:00:00+01:00' })).toEqual(oneDay)
    expect(resolve({ start: '2026-11-21' })).toBeUndefined()
    expect(resolve({ start: '2025-03-01', end: '2026-03-01' })).toBeDefined()
    expect(resolve({ start: '2025-03-01', end: '2026-03-02' })).toBeUndefined()
  })

  test('into buckets, labelled', () => {
    const hours = (timezone: string, from: string, to: string) =>
      bucketsOf({ start: at(from), end: at(to) }, timezone).map(
        ({ label, start, end }) => `${label} ${(end - start) / 60_000}`,
      )
    expect(hours('Australia/Lord_Howe', '2026-04-04T14:00:00Z', '2026-04-04T16:00:00Z')).toEqual([
      '2026-04-05 01:00 60',
      '2026-04-05 01:00 30',
      '2026-04-05 02:00 30',
    ])
    expect(hours('Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T02:10:00Z')).toEqual([
      '2026-10-25 02:00 30',
      '2026-10-25 02:00 60',
      '2026-10-25 03:00 10',
    ])
    const days = bucketsOf({ start: date('2026-10-24'), end: date('2026-10-28') }, 'Europe/Berlin')
    expect(days.map(({ label, start, end }) => [label, (end - start) / 3_600_000])).toEqual([
      ['2026-10-24', 22],
      ['2026-10-25', 25],
      ['2026-10-26', 24],
      ['2026-10-27', 24],
      ['2026-10-28', 1],
    ])
    const weeks = bucketsOf({ start: date('2026-07-01'), end: date('2027-01-05') }, 'Europe/Berlin')
    expect(weeks.map(({ label }) => label)).toEqual(expect.arrayContaining(['2026-W27', '2026-W53', '2027-W01']))
    expect(weeks).toHaveLength(28)
  })
})

test('the oracle rounds whole counts half up', () => {
  expect([perCent(1, 3), perCent(2, 3), perCent(1, 0), perCent(1, 800), twoDecimals(1005, 1000)]).toEqual([
    33.33, 66.67, 0, 0.13, 1.01,
  ])
})

test('the oracle counts a morning as one would by hand', () => {
  const day = '2026-11-20T'
  const events = [
    // Visitor 7 came by a newsletter 30 days ago to the millisecond, and converts today on a direct visit.
    makeEventRow({ visitor: 7, session: 70, occurred_at: '2026-10-21T09:00:00Z', source: 'news', medium: 'email' }),
    makeEventRow({ visitor: 7, session: 71, occurred_at: `${day}08:59:00Z`, path: '/in', title: 'In' }),
    makeEventRow({ visitor: 7, session: 71, occurred_at: `${day}09:00:00Z`, kind: 'conversion', path: '/buy' }),
    // Visitor 8 began yesterday evening and read on: the session isn't today's, its pageview is.
    makeEventRow({ visitor: 8, session: 80, occurred_at: '2026-11-19T23:50:00Z', source: 'search', medium: 'organic' }),
    makeEventRow({ visitor: 8, session: 80, occurred_at: `${day}00:10:00Z`, path: '/in', source: '' }),
    // Visitor 9 bounces; visitor 10 stays for ten seconds.
    makeEventRow({ visitor: 9, session: 90, occurred_at: `${day}10:00:00Z`, path: '/in', device: 'mobile' }),
    makeEventRow({ visitor: 10, session: 100, occurred_at: `${day}10:00:00Z`, path: '/in', title: 'In, anew' }),
    makeEventRow({
      visitor: 10,
      session: 100,
      occurred_at: `${day}10:00:15Z`,
      kind: 'page_leave',
      engagement_ms: 10_000,
    }),
    makeEventRow({
      visitor: 10,
      session: 100,
      occurred_at: `${day}10:00:16Z`,
      kind: 'web_vital',
      metric: 'CLS',
      metric_value: 0.1,
    }),
    makeEventRow({ visitor: 0, occurred_at: `${day}11:00:00Z`, kind: 'conversion', source: 'shop', medium: '' }),
  ]
  const facts = {
    events,
    botVisits: [makeBotVisitRow({ occurred_at: `${day}01:00:00Z` })],
    emails: [
      { email: 'a@example.com', occurredAt: at(`${day}11:00:00Z`) },
      { email: 'b@example.com', occurredAt: at('2026-11-01T00:00:00Z') },
      { email: 'b@example.com', occurredAt: at(`${day}11:00:00Z`) },
    ],
  }
  const overview = computeOverview(facts, { days: 1 }, { timezone: 'UTC', retentionDays: 180 }, at(`${day}12:00:00Z`))!
  expect(overview.metrics).toMatchObject({
    visitors: 4,
    sessions: 4,
    pageviews: 4,
    events: 8,
    conversions: 2,
    conversion_rate: 25,
    bounce_rate: 33.33,
    average_session_seconds: 25.33,
    pages_per_session: 1,
    live_visitors: 0,
    new_contacts: 1,
    bot_visits: 1,
    previous: { visitors: 1, sessions: 1, pageviews: 1, events: 1, conversions: 0, bounce_rate: 0 },
  })
  expect(overview.top_sources).toEqual([
    { source: 'direct', medium: 'none', visitors: 3, sessions: 3, pageviews: 3, events: 6, conversions: 0 },
    { source: 'news', medium: 'email', visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 1 },
    { source: 'shop', medium: '', visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 1 },
  ])
  expect(overview.top_pages).toEqual([
    { path: '/in', title: 'In, anew', pageviews: 4, visitors: 4, sessions: 4, conversions: 0, bounce_rate: 33.33 },
  ])
  expect(overview.devices.map(({ key, visitors, conversions }) => [key, visitors, conversions])).toEqual([
    ['desktop', 2, 2],
    ['mobile', 1, 0],
  ])
  expect(overview.web_vitals[3]).toMatchObject({ metric: 'CLS', count: 1, p75: 0.1, rating: 'good' })
  expect(overview.recent_events).toHaveLength(6)
  expect(overview.traffic_series).toHaveLength(12)
})
