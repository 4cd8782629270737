import { expect, test } from 'vitest'
import { groupByDay } from '../../pipeline/fold/group-by.ts'
import { sharedLookUpDaysMax, sharedLookUpVisitorsMax } from '../../schemas/limits/figure-limits.ts'

const grouped = (days: readonly number[]) =>
  groupByDay(days, (day) => day).map(({ fromDay, all }) => [fromDay, all.length])

test('few visitors of near days share a look-up from the earliest day on, whichever came first', () => {
  expect(grouped([103, 100, 101, 103])).toEqual([[100, 4]])
})

test('days far apart, and visitors beyond the bound, have look-ups of their own', () => {
  const far = 100 + sharedLookUpDaysMax + 1
  expect(grouped([far, 100, far - 1])).toEqual([
    [100, 2],
    [far, 1],
  ])
  const many = Array.from({ length: sharedLookUpVisitorsMax }, () => 100)
  expect(grouped([...many, 101])).toEqual([
    [100, many.length],
    [101, 1],
  ])
})

test('no visitors, no look-up', () => {
  expect(grouped([])).toEqual([])
})
