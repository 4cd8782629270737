/** GET /v1/analytics/breakdown: sessions of a range by what each came with. GET /v1/analytics/conversions: why each is credited. */
import { expect, test } from 'vitest'
import { type Breakdown, breakdownNames, entryEventNames } from '../../schemas/resources/breakdown.ts'
import type { Conversions } from '../../schemas/resources/conversion.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { groupBy } from '../oracle/facts.ts'
import { setUpApi } from '../support/api.ts'
import type { EventLike } from '../support/event-rows.ts'
import { addEvents } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true })
const hour = 3_600_000
const now = Date.now() - hour

function add(...events: readonly EventLike[]): Promise<void> {
  const timed = events.map((event): EventLike => ({ occurred_at: now, ...event }))
  return addEvents(stores, mine.workspaceId, timed)
}

async function askFor<Body>(path: string): Promise<Body> {
  const response = await api.ask(`/v1/analytics/${path}`, { key: mine.apiKey })
  const body = (await response.json()) as Body
  expect([response.status, body]).toEqual([200, body])
  return body
}

const ask = (query: string) => askFor<Breakdown>(`breakdown?${query}`)
const counts = ({ rows }: Breakdown) => rows.map(({ key, visitors, sessions }) => [key, visitors, sessions])

const visits: EventLike[] = [
  { visitor: 1, session: 1, source: 'google', medium: 'organic', campaign: '', path: '/a', os: 'Linux', country: 'DE' },
  { visitor: 1, session: 1, source: 'news', medium: 'email', campaign: 'may', path: '/b', occurred_at: now + 60_000 },
  {
    visitor: 2,
    session: 1,
    source: 'google',
    medium: 'cpc',
    campaign: 'may',
    path: '/b',
    os: 'Linux',
    country: 'FR',
    region: 'FR-IDF',
    city: 'Paris, 4e',
  },
  { visitor: 2, session: 2, source: 'bing', medium: 'organic', campaign: 'may', path: '/b', os: 'iOS', country: 'FR' },
  { visitor: 3, session: 1, path: '/a', occurred_at: now - 30 * hour },
  { visitor: 0, kind: 'conversion', source: 'server' },
]

// property/overview.test.ts has entry and exit paths, and property/entry-breakdown.test.ts what else the first event has.
test('a breakdown counts each session once, by what it came with, and visitors once in a row', async () => {
  await add(...visits)
  expect(counts(await ask('by=campaign&hours=4'))).toEqual([
    ['may', 1, 2],
    ['', 1, 1],
  ])
  expect(counts(await ask('by=channel&hours=4'))).toEqual([
    ['Organic Search', 2, 2],
    ['Paid Search', 1, 1],
  ])
  expect(counts(await ask('by=entry_path&days=3&limit=1'))).toEqual([['/a', 2, 2]])
  const { rows } = await ask('by=country&hours=4')
  expect(rows.find(({ key }) => key === 'DE')).toEqual({
    key: 'DE',
    label: 'Germany',
    visitors: 1,
    sessions: 1,
    bounce_rate: 0,
    average_session_seconds: 60,
  })
  expect(rows.find(({ key }) => key === 'FR')).toMatchObject({ bounce_rate: 100, average_session_seconds: 0 })
})

test('by whatever property, a row’s filter chooses the sessions that it counts', async () => {
  await add(...visits)
  // Others but `hostname` are no filters, and that one asks for any page.
  for (const by of breakdownNames.filter((name) => !(entryEventNames as readonly string[]).includes(name))) {
    for (const { key, sessions } of (await ask(`by=${by}&hours=4`)).rows) {
      if (key === '') continue
      const chosen = await ask(`by=${by}&hours=4&${new URLSearchParams({ [by]: key })}`)
      expect([by, key, counts(chosen).map(([name, , n]) => [name, n])]).toEqual([by, key, [[key, sessions]]])
    }
  }
  expect(counts(await ask('by=os&hours=4&path=/a'))).toEqual([['Linux', 1, 1]])
})

