import { expect, it } from 'vitest'
import { type AdviceFigures, recommend } from '../../api/operations/analytics/recommendations.ts'
import type { SessionGroup } from '../../clickhouse/queries/overview/read-figures.ts'
import type { VitalName } from '../../schemas/reference/web-vitals.ts'
import type { OverviewCounters } from '../../schemas/resources/overview.ts'

const zeros: OverviewCounters = {
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
  average_session_seconds: 0,
  pages_per_session: 0,
  new_contacts: 0,
  bot_visits: 0,
  link_clicks: 0,
}
const group = (figures: Partial<SessionGroup>): SessionGroup => ({
  key: '',
  detail: '',
  visitors: 0,
  sessions: 0,
  pageviews: 0,
  events: 0,
  conversions: 0,
  ...figures,
})

const hour = 3_600_000
const now = Date.UTC(2026, 10, 20) / hour

/** A healthy workspace: no rule has anything to say. */
function figures(
  changes: Partial<Omit<AdviceFigures, 'metrics'>> & {
    metrics?: Partial<OverviewCounters>
    campaigns?: AdviceFigures['metrics']['ad_campaigns']
    previous?: Partial<OverviewCounters> | null
    hours?: number
  } = {},
): AdviceFigures {
  const { metrics, previous, campaigns = [], hours = 24 * 30, ...rest } = changes
  const [start, end] = [(now - hours) * hour, now * hour].map((moment) => new Date(moment).toISOString()) as [
    string,
    string,
  ]
  return {
    hasEvents: true,
    isOver: true,
    currency: 'USD',
    sources: [],
    devices: [],
    pages: [],
    pageVitals: [],
    revenue: { sources: new Map(), devices: new Map() },
    metrics: {
      ...zeros,
      visitors: 100,
      pageviews: 200,
      sessions: 120,
      events: 400,
      conversions: 5,
      ...metrics,
      ad_campaigns: campaigns,
      live_visitors: 0,
      as_of: end,
      readable_from: '2026-01-01T00:00:00Z',
      lists_cut: false,
      range: { start, end, timezone: 'UTC', bucket: 'day' },
      previous_range: previous === null ? null : { start, end },
      previous: previous === null ? null : { ...zeros, visitors: 100, conversions: 5, ...previous },
    },
    ...rest,
  }
}

function pageVitals(metric: VitalName, p75: number, pageviews: number, count = 10): AdviceFigures['pageVitals'] {
  return [{ path: '/slow', pageviews, metrics: new Map([[metric, { count, p75, p90: p75, good: 0, poor: count }]]) }]
}

const titles = (given: AdviceFigures) => recommend(given).map(({ priority, title }) => `${priority}: ${title}`)

const landing = (entries: number, bounces: number) =>
  figures({ pages: [{ path: '/in', pageviews: 99, visitors: 9, sessions: 9, conversions: 0, entries, bounces }] })
const source = (visitors: number, conversions: number) =>
  figures({ sources: [group({ key: 'news', detail: 'email', visitors, conversions })] })
/** Figures of 100 visitors with 20 conversions, beside those of a server. */
const onPhones = (visitors: number, conversions: number, servers = 0) =>
  figures({
    metrics: { conversions: 20 + servers },
    devices: [
      group({ key: 'desktop', visitors: 100 - visitors, conversions: 20 - conversions }),
      group({ key: 'mobile', visitors, conversions }),
      group({ key: 'unknown', visitors: 100, conversions: servers }),
    ],
  })
/** @param others revenue by source and medium that isn't the campaign's */
const campaign = (clicks: number, earned: number, others: Record<string, number> = {}, unknown = 0) =>
  figures({
    metrics: { revenue_cents: 5_000 },
    campaigns: [{ source: 'google', campaign: 'spring', cost_cents: 12_350, clicks, revenue_cents: earned }],
    revenue: {
      sources: new Map(Object.entries({ '["direct", "none"]': 5_000, '["google", "cpc"]': earned, ...others })),
      devices: new Map([['unknown', unknown]]),
    },
  })
