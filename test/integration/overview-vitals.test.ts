import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventLike } from '../support/event-rows.ts'
import { makeTestWorkspace, type Overview } from '../support/overview.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

async function overviewOf(events: readonly EventLike[], query: Record<string, string> = {}): Promise<Overview> {
  const workspace = await makeTestWorkspace(stores, {})
  await workspace.addEvents(events)
  return workspace.ask({ days: '1', ...query })
}

function samples(metric: 'FCP' | 'LCP' | 'INP' | 'CLS', values: readonly number[], event: EventLike = {}): EventLike[] {
  return values.map((metric_value, i) => ({
    kind: 'web_vital',
    metric,
    metric_value,
    occurred_at: Date.parse('2026-11-20T10:00:00Z') + i * 1000,
    ...event,
  }))
}

describe('web_vitals', () => {
  it('interpolate percentiles between the closest ranks, and rate by the 75th', async () => {
    const { web_vitals } = await overviewOf([
      ...samples('LCP', [1000, 2000, 3000, 4000]),
      ...samples('CLS', [0.1]),
      ...samples('INP', [501]),
    ])
    const [fcp, lcp, inp, cls] = web_vitals
    expect(lcp).toEqual({
      ...{ metric: 'LCP', label: 'Largest Contentful Paint', unit: 'ms', rating: 'needs_improvement', count: 4 },
      ...{ latest: 4000, average: 2500, p75: 3250, p90: 3700, p99: 3970 },
      ...{ good_threshold: 2500, poor_threshold: 4000 },
    })
    expect(cls).toMatchObject({ metric: 'CLS', unit: '', rating: 'good', count: 1, p75: 0.1, p99: 0.1 })
    expect(inp).toMatchObject({ metric: 'INP', rating: 'poor' })
    expect(fcp).toMatchObject({ metric: 'FCP', rating: 'no_data', count: 0, latest: 0 })
  })

  it('take no event for a sample that names no metric', async () => {
    const { web_vitals, web_vital_pages, metrics } = await overviewOf([{ kind: 'web_vital', metric_value: 5 }])
    expect(web_vitals.map(({ count }) => count)).toEqual([0, 0, 0, 0])
    expect(web_vital_pages).toEqual([])
    expect(metrics.events).toBe(1)
  })
})

describe('web_vital_series', () => {
  it('have the p75 and the samples of each bucket', async () => {
    const { web_vital_series } = await overviewOf([
      ...samples('FCP', [100, 200, 300]),
      ...samples('FCP', [900], { occurred_at: '2026-11-20T11:00:00Z' }),
      ...samples('CLS', [0.3], { occurred_at: '2026-11-20T11:59:59.999Z' }),
    ])
    const seen = web_vital_series.filter(({ values }) => Object.keys(values ?? {}).length > 0)
    expect(seen).toEqual([
      {
        label: '2026-11-20 10:00',
        start: '2026-11-20T10:00:00.000Z',
        end: '2026-11-20T11:00:00.000Z',
        values: { FCP: 250 },
        counts: { FCP: 3, LCP: 0, INP: 0, CLS: 0 },
      },
      {
        label: '2026-11-20 11:00',
        start: '2026-11-20T11:00:00.000Z',
        end: '2026-11-20T12:00:00.000Z',
        values: { FCP: 900, CLS: 0.3 },
        counts: { FCP: 1, LCP: 0, INP: 0, CLS: 1 },
      },
    ])
  })
})

describe('web_vital_pages', () => {
  it('show the worst metric, and count each sample by its own thresholds', async () => {
    const { web_vital_pages } = await overviewOf([
      { path: '/' },
      { path: '/' },
      { path: '/unmeasured' },
      ...samples('LCP', [2500, 2501, 4000, 4001], { path: '/' }),
      ...samples('INP', [600, 100, 100, 100], { path: '/' }),
      ...samples('CLS', [0.05], { path: '/quiet' }),
    ])
    expect(web_vital_pages).toEqual([
      {
        path: '/',
        worst_metric: 'LCP',
        rating: 'poor',
        pageviews: 2,
        samples: 8,
        good: 4,
        needs_improvement: 2,
        poor: 2,
        p90: 4014,
        metric_p90s: { LCP: 4014, INP: 450 },
        metric_ratings: { LCP: 'poor', INP: 'needs_improvement' },
      },
      {
        path: '/quiet',
        worst_metric: 'CLS',
        rating: 'good',
        pageviews: 0,
        ...{ samples: 1, good: 1, needs_improvement: 0, poor: 0 },
        p90: 0.05,
        metric_p90s: { CLS: 0.05 },
        metric_ratings: { CLS: 'good' },
      },
    ])
  })

  it('are ordered by pageviews, then path, and cut at the limit', async () => {
    const paths = ['/c', '/b', '/a']
    const events = [...paths.flatMap((path) => samples('FCP', [1], { path })), { path: '/c' }]
    const { web_vital_pages } = await overviewOf(events, { limit: '2' })
    expect(web_vital_pages.map(({ path }) => path)).toEqual(['/c', '/a'])
  })
})