test('regions and cities are those of a session’s first event, and cities of one name stay apart', async () => {
  const [us, berlin] = [
    { country: 'US' },
    { country: 'DE', region: 'DE-BE', region_name: 'Land Berlin', city: 'Berlin' },
  ]
  const places: EventLike[] = [
    berlin,
    { ...us, region: 'US-IL', region_name: 'Illinois', city: 'Springfield' },
    { ...us, region: 'US-MO', city: 'Springfield' },
    { ...us, region: 'US-MO' },
    { country: 'MC', city: 'Monaco' },
    {},
  ]
  // Seven visitors with two sessions each, which go on elsewhere.
  const events = Array.from({ length: 60 }, (_, at): EventLike => {
    const [visitor, session] = [1 + (at % 7), 1 + (at % 2)]
    return { ...places[at % places.length], visitor, session: visitor * 10 + session, occurred_at: now + at * 1000 }
  })
  await add(...events)

  const firsts = [...new Map(events.toReversed().map((event) => [event.session, event])).values()]
  const countedBy = (keyOf: (event: EventLike) => string) => {
    const groups = [...groupBy(firsts, keyOf)]
    return groups.map(([key, own]) => [key, new Set(own.map(({ visitor }) => visitor)).size, own.length]).sort()
  }
  const regions = await ask('by=region&hours=4')
  expect(counts(regions).sort()).toEqual(countedBy(({ region }) => region || 'unknown'))
  const cities = await ask('by=city&hours=4')
  expect(counts(cities).sort()).toEqual(
    countedBy(({ city, region, country }) => (city ? `${city}, ${region || country}` : 'unknown')),
  )
  expect(cities.rows.length).toBeGreaterThan(3)
  const labelled = ({ rows }: Breakdown) => Object.fromEntries(rows.map(({ key, label }) => [key, label]))
  expect(labelled(regions)).toMatchObject({ 'DE-BE': 'Land Berlin, Germany', unknown: 'Unknown' })
  expect(labelled(cities)).toMatchObject({
    'Springfield, US-IL': 'Springfield, Illinois',
    'Monaco, MC': 'Monaco, Monaco',
  })
  expect(counts(await ask('by=country&hours=4&region=us-mo'))).toEqual([
    [
      'US',
      ...counts(regions)
        .find(([key]) => key === 'US-MO')!
        .slice(1),
    ],
  ])
})

const said = ({ conversions }: Conversions) =>
  conversions.map(({ event, credit, touches }) => [
    event.path,
    `${credit.rule} ${credit.source}/${credit.medium} ${credit.channel}`,
    touches.map(({ source, is_credited }) => source + (is_credited ? '!' : '')).join(' '),
  ])

const touch = (source: string, ago: number, more: EventLike = {}): EventLike => ({
  source,
  medium: 'email',
  campaign: 'c',
  occurred_at: now - ago,
  ...more,
})
const conversion = (path: string, ago: number, more: EventLike = {}): EventLike => ({
  kind: 'conversion',
  path,
  occurred_at: now - ago,
  ...more,
})

test('each conversion says its rule, its touches of thirty days, and which of them is credited', async () => {
  await add(
    touch('old', 32 * dayMs),
    touch('first', 20 * dayMs),
    touch('last', 2 * dayMs),
    conversion('/by-last', dayMs),
    conversion('/by-first', 10 * dayMs),
    // Other conversions: one who came directly, one whose only touch is too old, and a server.
    conversion('/direct', 2_000, { visitor: 2 }),
    touch('stale', 31 * dayMs, { visitor: 3 }),
    conversion('/stale', 3_000, { visitor: 3 }),
    conversion('/server', 1_000, { visitor: 0, source: 'partner', medium: 'referral' }),
  )
  const all = await askFor<Conversions>('conversions?days=30')
  expect(said(all)).toEqual([
    ['/server', 'event partner/referral Referral', ''],
    ['/direct', 'session direct/none Direct', ''],
    ['/stale', 'session direct/none Direct', ''],
    ['/by-last', 'touch last/email Email', 'last! first'],
    ['/by-first', 'touch first/email Email', 'first! old'],
  ])
  expect(all.conversions[3]!.credit.touched_at).toBe(new Date(now - 2 * dayMs).toISOString())
  expect(all.conversions[3]!.touches[0]).toMatchObject({
    campaign: 'c',
    occurred_at: new Date(now - 2 * dayMs).toISOString(),
  })
  expect(all.range).toMatchObject({ timezone: 'UTC', bucket: 'day' })
})

test('a conversion has its touches, however many its visitor has after it', async () => {
  const later = Array.from({ length: 1_001 }, (_, at) => touch('later', dayMs - at, { session: at % 2 }))
  await add(touch('first', 3 * dayMs), conversion('/early', 2 * dayMs), ...later, conversion('/late', 1_000))
  const { conversions } = await askFor<Conversions>('conversions?days=30')
  const newest = conversions.map(({ touches }) => [touches.length, touches[0]?.source, touches[0]?.is_credited])
  expect(newest).toEqual([
    [20, 'later', true],
    [1, 'first', true],
  ])
})

test('a range and a limit cut conversions', async () => {
  await add(...[1, 2, 3].map((days): EventLike => conversion(`/${days}`, days * dayMs)))
  const first = await askFor<Conversions>('conversions?days=30&limit=2')
  expect(said(first).map(([path]) => path)).toEqual(['/1', '/2'])
  const rest = await askFor<Conversions>(`conversions?days=30&before_id=${first.conversions[1]!.event.id}`)
  expect(said(rest).map(([path]) => path)).toEqual(['/3'])
  const end = new Date(now - 2 * dayMs).toISOString()
  expect(said(await askFor<Conversions>(`conversions?days=30&end=${end}`)).map(([path]) => path)).toEqual(['/3'])
})
