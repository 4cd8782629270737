/** What an API process remembers of aggregates, where merging them has left out what doesn't count any more. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rememberLasting } from '../../clickhouse/queries/remember.ts'
import { mergeGenerations } from '../../pipeline/aggregate/merge.ts'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { type AggregationState, readAggregationState } from '../../postgres/tables/aggregates.ts'
import { segmentRowsMax } from '../../schemas/limits.ts'
import { workOn } from '../support/aggregates.ts'
import { makeTestWorkspace } from '../support/overview.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const hour = 3_600_000
const midnight = Math.floor(Date.now() / (24 * hour)) * 24 * hour - 24 * hour
const at = (hours: number) => midnight + hours * hour

/** Puts those of some generations that are listed into one. */
async function merge(isMerged: (one: AggregationState['generations'][number]) => boolean): Promise<void> {
  const state = await readAggregationState(stores.pg, 0)
  const from = state.generations.filter(isMerged)
  expect(from).toHaveLength(2)
  expect(await mergeGenerations(workOn(stores), state, { day: from[0]!.day, from, level: 1, isWhole: false })).toBe(
    true,
  )
}

test('an hour that was computed anew is not added to what was known of it before', async () => {
  const remembering = await makeTestWorkspace(
    { ...stores, ch: rememberLasting(stores.ch) },
    { now: new Date(at(12)).toISOString() },
  )
  let segment = 0
  const take = async (event: { visitor: number; session: number; occurred_at: number; source: string }) => {
    await remembering.addEvents([{ id: segment * segmentRowsMax + 1, path: '/', ...event }])
    segment++
    await stores.pg.query(
      'INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through) VALUES ($1, $2, $3)',
      [segment - 1, segment, segment * segmentRowsMax - 1],
    )
    await aggregate(workOn(stores))
  }
  await take({ visitor: 1, session: 1, occurred_at: at(10.5), source: 'google' })
  await take({ visitor: 2, session: 2, occurred_at: at(8.5), source: 'google' })
  const before = await remembering.ask({ hours: '24' })
  expect(before.top_sources).toMatchObject([{ source: 'google', sessions: 2 }])

  // Its first event, and so its source, is another: the hour is computed anew.
  await take({ visitor: 1, session: 1, occurred_at: at(10.1), source: 'newsletter' })
  const { generations, resets } = await readAggregationState(stores.pg, 0)
  expect(resets).toHaveLength(1)
  const [, second] = generations
  await merge(({ generation }) => generation <= second!.generation)
  await merge(({ level }) => level === 0)
  expect((await readAggregationState(stores.pg, 0)).resets).toEqual([])

  const after = await remembering.ask({ hours: '24' })
  expect(after.metrics).toMatchObject({ events: 3, pageviews: 3, visitors: 2, sessions: 2 })
  expect(after.top_sources).toMatchObject([
    { source: 'google', sessions: 1 },
    { source: 'newsletter', sessions: 1 },
  ])
})
