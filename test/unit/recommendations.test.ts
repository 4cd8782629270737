import { describe, expect, it } from 'vitest'
import { type AdviceFigures, recommend } from '../../api/operations/analytics/recommendations.ts'
import type { SessionGroup } from '../../clickhouse/queries/overview/read-figures.ts'
import type { VitalName } from '../../schemas/reference/web-vitals.ts'
import type { OverviewCounters } from '../../schemas/resources/overview.ts'

const zeros: OverviewCounters = {
  ...{ visitors: 0, pageviews: 0, sessions: 0, events: 0, conversions: 0, conversion_rate: 0, revenue_cents: 0 },
  ...{ revenue_by_currency: {}, ad_spend_cents: 0, ad_spend_by_currency: {} },
  ...{
    bounce_rate: 0,
    average_session_seconds: 0,
    pages_per_session: 0,
    new_contacts: 0,
    bot_visits: 0,
    link_clicks: 0,
  },
}
const group = (figures: Partial<SessionGroup>): SessionGroup => ({
  ...{ key: '', detail: '', visitors: 0, sessions: 0, pageviews: 0, events: 0, conversions: 0 },
  ...figures,
})

/** A healthy workspace: no rule has anything to say. */
function figures(
  changes: Partial<Omit<AdviceFigures, 'metrics'>> & {
    metrics?: Partial<OverviewCounters>
    campaigns?: AdviceFigures['metrics']['ad_campaigns']
    previous?: Partial<OverviewCounters> | null
  } = {},
): AdviceFigures {
  const { metrics, previous, campaigns = [], ...rest } = changes
  return {
    hasEvents: true,
    sources: [],
    devices: [],
    pages: [],
    pageVitals: [],
    metrics: {
      ...zeros,
      ...{ visitors: 100, pageviews: 200, sessions: 120, events: 400, conversions: 5 },
      ...metrics,
      ad_campaigns: campaigns,
      live_visitors: 0,
      as_of: '',
      previous_range: null,
      lists_cut: false,
      range: { start: '', end: '', timezone: 'UTC', bucket: 'day' },
      previous: previous === null ? null : { ...zeros, visitors: 100, conversions: 5, ...previous },
    },
    ...rest,
  }
}

function pageVitals(metric: VitalName, p75: number, pageviews: number, count = 10): AdviceFigures['pageVitals'] {
  return [{ path: '/slow', pageviews, metrics: new Map([[metric, { count, p75, p90: p75, good: 0, poor: count }]]) }]
}

const titles = (of: AdviceFigures) => recommend(of).map(({ priority, title }) => `${priority}: ${title}`)

it('says nothing where nothing is wrong', () => {
  expect(recommend(figures())).toEqual([])
})

it('asks for the snippet as long as no event has come, and for nothing else', () => {
  const nothing = figures({ hasEvents: false, metrics: zeros, previous: zeros })
  expect(titles(nothing)).toEqual(['high: Install the tracking snippet'])
})

it('misses the snippet where events come without any pageview', () => {
  const server = figures({ metrics: { visitors: 0, pageviews: 0, events: 7 }, previous: zeros })
  expect(titles(server)).toEqual(['high: The tracking snippet was not seen'])
  expect(recommend(server)[0]?.detail).toContain('7 events')
})

describe('a fall of visitors', () => {
  it('is told from 30 % on', () => {
    expect(titles(figures({ metrics: { visitors: 71 } }))).toEqual([])
    expect(titles(figures({ metrics: { visitors: 70 } }))).toEqual(['high: Visitors fell by 30 %'])
  })

  it('is not told of a handful, nor where the period before isn’t kept', () => {
    expect(titles(figures({ metrics: { visitors: 1 }, previous: { visitors: 9 } }))).toEqual([])
    expect(titles(figures({ metrics: { visitors: 1 }, previous: null }))).toEqual([])
  })
})

describe('a slow page', () => {
  it('is named with its metric, its value and its pageviews', () => {
    const [advice] = recommend(figures({ pageVitals: pageVitals('LCP', 5200, 50) }))
    expect(advice).toMatchObject({ title: 'Speed up /slow', priority: 'high' })
    for (const figure of ['LCP', '5,200 ms', '4,000 ms', '50 pageviews', '25 %', '10 samples']) {
      expect(advice?.detail).toContain(figure)
    }
  })

  it('is not named when it is only middling, hardly visited, or measured too rarely', () => {
    expect(titles(figures({ pageVitals: pageVitals('LCP', 4000, 50) }))).toEqual([])
    expect(titles(figures({ pageVitals: pageVitals('LCP', 5200, 9) }))).toEqual([])
    expect(titles(figures({ metrics: { pageviews: 1000 }, pageVitals: pageVitals('LCP', 5200, 49) }))).toEqual([])
    expect(titles(figures({ pageVitals: pageVitals('LCP', 5200, 50, 4) }))).toEqual([])
  })
})

describe('conversions', () => {
  it('are asked for where visitors come and none was ever recorded', () => {
    const none = figures({ metrics: { conversions: 0 }, previous: { conversions: 0 } })
    expect(titles(none)).toEqual(['medium: Set up conversions'])
    expect(titles(figures({ metrics: { conversions: 0 }, previous: null }))).toEqual(['medium: Set up conversions'])
  })

  it('are not asked for again when the period before had some', () => {
    expect(titles(figures({ metrics: { conversions: 0 }, previous: { conversions: 1 } }))).toEqual([])
  })
})

