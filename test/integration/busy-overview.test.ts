/** The overview of a workspace into which more comes between two commits of the aggregator than is taken at hand. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  aggregatesKeepUpMs,
  alikeRowsAtHandMax,
  pendingRowsCountedMax,
  rowsAtHandMax,
  segmentRowsMax,
} from '../../schemas/limits.ts'
import { aggregateSegment } from '../support/aggregates.ts'
import type { EventLike } from '../support/event-rows.ts'
import { makeTestWorkspace } from '../support/overview.ts'
import { someOf } from '../support/short-form.ts'
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

/** One page view of each of `count` visitors, in a session of its own. */
function views(count: number, at: number, firstId: number, path: string, firstVisitor = 1): EventLike[] {
  return Array.from({ length: count }, (_, i) => ({
    id: firstId + i,
    visitor: firstVisitor + i,
    occurred_at: at,
    path,
  }))
}

test('counts events to the last one, and sessions as of the last commit until that is too long ago', async () => {
  const fixed = { now: new Date(now).toISOString() }
  const workspace = await makeTestWorkspace(stores, fixed)
  await workspace.addEvents(views(counted, now - 10 * minute, 1, '/'))
  await aggregateSegment(stores, 0)
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

test.each(
  someOf(
    [
      [1, rowsAtHandMax + 1, null],
      [3, alikeRowsAtHandMax + 1, null],
      [5, pendingRowsCountedMax + 1, null],
      // Conversions near the first readable moment are credited from the raw rows.
      [7, rowsAtHandMax + 1, 1],
    ] as const,
    2,
  ),
)(
  'counts nothing behind the end of a range (segment %i), where %i rows wait',
  async (segment, waiting, retentionDays) => {
    const at = (time: string) => Date.parse(`2026-11-18T${time}:00Z`)
    const ends = { start: '2026-11-17T08:40:00Z', end: '2026-11-18T08:40:00Z' }
    // Its days begin within an hour of UTC, as its buckets do.
    const fixed = { now: '2026-11-18T08:50:00Z', timezone: 'Asia/Kolkata', retentionDays }
    const workspace = await makeTestWorkspace(stores, fixed)
    const firstId = segment * segmentRowsMax
    // Without what is of the last minutes, whatever the range.
    const ofRange = async () => ({ ...(await workspace.ask(ends)), recent_events: undefined })
    await workspace.addEvents(views(counted, at('08:35'), firstId, '/'))
    await aggregateSegment(stores, segment)
    await stores.pg.query('UPDATE aggregate_revision SET committed_at = $1', [fixed.now])
    const { metrics, ...before } = await ofRange()
    expect(metrics).toMatchObject({ events: counted, pageviews: counted, visitors: counted, conversions: 0 })

    const late = views(waiting, at('08:45'), firstId + segmentRowsMax, '/late', counted + 1)
    await workspace.addEvents([{ ...late[0], kind: 'conversion' }, ...late.slice(1)])
    expect(await ofRange()).toEqual({ ...before, metrics: { ...metrics, live_visitors: expect.any(Number) } })
  },
)
