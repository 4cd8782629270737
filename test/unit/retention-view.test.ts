/** The page of retention reads its address as it was written, and averages what is over. */
import { expect, test } from 'vitest'
import { readView } from '../../web/dashboard/address.ts'
import * as page from '../../web/dashboard/retention-view.ts'

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

test('the average is weighted by visitors, and leaves out the last bucket of each cohort', () => {
  const of = (visitors: number, returned: number[]) => ({ label: '', start: '', end: '', visitors, returned })
  expect(page.averageOf([of(10, [5, 4, 3]), of(30, [3, 9]), of(7, [7]), of(1, [])])).toEqual([
    { visitors: 8, of: 40, isOver: true },
    { visitors: 4, of: 10, isOver: true },
  ])
})