const idle = campaign(100, 0)
const apart = { ...idle, metrics: { ...idle.metrics, revenue_by_currency: { EUR: 5_000 } } }
const from = (key: string, detail: string, visitors: number, all = 100, conversions = 0) =>
  figures({ metrics: { visitors: all }, previous: null, sources: [group({ key, detail, visitors, conversions })] })
const slow = (p75: number, pageviews: number, count?: number) =>
  figures({ pageVitals: pageVitals('LCP', p75, pageviews, count) })
const counted = (metrics: Partial<OverviewCounters>, previous?: Partial<OverviewCounters> | null) =>
  figures({ metrics, ...(previous !== undefined && { previous }) })
const server = counted({ visitors: 0, pageviews: 0, events: 7 }, zeros)
const inHours = (hours: number, metrics: Partial<OverviewCounters>, previous: Partial<OverviewCounters> | null) =>
  figures({ hours, metrics, previous })
const atNight = { visitors: 0, pageviews: 0, events: 1, conversions: 1 }

it.each<[string, AdviceFigures, string[]]>([
  ['nothing is wrong', figures(), []],
  [
    'no event has come',
    figures({ hasEvents: false, metrics: zeros, previous: zeros }),
    ['high: Install the tracking snippet'],
  ],
  ['events come without any pageview', server, ['high: The tracking snippet was not seen']],
  ['events of a night have none', inHours(1, atNight, { pageviews: 0 }), []],
  ['events of a night have none, and the day before isn’t known', inHours(1, atNight, null), []],
  ['a whole day has none, and the day before had', inHours(24, atNight, { pageviews: 1 }), []],
  ['visitors fall by 29 %', counted({ visitors: 71 }), []],
  ['visitors fall by 30 %', counted({ visitors: 70 }), ['high: Visitors fell by 30 %']],
  ['visitors fall in a range that goes on', { ...counted({ visitors: 1 }), isOver: false }, []],
  ['visitors fall on a Sunday', inHours(24, { visitors: 1, conversions: 0 }, { conversions: 10 }), []],
  ['a handful of visitors falls', counted({ visitors: 1 }, { visitors: 9 }), []],
  ['the period before isn’t kept', counted({ visitors: 1 }, null), []],
  ['a page is slow', slow(5200, 50), ['high: Speed up /slow']],
  ['a page is only middling', slow(4000, 50), []],
  ['a slow page is hardly visited', slow(5200, 9), []],
  [
    'a slow page is a small part',
    figures({ metrics: { pageviews: 1000 }, pageVitals: pageVitals('LCP', 5200, 49) }),
    [],
  ],
  ['a slow page is measured too rarely', slow(5200, 50, 4), []],
  ['no conversion was ever recorded', counted({ conversions: 0 }, { conversions: 0 }), ['medium: Set up conversions']],
  ['none is known of before', counted({ conversions: 0 }, null), ['medium: Set up conversions']],
  ['no conversion was recorded in a few days', inHours(72, { conversions: 0 }, { conversions: 0 }), []],
  ['none was in a few days, and the time before isn’t known', inHours(96, { conversions: 0 }, null), []],
  ['the period before had some', counted({ conversions: 0 }, { conversions: 1 }), []],
  ['70 % leave from a page', landing(10, 7), []],
  ['80 % leave from a page', landing(10, 8), ['medium: Visitors leave from /in']],
  ['a handful of sessions leaves', landing(9, 9), []],
  ['a source converts at twice the average', source(30, 3), ['low: news converts well above the average']],
  [
    'a source converts at twice an average that no decimals show',
    figures({
      metrics: { visitors: 360, conversions: 6 },
      sources: [group({ key: 'news', detail: 'email', visitors: 90, conversions: 3 })],
    }),
    ['low: news converts well above the average'],
  ],
  ['a source converts at less than that', source(31, 3), []],
  ['conversions without a source count as direct', from('direct', 'none', 30, 100, 3), []],
  ['a source has a handful of visitors', source(9, 9), []],
  ['a source has a handful of conversions', source(10, 2), []],
  ['conversions fall by less than 30 %', counted({ conversions: 8 }, { conversions: 11 }), []],
  ['conversions fall by 30 %', counted({ conversions: 7 }, { conversions: 10 }), ['high: Conversions fell by 30 %']],
  ['a handful of conversions falls', counted({ conversions: 1 }, { conversions: 9 }), []],
  ['conversions before aren’t known', counted({ conversions: 1 }, null), []],
  ['a device converts with less than half', onPhones(50, 4), ['medium: Visitors on mobile hardly convert']],
  ['a device converts with half', onPhones(50, 5), []],
  ['a device has few visitors', onPhones(49, 0), []],
  ['a server sends conversions beside', onPhones(50, 4, 20), ['medium: Visitors on mobile hardly convert']],
  ['devices convert alike, and a server sends conversions too', onPhones(50, 10, 20), []],
  ['a server sends most conversions', onPhones(50, 4, 21), []],
  ['a campaign costs and earns nothing', idle, ['medium: The campaign spring earns nothing']],
  ['a campaign earns', campaign(100, 1), []],
  ['a campaign has few clicks', campaign(99, 0), []],
  ['paid visits of its source earn under no name', campaign(100, 0, { '["google", "cpc"]': 1 }), []],
  [
    'only searches of its source earn',
    campaign(100, 0, { '["google", "organic"]': 1 }),
    ['medium: The campaign spring earns nothing'],
  ],
  ['most payers aren’t known', campaign(100, 0, {}, 2_500), []],
  ['revenue has a currency without a rate', apart, []],
  ['no revenue is known at all', { ...idle, metrics: { ...idle.metrics, revenue_cents: 0 } }, []],
  ['most come from nowhere that is known', from('direct', 'none', 60), ['low: Tag the links that you share']],
  ['fewer come from nowhere', from('direct', 'none', 59), []],
  ['most come from somewhere', from('google', 'organic', 90), []],
  ['few come at all', from('direct', 'none', 40, 49), []],
  ['assistants send a tenth', from('chatgpt.com', 'referral', 10), ['low: AI assistants send you visitors']],
  ['assistants send less than that', from('chatgpt.com', 'referral', 9), []],
  ['assistants send a twentieth', from('chatgpt.com', 'referral', 10, 201), []],
])('where %s', (_, given, expected) => {
  expect(titles(given)).toEqual(expected)
})

