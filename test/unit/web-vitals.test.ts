import { expect, it } from 'vitest'
import { vitalRows } from '../../api/operations/analytics/web-vitals.ts'
import { rateVital } from '../../schemas/reference/web-vitals.ts'

it('a rating is good up to the good threshold, and poor only beyond the poor one', () => {
  const rated = [2500, 2500.001, 4000, 4000.001].map((value) => rateVital('LCP', value))
  expect(rated).toEqual(['good', 'needs_improvement', 'needs_improvement', 'poor'])
})

it('shows at most six decimals', () => {
  const figures = { count: 3, latest: 0.1, average: 0.1 + 0.2, p75: 1 / 3, p90: 1e300, p99: 1733.3333333333333 }
  expect(vitalRows(new Map([['CLS', figures]]))[3]).toMatchObject({
    ...{ average: 0.3, p75: 0.333333, p90: 1e300, p99: 1733.333333, rating: 'poor' },
  })
})
