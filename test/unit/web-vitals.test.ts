import { describe, expect, it } from 'vitest'
import { vitalPageRow, vitalRows, worstVital } from '../../api/operations/analytics/web-vitals.ts'
import type { PageVital } from '../../clickhouse/queries/overview/read-vitals-and-titles.ts'
import { rateVital, type VitalName } from '../../schemas/reference/web-vitals.ts'

const measured = (vitals: Partial<Record<VitalName, [p75: number, p90: number]>>) =>
  new Map(
    Object.entries(vitals).map(([name, [p75, p90]]): [VitalName, PageVital] => [
      name as VitalName,
      { count: 3, p75, p90, good: 1, poor: 1 },
    ]),
  )

describe('a rating', () => {
  it('is good up to the good threshold, and poor only beyond the poor one', () => {
    expect([2500, 2500.001, 4000, 4000.001].map((value) => rateVital('LCP', value))).toEqual([
      'good',
      'needs_improvement',
      'needs_improvement',
      'poor',
    ])
  })
})

describe('the worst metric of a page', () => {
  it('is the one with the worst rating, though another is further beyond its threshold at p90', () => {
    expect(worstVital(measured({ LCP: [2000, 90_000], INP: [501, 502] }))).toBe('INP')
  })

  it('is of equal ratings the one whose p90 is the greater part of its poor threshold', () => {
    expect(worstVital(measured({ LCP: [3000, 3600], CLS: [0.2, 0.24] }))).toBe('CLS')
  })

  it('is the first by name order where all is equal', () => {
    expect(worstVital(measured({ CLS: [0.2, 0.25], FCP: [2000, 3000] }))).toBe('FCP')
    expect(worstVital(measured({ CLS: [0.3, 0.425 + Number.EPSILON], INP: [625, 850] }))).toBe('INP')
  })

  it('gives the page its rating and p90', () => {
    const page = { path: '/', pageviews: 9, metrics: measured({ FCP: [1, 2], LCP: [4001, 4002] }) }
    expect(vitalPageRow(page)).toMatchObject({ worst_metric: 'LCP', rating: 'poor', p90: 4002, samples: 6, good: 2 })
  })
})

it('shows at most six decimals', () => {
  const figures = { count: 3, latest: 0.1, average: 0.1 + 0.2, p75: 1 / 3, p90: 1e300, p99: 1733.3333333333333 }
  expect(vitalRows(new Map([['CLS', figures]]))[3]).toMatchObject({
    average: 0.3,
    p75: 0.333333,
    p90: 1e300,
    p99: 1733.333333,
    rating: 'poor',
  })
})