it.each<[AdviceFigures, string[]]>([
  [server, ['7 events']],
  [slow(5200, 50), ['LCP', '5,200 ms', '4,000 ms', '50 pageviews', '25 %', '10 samples']],
  [landing(10, 8), ['8 of 10 sessions']],
  [
    onPhones(50, 4),
    ['4 conversions of 50 visitors on mobile: 8 per 100, where 20 per 100 is the average of desktop, mobile'],
  ],
  [counted({ visitors: 1 }), ['1 visitor came, after 100 in']],
  [onPhones(50, 1), ['1 conversion of 50 visitors on mobile']],
  [idle, ['spring (google) cost 123.5 USD for 100 clicks, and no revenue is credited to it']],
  [{ ...idle, currency: 'JPY' }, ['spring (google) cost 12,350 JPY for 100 clicks']],
  [from('chatgpt.com', 'referral', 10), ['10 of 100 visitors, 10 %, came from chatgpt.com']],
])('names its figures', (given, told) => {
  for (const text of told) expect(recommend(given)[0]?.detail).toContain(text)
})

it('puts the urgent first, and names no more than three of a kind', () => {
  const busy = figures({
    metrics: { conversions: 0 },
    previous: { conversions: 0 },
    pageVitals: ['/a', '/b', '/c', '/d'].map((path) => ({ ...pageVitals('CLS', 0.3, 20)[0]!, path })),
  })
  const slow = ['/a', '/b', '/c'].map((path) => `high: Speed up ${path}`)
  expect(titles(busy)).toEqual([...slow, 'medium: Set up conversions'])
})
