/**
 * The aggregator killed between any two of its calls to the stores, in each kind of its work: what it had written doesn't
 * count, the next one does the work, and what doesn't count is deleted in the end. The long form kills at each call, the
 * short one at some, and of a quarter of the kinds (short-form.ts).
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { attemptOfGeneration } from '../../clickhouse/aggregates/live-rows.ts'
import { deleteUncounted } from '../../pipeline/aggregate/garbage.ts'
import { mergeDue } from '../../pipeline/aggregate/merge.ts'
import { unmergedNewest } from '../../pipeline/aggregate/merge-plan.ts'
import { rebuildDay } from '../../pipeline/aggregate/rebuild.ts'
import { type Aggregating, aggregate } from '../../pipeline/aggregate/run.ts'
import { recordRepairs } from '../../postgres/tables/aggregate-repairs.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/segment-leases.ts'
import { aggregateMergeWidth, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits.ts'
import {
  aggregateAll,
  atOnce,
  exactAggregates,
  findUncounted,
  judgeAggregates,
  listedGenerations,
  sweepAll,
  untilAggregated,
  workOn,
} from '../support/aggregates.ts'
import { makeDyingStores } from '../support/dying-stores.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { drawLateEvents, makeRandom } from '../support/late-events.ts'
import { isLong, seed, someOf } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const callsBetweenKills = isLong ? 1 : 16
const roundsAtOnce = 40
const workspaces = 3
/** With repairs in so many, whole days are computed anew. */
const manyWorkspaces = 25
const hourMs = 3_600_000

const random = makeRandom(seed)
const events = drawLateEvents(random, 60)
/** Attempts of aggregators that were killed before they committed anything. */
const deadAttempts = new Set<number>()
let stores: TestStores
let first: number
let used = 0

beforeAll(async () => {
  stores = await freshStores()
  first = await leaseSegments(stores.pg, segmentLeaseSize)
})
afterAll(() => stores.close())

const below = (end: number) => Math.floor(random() * end)
const today = () => Math.floor(Date.now() / hourMs / 24)

/** Rows that are stored, and said to be. */
async function arrive(count: number, row: () => EventLike = events.row): Promise<void> {
  const id = first * segmentRowsMax + used
  const rows = Array.from({ length: count }, (_, at) =>
    makeEventRow({ workspace_id: 1 + below(workspaces), ...row(), id: id + at }),
  )
  used += count
  await insertEventRows(stores.ch, rows)
  await advanceMark(stores.pg, first, id + count - 1)
}

/** Takes rows away behind the marks, and says so. */
async function loseRows(): Promise<void> {
  const ids = Array.from({ length: 5 }, () => first * segmentRowsMax + below(used))
  const keys = await stores.ch.query<{ workspaceId: number; hour: number }>(
    `SELECT DISTINCT workspace_id AS workspaceId, intDiv(toUnixTimestamp(occurred_at), 3600) AS hour
     FROM events WHERE id IN {ids:Array(UInt64)}`,
    { ids },
  )
  await stores.ch.command(
    'ALTER TABLE events DELETE WHERE id IN {ids:Array(UInt64)}',
    { ids },
    { settings: { mutations_sync: 1 } },
  )
  await recordRepairs(stores.pg, keys)
}

function repairEverywhere(): Promise<void> {
  const hour = Math.floor(Date.now() / hourMs) - 24
  const keys = Array.from({ length: manyWorkspaces }, (_, at) => ({ workspaceId: 1 + at, hour }))
  return recordRepairs(stores.pg, keys)
}

/** Enough generations of the present day, of the lowest level, that some are merged. */
async function makeSmallGenerations(): Promise<void> {
  for (let at = 0; at < aggregateMergeWidth + unmergedNewest; at++) {
    await arrive(3, () => ({ occurred_at: Date.now(), visitor: 5_000 + used }))
    await aggregate(workOn(stores))
  }
}

/** Days that are over have got late rows, and no more of them for a while. */
async function reopenDays(): Promise<void> {
  await arrive(100)
  await aggregateAll(stores)
  await arrive(20)
  await aggregate(workOn(stores))
  await stores.pg.query(`UPDATE aggregate_generations_live SET written_at = written_at - interval '1 hour'`)
}

const aggregateOnce = (work: Aggregating): Promise<unknown> => aggregate(work)
const mergeOnce = (work: Aggregating): Promise<unknown> => mergeDue(work, true)
const kinds: [string, () => Promise<void>, (work: Aggregating) => Promise<unknown>][] = [
  ['takes up the first events', () => arrive(200), aggregateOnce],
  ['makes days that are over whole', async () => {}, mergeOnce],
  ['takes up late events, which change what was counted', () => arrive(100), aggregateOnce],
  ['computes hours anew', loseRows, aggregateOnce],
  [
    'computes days anew, with new events',
    async () => void (await Promise.all([arrive(50), repairEverywhere()])),
    aggregateOnce,
  ],
  ['merges small generations', makeSmallGenerations, (work) => mergeDue(work, false)],
  ['makes days whole again', reopenDays, mergeOnce],
  ['rebuilds a day', async () => {}, (work) => rebuildDay(work, today() - 1)],
]

