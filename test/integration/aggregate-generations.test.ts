/** Generations of aggregates: what is merged counts on, and what doesn't count is deleted. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { aggregateNames } from '../../pipeline/aggregate/attempt.ts'
import { deleteUncounted } from '../../pipeline/aggregate/garbage.ts'
import { mergeDue } from '../../pipeline/aggregate/merge.ts'
import { unmergedNewest } from '../../pipeline/aggregate/merge-plan.ts'
import { rebuildDay } from '../../pipeline/aggregate/rebuild.ts'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { recordRepairs } from '../../postgres/tables/aggregate-repairs.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/segment-leases.ts'
import { aggregateMergeWidth, aggregateRepairsMax, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits.ts'
import {
  atOnce,
  exactAggregates,
  findUncounted,
  judgeAggregates,
  mergeAll,
  sweepAll,
  workOn,
} from '../support/aggregates.ts'
import { makeDyingStores, makeStoresDyingAtCommit } from '../support/dying-stores.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { isLong } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

/** The short form kills at some calls only, others each time. */
const callsBetweenKills = isLong ? 1 : 4
const firstKill = () => 1 + Math.floor(Math.random() * callsBetweenKills)

let stores: TestStores
let first: number
let used: number

beforeEach(async () => {
  stores = await freshStores()
  first = await leaseSegments(stores.pg, segmentLeaseSize)
  used = 0
})
afterEach(() => stores.close())

async function aggregateEvents(...events: EventLike[]): Promise<void> {
  const rows = events.map((event) => makeEventRow({ ...event, id: first * segmentRowsMax + used++ }))
  await insertEventRows(stores.ch, rows)
  await advanceMark(stores.pg, first, rows.at(-1)!.id)
  await aggregate(workOn(stores))
}

test('events after midnight count in sessions that began before it, also once a day has merged generations of nothing else', async () => {
  await aggregateEvents({ occurred_at: '2026-11-02T23:50:00Z' })
  await mergeAll(workOn(stores))
  for (let event = 0; event < aggregateMergeWidth + unmergedNewest; event++) {
    await aggregateEvents({ occurred_at: `2026-11-03T00:${String(event).padStart(2, '0')}:00Z` })
  }
  expect(await judgeAggregates(stores)).toEqual(exactAggregates)
  await mergeDue(workOn(stores), false)
  expect(await judgeAggregates(stores)).toEqual(exactAggregates)
})

test('an hour that was told of many times is computed anew once', async () => {
  await aggregateEvents({})
  const hour = Math.floor(Date.parse('2026-11-20T12:00:00Z') / 3_600_000)
  const keys = Array.from({ length: 3 * aggregateRepairsMax }, () => ({ workspaceId: 1, hour }))
  await recordRepairs(stores.pg, keys)
  expect(await aggregate(workOn(stores))).toMatchObject({ isAllTaken: true })
  expect(await stores.pg.query('SELECT 1 FROM aggregate_repairs')).toEqual([])
  expect(await judgeAggregates(stores)).toEqual(exactAggregates)
})

test('of a day that was made whole by a process that died nothing is left, also when its deletion is killed at any call', async () => {
  const occurred_at = '2026-11-02T12:00:00Z'
  await aggregateEvents({ occurred_at, kind: 'conversion', source: 'newsletter' })
  await aggregateEvents({ occurred_at, kind: 'web_vital', metric: 'LCP', metric_value: 1200 })
  await expect(mergeDue(workOn(makeStoresDyingAtCommit(stores)), true)).rejects.toThrow('killed')
  await mergeDue(workOn(stores), true)
  expect((await readSnapshot(stores.pg)).generations.some(({ isWhole }) => isWhole)).toBe(true)
  expect(Object.keys(await findUncounted(stores))).toEqual(aggregateNames)
  for (let calls = firstKill(), isDone = false; !isDone; calls += callsBetweenKills) {
    const dying = makeDyingStores(stores, calls)
    await deleteUncounted(workOn(dying), atOnce).catch(() => {})
    isDone = !dying.isDead
  }
  await sweepAll(stores)
  expect(await findUncounted(stores)).toEqual({})
  expect(await judgeAggregates(stores)).toEqual(exactAggregates)
})

describe('a block of days', () => {
  const days = ['2026-11-03', '2026-11-04', '2026-11-05', '2026-11-06']
  const firstDay = Date.parse(days[0]!) / 86_400_000
  const blocks = async () => (await readSnapshot(stores.pg)).blocks.map(({ firstDay, days }) => ({ firstDay, days }))

  async function aggregateDays(): Promise<void> {
    for (const day of days) {
      await aggregateEvents(
        { occurred_at: `${day}T12:00:00Z`, source: 'newsletter' },
        { occurred_at: `${day}T23:50:00Z`, kind: 'web_vital', metric: 'LCP', metric_value: 1200 },
      )
    }
  }

  test('stands beside its days, stays when late rows come, and is made anew with a day', async () => {
    await aggregateDays()
    await mergeDue(workOn(stores), false)
    expect(await blocks()).toEqual([])
    await mergeAll(workOn(stores))
    expect(await blocks()).toEqual([{ firstDay, days: 4 }])
    expect(await judgeAggregates(stores)).toEqual(exactAggregates)

    await aggregateEvents({ occurred_at: `${days[1]}T13:00:00Z` })
    expect(await blocks()).toEqual([{ firstDay, days: 4 }])
    expect(await judgeAggregates(stores)).toEqual(exactAggregates)

    const [before] = (await readSnapshot(stores.pg)).blocks
    await rebuildDay(workOn(stores), firstDay + 1)
    expect(await blocks()).toEqual([])
    await mergeAll(workOn(stores))
    expect(await blocks()).toEqual([{ firstDay, days: 4 }])
    expect((await readSnapshot(stores.pg)).blocks[0]!.generation).toBeGreaterThan(before!.generation)
    expect(await judgeAggregates(stores)).toEqual(exactAggregates)
    await sweepAll(stores)
    expect(await findUncounted(stores)).toEqual({})
    expect(await judgeAggregates(stores)).toEqual(exactAggregates)
  })

  test('is compared with its days', async () => {
    await aggregateDays()
    await mergeAll(workOn(stores))
    const [{ generation } = { generation: 0 }] = (await readSnapshot(stores.pg)).blocks
    await stores.ch.command(
      'ALTER TABLE agg_pages UPDATE pageviews = pageviews + 1 WHERE generation = {generation:UInt64}',
      { generation },
      { settings: { mutations_sync: 1 } },
    )
    expect((await judgeAggregates(stores)).differences).toEqual([
      { table: 'agg_pages', workspaceId: 1, hour: firstDay * 24, isDay: true },
    ])
  })

  test('leaves nothing behind when whoever writes it is killed at any call', async () => {
    await aggregateDays()
    for (let calls = firstKill(); (await blocks()).length === 0; calls += callsBetweenKills) {
      await mergeDue(workOn(makeDyingStores(stores, calls)), true).catch(() => {})
    }
    expect(Object.keys(await findUncounted(stores))).not.toEqual([])
    await sweepAll(stores)
    expect(await findUncounted(stores)).toEqual({})
    expect(await judgeAggregates(stores)).toEqual(exactAggregates)
  })
})
