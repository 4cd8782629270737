import { expect, it } from 'vitest'
import { vitalRows } from '../../api/operations/analytics/web-vitals.ts'

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
