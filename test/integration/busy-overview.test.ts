/** The overview of a workspace into which more comes between two commits of the aggregator than is taken at hand. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { aggregatesKeepUpMs, rowsAtHandMax, segmentRowsMax } from '../../schemas/limits.ts'
import { workOn } from '../support/aggregates.ts'
import type { EventLike } from '../support/event-rows.ts'
import { makeTestWorkspace } from '../support/overview.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const minute = 60_000
const now = Date.now()
const counted = 10
const pending = rowsAtHandMax + 200

/** One page view of each of the first `count` visitors, in a session of its own. */
function views(count: number, at: number, firstId: number, path: string): EventLike[] {
  return Array.from({ length: count }, (_, i) => ({ id: firstId + i, visitor: i + 1, occurred_at: at, path }))
}

test('counts events to the last one, and sessions as of the last commit until that is too long ago', async () => {
  const fixed = { now: new Date(now).toISOString() }
  const workspace = await makeTestWorkspace(stores, fixed)
  await workspace.addEvents(views(counted, now - 10 * minute, 1, '/'))
  await stores.pg.query(
    'INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through) VALUES (0, 1, $1)',
    [segmentRowsMax - 1],
  )
  await aggregate(workOn(stores))
  expect((await workspace.ask({ hours: '24' })).metrics).toMatchObject({ events: counted, bounce_rate: 100 })

  await workspace.addEvents(views(pending, now - 5 * minute, segmentRowsMax, '/pricing'))
  const kept = await workspace.ask({ hours: '24' })
  expect(kept.metrics).toMatchObject({ events: counted + pending, pageviews: counted + pending, visitors: pending })
  expect(kept.traffic_series.reduce((sum, { pageviews }) => sum + pageviews, 0)).toBe(counted + pending)
  expect(kept.top_pages.map(({ path, pageviews }) => [path, pageviews])).toEqual([
    ['/pricing', pending],
    ['/', counted],
  ])
  expect(kept.top_sources.map(({ sessions }) => sessions)).toEqual([counted])
  expect(kept.metrics.bounce_rate).toBe(100)

  await stores.pg.query(`UPDATE aggregate_revision SET committed_at = committed_at - $1 * interval '1 millisecond'`, [
    aggregatesKeepUpMs + minute,
  ])
  const exact = await workspace.ask({ hours: '24' })
  expect(exact.metrics).toMatchObject({ events: counted + pending, visitors: pending })
  expect(exact.top_sources.map(({ sessions }) => sessions)).toEqual([pending])
  expect(exact.metrics.bounce_rate).toBeCloseTo((100 * (pending - counted)) / pending, 1)
})
