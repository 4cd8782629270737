/** The oracle against figures worked out by hand: what judges must itself be right. */
import { describe, expect, test } from 'vitest'
import { makeBotVisitRow, makeEventRow } from '../support/event-rows.ts'
import { differences } from './compare.ts'
import { perCent, twoDecimals } from './counters.ts'
import { noFacts } from './facts.ts'
import { computeOverview } from './overview.ts'
import { bucketsOf, previousOf, readableFrom, resolveRange } from './range.ts'
import { creditOf, pageSessionNames, sessionNames, sessionsOf } from './sessions.ts'

const at = (text: string) => Date.parse(text)
const iso = (instant: number) => new Date(instant).toISOString()
const date = (text: string) => Date.parse(`${text}T00:00:00Z`)

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
      bucketsOf({ start: at(from), end: at(to) }, {}, timezone).map(
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
    const days = bucketsOf({ start: date('2026-10-24'), end: date('2026-10-28') }, {}, 'Europe/Berlin')
    expect(days.map(({ label, start, end }) => [label, (end - start) / 3_600_000])).toEqual([
      ['2026-10-24', 22],
      ['2026-10-25', 25],
      ['2026-10-26', 24],
      ['2026-10-27', 24],
      ['2026-10-28', 1],
    ])
    const weeks = bucketsOf({ start: date('2026-07-01'), end: date('2027-01-05') }, {}, 'Europe/Berlin')
    expect(weeks.map(({ label }) => label)).toEqual(expect.arrayContaining(['2026-W27', '2026-W53', '2027-W01']))
    expect(weeks).toHaveLength(28)
    expect(weeks.slice(0, 2).map(({ start }) => iso(start))).toEqual([
      '2026-07-01T00:00:00.000Z',
      '2026-07-05T22:00:00.000Z',
    ])
    const months = bucketsOf(
      { start: date('2026-10-20'), end: date('2026-11-30') },
      { interval: 'month' },
      'Europe/Berlin',
    )
    expect(months.map(({ label, start }) => [label, iso(start)])).toEqual([
      ['2026-10', '2026-10-20T00:00:00.000Z'],
      ['2026-11', '2026-10-31T23:00:00.000Z'],
    ])
    // Summer time ends in the night to Sunday, October 25.
    const autumn = weeks.filter(({ label }) => label === '2026-W43' || label === '2026-W44')
    expect(autumn.map(({ start }) => iso(start))).toEqual(['2026-10-18T22:00:00.000Z', '2026-10-25T23:00:00.000Z'])
  })

  test('and says what they are compared with', () => {
    const previous = (query: Parameters<typeof resolveRange>[0]) => {
      const { start, end } = previousOf(resolveRange(query, berlin, now)!, query, 'Europe/Berlin')
      return [iso(start), iso(end)]
    }
    expect(previous({ days: 1 })).toEqual(['2026-11-18T23:00:00.000Z', '2026-11-19T12:34:56.789Z'])
    // Thirty days up to now, and those before, which ended in summer time.
    expect(previous({})).toEqual(['2026-09-21T22:00:00.000Z', '2026-10-21T11:34:56.789Z'])
    // The year before had summer time until the 29th, and no 29 February.
    expect(previous({ start: '2024-02-29', end: '2024-03-31T12:00', compare: 'year' })).toEqual([
      '2023-02-27T23:00:00.000Z',
      '2023-03-31T10:00:00.000Z',
    ])
    expect(previous({ start: '2024-02-28', end: '2024-02-28', compare: 'year' })).toEqual([
      '2023-02-27T23:00:00.000Z',
      '2023-02-28T23:00:00.000Z',
    ])
    expect(previous({ start: '2025-02-28', end: '2025-02-28', compare: 'year' })).toEqual([
      '2024-02-27T23:00:00.000Z',
      '2024-02-28T23:00:00.000Z',
    ])
    expect(previous({ hours: 2, days: 1 })).toEqual(['2026-11-20T08:34:56.789Z', '2026-11-20T10:34:56.789Z'])
    expect(previous({ start: '2026-11-18', end: '2026-11-18' })).toEqual([
      '2026-11-16T23:00:00.000Z',
      '2026-11-17T23:00:00.000Z',
    ])
    expect(previous({ end: '2026-11-18', days: 1 })[0]).toBe('2026-11-16T23:00:00.000Z')
  })

  test('and reads from the first midnight within so many times 24 hours', () => {
    const from = (text: string, retentionDays: number, timezone = 'Europe/Berlin') =>
      iso(readableFrom({ timezone, retentionDays }, at(text)))
    expect(from('2026-11-20T12:00:00Z', 1)).toBe('2026-11-19T23:00:00.000Z')
    expect(from('2026-11-20T12:00:00Z', 30)).toBe('2026-10-21T22:00:00.000Z')
    expect(from('2026-11-20T23:00:00Z', 1)).toBe('2026-11-19T23:00:00.000Z')
    expect(from('2026-11-20T23:00:00.001Z', 1)).toBe('2026-11-20T23:00:00.000Z')
    // A day of 25 hours, half an hour before its end: nothing is readable until then.
    expect(from('2026-10-25T22:30:00Z', 1)).toBe('2026-10-25T23:00:00.000Z')
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
    ...noFacts,
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
    // Yesterday until noon.
    previous: { visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 0, bounce_rate: 0 },
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

describe('the oracle tells sessions apart', () => {
  const zone = 'Asia/Kolkata'
  /** Local times; India is 5 hours 30 minutes ahead. */
  const event = (occurredAt: string, more: Parameters<typeof makeEventRow>[0] = {}) =>
    makeEventRow({ session: 5, occurred_at: `${occurredAt}+05:30`, ...more })
  const numberOf = (names: readonly string[]) => new Set(names.filter((name) => name !== '')).size

  test('by visitor and id, and anew after a silent local day', () => {
    const events = [
      event('2026-11-10T23:59:59.999'),
      event('2026-11-11T00:00:00'),
      // The end of a day and the begin of the one after the next: a day lies between.
      event('2026-11-11T23:59:59.999'),
      event('2026-11-13T00:00:00'),
      // 47 hours, and no day between.
      event('2026-11-14T23:00:00'),
      event('2026-11-14T23:00:00', { visitor: 2 }),
      event('2026-11-14T23:00:00', { visitor: 0 }),
    ]
    const names = events.map(sessionNames(events, zone))
    expect(names.map((name) => names.indexOf(name))).toEqual([0, 0, 0, 3, 3, 5, 6])
    expect(names[6]).toBe('')
    expect(sessionsOf(events, zone).map((session) => [session.events, session.durationMs / 3_600_000])).toEqual([
      [3, 24],
      [2, 47],
      [1, 0],
    ])
    // In UTC the fourth is of November 12, the day after the third; November 13 is silent.
    const utcNames = events.map(sessionNames(events, 'UTC'))
    expect(utcNames.slice(0, 5).map((name) => utcNames.indexOf(name))).toEqual([0, 0, 0, 0, 4])
  })

  test('with the facts of their first two local days', () => {
    const events = [
      event('2026-11-12T12:00:00', { kind: 'conversion' }),
      event('2026-11-10T22:00:00', { kind: 'autocapture', source: 'news', medium: 'email', device: 'mobile' }),
      event('2026-11-11T23:00:00', { path: '/second', engagement_ms: 9_999 }),
      event('2026-11-12T00:00:00', { path: '/third', engagement_ms: 1 }),
    ]
    expect(sessionsOf(events, zone)).toEqual([
      expect.objectContaining({
        source: 'news',
        medium: 'email',
        device: 2,
        startsAt: at('2026-11-10T22:00:00+05:30'),
        durationMs: 25 * 3_600_000,
        events: 2,
        pageviews: 1,
        entryPath: '/second',
        isBounce: true,
      }),
    ])
  })

  test('on a page by the pageviews of that page alone', () => {
    const events = [
      event('2026-11-10T12:00:00', { path: '/a' }),
      event('2026-11-11T12:00:00', { path: '/b' }),
      event('2026-11-12T12:00:00', { path: '/a' }),
      event('2026-11-13T12:00:00', { path: '/a' }),
      event('2026-11-13T12:00:00', { path: '/a', visitor: 0 }),
    ]
    const names = events.map(pageSessionNames(events, zone))
    expect(names.map((name) => names.indexOf(name))).toEqual([0, 1, 2, 2, 4])
    expect(numberOf(names)).toBe(3)
    expect(numberOf(events.map(sessionNames(events, zone)))).toBe(1)
  })

  test('and credits a conversion without a touch to the entry of the day before, else of its own', () => {
    const entry = (day: string, medium: string) => event(`2026-11-${day}T01:00:00`, { source: 'direct', medium })
    const conversion = event('2026-11-13T12:00:00', { kind: 'conversion', medium: 'own' })
    const mediumOf = (...before: ReturnType<typeof event>[]) =>
      creditOf(conversion, { events: [...before, conversion], contacts: [], bindings: [] }, zone).medium
    expect(mediumOf()).toBe('own')
    expect(mediumOf(entry('11', 'first'))).toBe('own')
    expect(mediumOf(entry('11', 'first'), entry('13', 'today'))).toBe('today')
    expect(mediumOf(entry('11', 'first'), entry('12', 'yesterday'), entry('13', 'today'))).toBe('yesterday')
    const stranger = event('2026-11-13T00:00:00', { visitor: 2, source: 'direct', medium: 'strange' })
    expect(mediumOf(stranger)).toBe('own')
    expect(mediumOf(event('2026-10-14T12:00:00', { source: 'news', medium: 'email', session: 4 }))).toBe('email')
    expect(mediumOf(event('2026-10-14T11:59:59.999', { source: 'news', medium: 'email', session: 4 }))).toBe('own')
  })
})

test('the oracle shows what is readable of sessions that it knows whole', () => {
  const events = [
    // Begun on the evening before all that is readable: no session starts in range, but one goes on.
    makeEventRow({ occurred_at: '2026-11-18T23:00:00Z', source: 'news', medium: 'email' }),
    makeEventRow({ occurred_at: '2026-11-19T01:00:00Z', path: '/late' }),
    makeEventRow({ occurred_at: '2026-11-19T02:00:00Z', path: '/late', kind: 'conversion' }),
    makeEventRow({ occurred_at: '2026-11-20T03:00:00Z', visitor: 2 }),
  ]
  const botVisits = [makeBotVisitRow({ occurred_at: '2026-11-17T00:00:00Z' })]
  const ask = (query: Parameters<typeof computeOverview>[1]) =>
    computeOverview(
      { ...noFacts, events, botVisits },
      query,
      { timezone: 'UTC', retentionDays: 2 },
      at('2026-11-20T12:00:00Z'),
    )!
  const { metrics, top_sources, traffic_series, recent_events } = ask({ days: 30 })
  expect(metrics).toMatchObject({
    visitors: 2,
    sessions: 2,
    events: 3,
    pageviews: 2,
    conversions: 1,
    conversion_rate: 50,
  })
  // Figures of the one session that starts in range; the bot's visit is readable for longer.
  expect(metrics).toMatchObject({ bounce_rate: 100, average_session_seconds: 0, bot_visits: 1, previous: null })
  expect(top_sources.map(({ source, sessions, conversions }) => [source, sessions, conversions])).toEqual([
    ['direct', 1, 0],
    ['news', 0, 1],
  ])
  expect(traffic_series.filter(({ sessions }) => sessions > 0).map(({ label }) => label)).toEqual([
    '2026-11-19',
    '2026-11-20',
  ])
  expect(recent_events).toHaveLength(3)
  expect(ask({ days: 1 }).metrics.previous).toMatchObject({ visitors: 1, events: 2, bounce_rate: 0 })
})

test('the comparison ignores what the oracle does not know, and nothing else', () => {
  const expected = computeOverview(noFacts, {}, { timezone: 'UTC', retentionDays: 30 }, 0)!
  const answer = JSON.parse(JSON.stringify(expected))
  Object.assign(answer.metrics, { as_of: '2026-11-20T12:00:00.000Z', lists_cut: false })
  const shown = (span: { start: number; end: number }) => ({ start: iso(span.start), end: iso(span.end) })
  Object.assign(answer.metrics.range, shown(expected.metrics.range))
  expect(differences(expected, answer)).toEqual([])
  answer.metrics.visitors = 1
  answer.top_pages.push({})
  expect(differences(expected, answer)).toEqual([
    'metrics.visitors: expected 0, got 1',
    'top_pages: expected 0 rows, got 1',
  ])
})

test('the oracle credits a server’s conversion to the last touch of its contact', () => {
  const [ada, bob] = [501, 502]
  const time = (clock: string) => `2026-11-20T${clock}:00Z`
  const events = [
    makeEventRow({ visitor: 7, occurred_at: time('08:00'), source: 'news', medium: 'email' }),
    // Somebody else's events: by their own e-mail, and by the browser's time.
    makeEventRow({ visitor: 7, occurred_at: time('09:00'), source: 'ads', email_hash: bob }),
    makeEventRow({ visitor: 7, occurred_at: time('11:00'), source: 'blog' }),
  ]
  const people = {
    contacts: [ada, bob],
    bindings: [
      { visitor: { hi: 0, lo: 7 }, contact: ada, from: at(time('08:30')) },
      { visitor: { hi: 0, lo: 7 }, contact: bob, from: at(time('10:00')) },
    ],
  }
  const sent = (more: object) =>
    makeEventRow({ visitor: 0, kind: 'conversion', occurred_at: time('12:00'), email_hash: ada, ...more })
  const credit = (conversion: ReturnType<typeof sent>) =>
    creditOf(conversion, { events: [...events, conversion], ...people }, 'UTC').source
  expect(credit(sent({}))).toBe('news')
  expect(credit(sent({ source: 'partner' }))).toBe('partner')
  expect(credit(sent({ email_hash: bob }))).toBe('blog')
  expect(credit(sent({ email_hash: 503 }))).toBe('direct')
  expect(credit(sent({ occurred_at: '2026-12-20T08:00:00.001Z' }))).toBe('direct')
})