describe('a landing page', () => {
  const landing = (entries: number, bounces: number) =>
    figures({
      pages: [{ path: '/in', pageviews: 99, visitors: 9, sessions: 9, conversions: 0, entries, bounces }],
    })

  it('is named above a bounce rate of 70 %', () => {
    expect(titles(landing(10, 7))).toEqual([])
    expect(titles(landing(10, 8))).toEqual(['medium: Visitors leave from /in'])
    expect(recommend(landing(10, 8))[0]?.detail).toContain('8 of 10 sessions')
  })

  it('is not named on a handful of sessions', () => {
    expect(titles(landing(9, 9))).toEqual([])
  })
})

describe('a source', () => {
  const source = (visitors: number, conversions: number) =>
    figures({ sources: [group({ key: 'news', detail: 'email', visitors, conversions })] })

  it('is named when it converts at twice the average', () => {
    expect(titles(source(30, 3))).toEqual(['low: news converts well above the average'])
    expect(titles(source(31, 3))).toEqual([])
  })

  it('is not named on a handful of visitors or conversions', () => {
    expect(titles(source(9, 9))).toEqual([])
    expect(titles(source(10, 2))).toEqual([])
  })
})

describe('a fall of conversions', () => {
  it('is told from 30 % on, where there were enough', () => {
    expect(titles(figures({ metrics: { conversions: 8 }, previous: { conversions: 11 } }))).toEqual([])
    expect(titles(figures({ metrics: { conversions: 7 }, previous: { conversions: 10 } }))).toEqual([
      'high: Conversions fell by 30 %',
    ])
    expect(titles(figures({ metrics: { conversions: 1 }, previous: { conversions: 9 } }))).toEqual([])
    expect(titles(figures({ metrics: { conversions: 1 }, previous: null }))).toEqual([])
  })
})

describe('a device', () => {
  const onPhones = (visitors: number, conversions: number, key = 'mobile') =>
    figures({ metrics: { conversions: 20 }, devices: [group({ key, visitors, conversions })] })

  it('is named when it converts with less than half of the average', () => {
    expect(titles(onPhones(50, 4))).toEqual(['medium: Visitors on mobile hardly convert'])
    expect(recommend(onPhones(50, 4))[0]?.detail).toContain(
      '4 conversions of 50 visitors on mobile: 8 per 100, where 20',
    )
    expect(titles(onPhones(50, 5))).toEqual([])
  })

  it('is not named on few visitors, nor where it isn’t known', () => {
    expect(titles(onPhones(49, 0))).toEqual([])
    expect(titles(onPhones(80, 0, 'unknown'))).toEqual([])
  })
})

describe('a campaign', () => {
  const campaign = (clicks: number, earned: number, revenue_cents = 5_000) =>
    figures({
      metrics: { revenue_cents },
      campaigns: [{ source: 'google', campaign: 'spring', cost_cents: 12_350, clicks, revenue_cents: earned }],
    })

  it('is named when it costs and earns nothing', () => {
    expect(titles(campaign(10, 0))).toEqual(['medium: The campaign spring earns nothing'])
    expect(recommend(campaign(10, 0))[0]?.detail).toContain('spring (google) cost 123.5 for 10 clicks')
    expect(titles(campaign(10, 1))).toEqual([])
  })

  it('is not named on few clicks, nor where no revenue is known at all', () => {
    expect(titles(campaign(9, 0))).toEqual([])
    expect(titles(campaign(10, 0, 0))).toEqual([])
  })
})

describe('shares of visitors', () => {
  const from = (key: string, detail: string, visitors: number, all = 100) =>
    figures({ metrics: { visitors: all }, previous: null, sources: [group({ key, detail, visitors })] })

  it('tell to tag links where most come from nowhere that is known', () => {
    expect(titles(from('direct', 'none', 60))).toEqual(['low: Tag the links that you share'])
    expect(titles(from('direct', 'none', 59))).toEqual([])
    expect(titles(from('google', 'organic', 90))).toEqual([])
    expect(titles(from('direct', 'none', 40, 49))).toEqual([])
  })

  it('tell of assistants, with their names', () => {
    expect(titles(from('chatgpt.com', 'referral', 10))).toEqual(['low: AI assistants send you visitors'])
    expect(recommend(from('chatgpt.com', 'referral', 10))[0]?.detail).toContain(
      '10 of 100 visitors, 10 %, came from chatgpt.com',
    )
    expect(titles(from('chatgpt.com', 'referral', 9))).toEqual([])
    expect(titles(from('chatgpt.com', 'referral', 10, 201))).toEqual([])
  })
})

it('puts the urgent first, and names no more than three of a kind', () => {
  const busy = figures({
    metrics: { conversions: 0 },
    previous: { conversions: 0 },
    pageVitals: ['/a', '/b', '/c', '/d'].map((path) => ({ ...pageVitals('CLS', 0.3, 20)[0]!, path })),
  })
  expect(titles(busy)).toEqual([
    'high: Speed up /a',
    'high: Speed up /b',
    'high: Speed up /c',
    'medium: Set up conversions',
  ])
})