/** Each with those before it that are left out: they are done once, as it stands on what they do. */
const killedKinds = someOf([...kinds.keys()], 4).map((at, nth, all) => {
  const [name, prepare, work] = kinds[at]!
  return [name, { prepare, work, leftOut: kinds.slice(nth === 0 ? 0 : all[nth - 1]! + 1, at) }] as const
})

test.each(killedKinds)(
  'an aggregator that %s may be killed at any call',
  async (_, { prepare, work, leftOut }) => {
    // A store full of dead attempts would make each kill slower than the one before.
    if (isLong) await sweepAll(stores)
    for (const [, prepareOther, workOther] of leftOut) {
      await prepareOther()
      await workOther(workOn(stores))
    }
    await prepare()
    expect(await killAtCalls(work)).toBeGreaterThan(0)
    await expectExact()
  },
  isLong ? 900_000 : 300_000,
)

// In the short form two runs at once are left to test/property/aggregates.test.ts, and deletion to test/integration.
test.skipIf(!isLong)(
  'several at once, killed at any call, with hours and days computed anew meanwhile, do no harm',
  async () => {
    for (let round = 0; round < roundsAtOnce; round++) {
      const killed = [aggregateOnce, mergeOnce, (work: Aggregating) => rebuildDay(work, today() - below(4))]
      await arrive(30)
      if (round % 2 === 1) await loseRows()
      await Promise.all([
        aggregate(workOn(stores)),
        aggregate(workOn(stores)),
        ...killed.map((work) => killAfter(1 + below(60), work).catch(ignoreTakenOver)),
      ])
      await expectExact()
    }
  },
  1_800_000,
)

test('a dead attempt that counted would be noticed', async () => {
  const { pg } = stores
  // Of events that change nothing that was counted: hours of others are computed anew by who comes after.
  await arrive(30, () => ({ occurred_at: Date.now(), visitor: 50_000 + used, session: 50_000 + used }))
  await killAtCalls(aggregateOnce, 3)
  const dead = (await generationsWithHours()).find((one) => deadAttempts.has(attemptOfGeneration(one)))
  await pg.query(
    `INSERT INTO aggregate_generations_live (generation, day, level, is_whole, last_at)
     VALUES ($1::bigint, $1::bigint % 65536, 0, false, 0)`,
    [dead],
  )
  const verdict = await judgeAggregates(stores)
  expect(verdict.uncounted).toBeLessThan(0)
  expect(verdict.differences.map(({ table }) => table)).toContain('agg_traffic')
  await pg.query('DELETE FROM aggregate_generations_live WHERE generation = $1', [dead])
  await expectExact()
})

test.skipIf(!isLong)(
  'what does not count is deleted in the end, also when that is killed at any call',
  async () => {
    expect(await killAtCalls((work) => deleteUncounted(work, atOnce), 4)).toBeGreaterThan(0)
    await sweepAll(stores)
    expect(await findUncounted(stores)).toEqual({})
    await expectExact()
  },
  1_800_000,
)

/**
 * Does the work again and again, killed a few calls later each time, until it comes to its end.
 * @returns how often it was killed
 */
async function killAtCalls(
  work: (work: Aggregating) => Promise<unknown>,
  between = callsBetweenKills,
): Promise<number> {
  let kills = 0
  for (let calls = 1 + below(between); await killAfter(calls, work); calls += between) kills++
  return kills
}

/** @returns whether it was killed before it came to its end */
async function killAfter(calls: number, work: (work: Aggregating) => Promise<unknown>): Promise<boolean> {
  const dying = makeDyingStores(stores, calls)
  const before = await readSnapshot(stores.pg)
  try {
    await work(workOn(dying))
  } catch (error) {
    if (!dying.isDead) throw error
  }
  const { revision } = await readSnapshot(stores.pg)
  if (dying.isDead && revision === before.revision) for (const attempt of dying.attempts) deadAttempts.add(attempt)
  return dying.isDead
}

function ignoreTakenOver(error: Error): void {
  if (!error.message.includes('changed the aggregates meanwhile')) throw error
}

async function expectExact(): Promise<void> {
  await untilAggregated(stores, () => aggregate(workOn(stores)))
  expect(await judgeAggregates(stores), `SEED=${seed}`).toEqual(exactAggregates)
  expect(
    (await listedGenerations(stores.pg)).filter(({ generation }) => deadAttempts.has(attemptOfGeneration(generation))),
  ).toEqual([])
}

/** The generations that have rows of hours in `agg_traffic`, the newest first: none of their hours was computed anew since. */
async function generationsWithHours(): Promise<number[]> {
  const rows = await stores.ch.query<{ generation: number }>(
    'SELECT DISTINCT generation FROM agg_traffic WHERE is_day = 0 ORDER BY generation DESC',
  )
  return rows.map(({ generation }) => generation)
}
