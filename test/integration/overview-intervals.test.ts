/** Each bucket of a series, whatever its length, has the figures of its own range; `compare` says what `previous` is of. */
import { beforeAll, expect, test } from 'vitest'
import { type BucketKind, bucketKinds } from '../../schemas/time/time-range.ts'
import { closeDaysAt } from '../support/fold.ts'
import { makeTestWorkspace, type TestWorkspace } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'

const now = Date.parse('2026-11-20T14:25:00Z')
const hour = 3_600_000

const stores = setUpStores()
let workspace: TestWorkspace
beforeAll(async () => {
  workspace = await makeTestWorkspace(stores, { timezone: 'Europe/Berlin', plan: 'scale' })
  const recent = Array.from({ length: 200 }, (_, at) => ({
    visitor: 1 + ((at * 7) % 23),
    occurred_at: now - at * 9 * hour - 1,
    kind: at % 5 === 0 ? ('conversion' as const) : ('pageview' as const),
  }))
  const aYearAgo = [1, 2, 3].map((visitor) => ({ visitor, occurred_at: Date.parse('2025-11-18T12:00:00Z') }))
  await workspace.addEvents([...recent, ...aYearAgo])
  await closeDaysAt(stores, now)
})

const asked: [BucketKind, Record<string, string>][] = bucketKinds.flatMap((interval) => [
  [interval, { days: '9' }],
  [interval, { start: '2026-10-20T05:30:00Z', end: '2026-11-03T17:45:00Z' }],
])

test.each(asked)('by the %s, of %j', async (interval, query) => {
  const { metrics, traffic_series } = await workspace.ask({ ...query, interval })
  expect(metrics.range).toMatchObject({ bucket: interval })
  const pageviews = traffic_series.reduce((sum, point) => sum + point.pageviews, 0)
  expect(pageviews).toBe(metrics.pageviews)
  expect(pageviews).toBeGreaterThan(0)
  // Both ends, which may be cut, and some between them.
  const every = Math.max(1, Math.floor((traffic_series.length - 1) / 3))
  for (const { start, end, visitors, sessions, conversions } of [
    ...traffic_series.filter((_, at) => at % every === 0),
    traffic_series.at(-1)!,
  ]) {
    const alone = (await workspace.ask({ start, end, include: 'metrics' })).metrics
    expect({ start, visitors, sessions, conversions }).toEqual({
      ...{ start, visitors: alone.visitors, sessions: alone.sessions, conversions: alone.conversions },
    })
  }
})

test('what it is compared with', async () => {
  const visitorsBefore = async (compare?: string) => {
    const { previous } = (await workspace.ask({ days: '7', ...(compare && { compare }) })).metrics
    return previous && (previous as { visitors: number }).visitors
  }
  expect(await visitorsBefore('none')).toBe(null)
  expect(await visitorsBefore('year')).toBe(3)
  expect(await visitorsBefore()).toBe(await visitorsBefore('previous'))
  expect(await visitorsBefore()).toBeGreaterThan(3)
})
