/** The page of retention reads its address as it was written, averages what is over, and makes rows of a file. */
import { expect, test } from 'vitest'
import type { Retention } from '../../schemas/resources/retention.ts'
import * as page from '../../web/dashboard/retention/retention-view.ts'
import { readView } from '../../web/dashboard/view/address.ts'

test.each(['?days=30', '?days=7&interval=day', '?start=2026-01-01&end=2026-01-31&path=%2Fa&interval=month'])(
  '%s is read as it was written',
  (search) => {
    expect(page.hasOwnRange(search)).toBe(false)
    expect(page.writeRetention(readView(search), page.readInterval(search))).toBe(`/dashboard/retention${search}`)
  },
)

test('without a range the API is asked for its own, and filters are never asked for', () => {
  const ask = (search: string) => page.retentionQuestionOf(search, readView(search))
  expect(ask('')).toBe('/analytics/retention?interval=week')
  expect(ask('?days=8&interval=year&path=/a')).toBe('/analytics/retention?interval=week')
  expect(ask('?days=30&path=/a&interval=day')).toBe('/analytics/retention?interval=day&days=30')
  expect(page.withInterval('?path=%2Fa&interval=day', 'week')).toBe('/dashboard/retention?path=%2Fa')
})

const cohort = (visitors: number, returned: number[]) => ({ label: '', start: '', end: '', visitors, returned })

test('the average is weighted by visitors, and leaves out the last bucket of each cohort', () => {
  expect(page.averageOf([cohort(10, [5, 4, 3]), cohort(30, [3, 9]), cohort(7, [7]), cohort(1, [])])).toEqual([
    { visitors: 8, of: 40, isOver: true },
    { visitors: 4, of: 10, isOver: true },
  ])
})

test('the largest share shown is the hottest, nobody is cold, and the smallest share can be told from nobody', () => {
  const cohorts = [cohort(1000, [100, 1, 0]), cohort(10, [1, 0, 9]), cohort(0, [0])]
  const largest = page.largestShareOf(cohorts, 2)
  expect(largest).toBe(0.1)
  const heat = page.sharesOf(cohorts[0]!).map((share) => page.heatOf(share, largest))
  expect(heat).toEqual([1, expect.closeTo(0.1585), 0])
  expect(page.largestShareOf(cohorts, 3)).toBe(0.9)
})

test('rows of the file are equally long, and tell counts from shares', () => {
  const cohorts = [
    { ...cohort(3, [1, 0]), start: '2026-01-31T23:00:00Z' },
    { ...cohort(0, [0]), start: '2026-02-28T23:00:00Z' },
    { ...cohort(4, []), start: '2026-03-31T22:00:00Z' },
  ]
  const range = { bucket: 'month', timezone: 'Europe/Berlin' } as Retention['range']
  const [head, ...rows] = page.fileRowsOf({ range, cohorts } as unknown as Retention)
  const months = ['Month 1 visitors', 'Month 2 visitors', 'Month 1 share (%)', 'Month 2 share (%)']
  expect(head).toEqual(['First seen', 'Visitors', ...months])
  expect(rows).toEqual([
    ['Feb 2026', 3, 1, 0, 33.3, 0],
    ['Mar 2026', 0, 0, '', '', ''],
    ['Apr 2026', 4, '', '', '', ''],
  ])
})
