import { expect, test } from 'vitest'
import { firstReadAt, nextReadAt, retryAt } from '../../pipeline/engagement/next-read.ts'
import { day, hour, minute } from '../../schemas/limits/units.ts'

const publishedAt = new Date('2026-03-01T12:00:00Z')
const after = (ms: number) => publishedAt.getTime() + ms

test('a post is read after a quarter of an hour, each hour for a day, each day for 30 days, and then never again; three times where reads are billed', () => {
  const agesOf = (isCharged: boolean) => {
    const ages: number[] = []
    for (
      let at: Date | null = firstReadAt(publishedAt, isCharged);
      at !== null;
      at = nextReadAt(publishedAt, at.getTime(), isCharged)
    ) {
      ages.push(at.getTime() - publishedAt.getTime())
    }
    return ages
  }
  const hourly = Array.from({ length: 25 }, (_, hours) => 15 * minute + hours * hour)
  const daily = Array.from({ length: 28 }, (_, days) => 15 * minute + (days + 2) * day)
  expect(agesOf(false)).toEqual([...hourly, ...daily, 30 * day])
  expect(agesOf(true)).toEqual([day, 7 * day, 30 * day])
})

test('a read that failed is made again later and later, or when it is told to, and not once the 30 days are over', () => {
  const waits = [0, 1, 2, 3, 20].map((failures) => {
    const at = retryAt({ publishedAt, failures }, after(hour))!
    return at.getTime() - after(hour)
  })
  for (const [place, most] of [10 * minute, 20 * minute, 40 * minute, 80 * minute, 6 * hour].entries()) {
    expect(waits[place]).toBeGreaterThanOrEqual(most / 2)
    expect(waits[place]).toBeLessThanOrEqual(most)
  }
  expect(retryAt({ publishedAt, failures: 0 }, after(hour), day)).toEqual(new Date(after(hour + day)))
  for (const waitMs of [undefined, day]) {
    expect(retryAt({ publishedAt, failures: 0 }, after(30 * day), waitMs)).toBeNull()
  }
})
