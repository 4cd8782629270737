/** The aggregate tables: what raw rows add to them, and what becomes of rows that don't count. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contributedColumns, contributionsSql } from '../../clickhouse/aggregates/contributions.ts'
import { idMax } from '../../clickhouse/aggregates/id-ranges.ts'
import type { RowScope } from '../../clickhouse/aggregates/row-scope.ts'
import { type AggregateName, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import { aggregateNames } from '../../pipeline/aggregate/attempt.ts'
import { checkDays } from '../../pipeline/aggregate/check.ts'
import { deleteUncounted } from '../../pipeline/aggregate/garbage.ts'
import { mergeDue } from '../../pipeline/aggregate/merge.ts'
import { unmergedNewest } from '../../pipeline/aggregate/merge-plan.ts'
import { rebuildDay } from '../../pipeline/aggregate/rebuild.ts'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { checkAggregates } from '../../pipeline/jobs/check-aggregates.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/segment-leases.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { aggregateMergeWidth, segmentRowsMax } from '../../schemas/limits.ts'
import { atOnce, mergeAll, sweepAll, workOn } from '../support/aggregates.ts'
import { runSvc } from '../support/command-line.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const names = Object.keys(aggregateTables) as AggregateName[]
const hour = Date.parse('2026-11-20T12:00:00Z') / 3_600_000

test.each(names)('%s takes what raw rows add to it, from scratch and as a difference', async (name) => {
  await insertEventRows(stores.ch, [
    makeEventRow({ source: 'google', medium: 'organic' }),
    makeEventRow({ kind: 'conversion', occurred_at: '2026-11-20T12:05:00Z' }),
    makeEventRow({ kind: 'web_vital', metric: 'LCP', metric_value: 2501 }),
  ])
  const hours = { start: hour - 2, end: hour + 3 }
  const live = { generations: [5], resets: [{ workspaceId: 1, hour, generation: 7 }] }
  for (const uncounted of ['everything', [{ from: 0, through: 2 }]] as RowScope['uncounted'][]) {
    const { sql, params } = contributionsSql(
      name,
      { visible: [{ from: 0, through: idMax }], uncounted, hours },
      { touches: live, conversions: uncounted === 'everything' ? undefined : live },
    )
    await stores.ch.command(
      `INSERT INTO ${name} (generation, is_day, ${contributedColumns(name).join(', ')})
       SELECT 5, 0, ${contributedColumns(name).join(', ')} FROM (${sql})`,
      params,
    )
  }
  const [row] = await stores.ch.query<{ rows: number }>(`SELECT count() AS rows FROM ${name}`)
  expect(row!.rows).toBeGreaterThan(0)
})

const startedAt = Date.now()

/** Rows of one day that isn't over, each with the next id of a lease, and its mark behind it. */
async function arrive(first: number, at: number): Promise<void> {
  const id = first * segmentRowsMax + at
  await insertEventRows(stores.ch, [{ ...makeEventRow({ occurred_at: startedAt, source: 'google' }), id }])
  await advanceMark(stores.pg, first, id)
}

async function storedGenerations(): Promise<number[]> {
  const rows = await stores.ch.query<{ generation: number }>(
    'SELECT DISTINCT generation FROM agg_traffic ORDER BY generation',
  )
  return rows.map(({ generation }) => generation)
}

test('small generations become one, and what they were, or what a dead attempt left, is deleted after its time', async () => {
  await stores.ch.command('TRUNCATE TABLE agg_traffic')
  const work = workOn(stores)
  const first = await leaseSegments(stores.pg, 1_000)
  const runs = aggregateMergeWidth + unmergedNewest
  for (let at = 0; at < runs; at++) {
    await arrive(first, at)
    expect(await aggregate(work)).toMatchObject({ rows: 1, isAllTaken: true })
  }
  await arrive(first, runs)
  let statements = 0
  const dying = async () => {
    if (statements++ === 5) throw new Error('killed')
  }
  await expect(aggregate({ ...stores, beforeEach: dying })).rejects.toThrow('killed')
  expect(await mergeDue(work, true)).toBe(false)

  const live = async () => (await readSnapshot(stores.pg)).generations.map(({ generation }) => generation)
  expect(await live()).toHaveLength(1 + unmergedNewest)
  expect(await storedGenerations()).toHaveLength(runs + 2)
  expect(await deleteUncounted(work)).toBe(0)
  expect(await storedGenerations()).toHaveLength(runs + 2)
  await sweepAll(stores)
  expect(await storedGenerations()).toEqual(await live())
})

test('of a closed day that got late rows, what it was before is deleted from the partition that days share', async () => {
  const work = workOn(stores)
  const first = await leaseSegments(stores.pg, 1_000)
  const rebuild = async (at: number) => {
    const id = first * segmentRowsMax + at
    await insertEventRows(stores.ch, [{ ...makeEventRow({ occurred_at: '2025-06-01T12:00:00Z' }), id }])
    await advanceMark(stores.pg, first, id)
    await aggregate(work)
    await rebuildDay(work, day)
    await mergeAll(work)
  }
  const day = Date.parse('2025-06-01T00:00:00Z') / 86_400_000
  const neighbour = { ...makeEventRow({ occurred_at: '2025-06-02T12:00:00Z' }), id: first * segmentRowsMax }
  await insertEventRows(stores.ch, [neighbour])
  await rebuild(1)
  await rebuild(2)
  const stored = () =>
    stores.ch.query('SELECT generation, count() AS rows FROM agg_traffic WHERE is_closed = 1 GROUP BY generation')
  expect(await stored()).toHaveLength(3)
  await sweepAll(stores)
  expect(await stored()).toHaveLength(2)
  const snapshot = await readSnapshot(stores.pg)
  expect(await checkDays(stores.ch, snapshot, { first: day, last: day + 1 })).toEqual([])
})

test('a deletion that ClickHouse does not come to holds up nothing, is begun once, and its generations are kept in mind', async () => {
  const work = workOn(stores)
  const day = Date.parse('2025-06-01T00:00:00Z') / 86_400_000
  await rebuildDay(work, day)
  await mergeAll(work)
  const left = () => stores.pg.query('SELECT generation FROM aggregate_generations_left')
  const begun = () =>
    stores.ch.query('SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND NOT is_done')
  for (const name of aggregateNames) await stores.ch.command(`SYSTEM STOP MERGES ${name}`)
  try {
    expect(await deleteUncounted(work, atOnce)).toBeGreaterThan(0)
    const [kept, mutations] = [await left(), await begun()]
    expect([kept.length, mutations.length]).not.toContain(0)
    expect(await deleteUncounted(work, atOnce)).toBe(kept.length)
    expect([await left(), await begun()]).toEqual([kept, mutations])
  } finally {
    for (const name of aggregateNames) await stores.ch.command(`SYSTEM START MERGES ${name}`)
  }
  await sweepAll(stores)
  expect(await left()).toEqual([])

  // The next one waits for an hour: it goes through all that there is.
  await rebuildDay(work, day)
  await mergeAll(work)
  for (const times of [1, 2]) {
    expect(await deleteUncounted(work, { leftMs: 0, unlistedMs: 0 }), `${times}`).toBeGreaterThan(0)
  }
  expect(await begun()).toEqual([])
  await sweepAll(stores)
  expect(await left()).toEqual([])
})

test('a run with nothing new changes nothing', async () => {
  const work = workOn(stores)
  await aggregate(work)
  const before = await readSnapshot(stores.pg)
  expect(await aggregate(work)).toMatchObject({ rows: 0, isAllTaken: true })
  expect(await readSnapshot(stores.pg)).toEqual(before)
})

describe('aggregates that say something else than the events', () => {
  const work = () => workOn(stores)
  const day = '2025-03-04'
  const svc = async (line: string) => {
    const environment = {
      DATABASE_URL: stores.databaseUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      DATA_DIR: stores.dataDir,
    }
    const { code, out } = await runSvc([...line.split(' '), '--json'], environment)
    return { code, ...JSON.parse(out) }
  }

  /** Counts a view twice in the hour of the event. */
  async function falsify(): Promise<void> {
    const hour = Date.parse(`${day}T09:00:00Z`) / 3_600_000
    const { generations } = await readSnapshot(stores.pg)
    const { generation } = generations.findLast((one) => one.day === Math.floor(hour / 24))!
    await stores.ch.command(
      'INSERT INTO agg_traffic (generation, workspace_id, hour, pageviews) SELECT {generation:UInt64}, 1, {hour:UInt32}, 1',
      { generation, hour },
    )
  }

  beforeAll(async () => {
    // Stores of their own: all days are compared, which takes the longer the more there are.
    await stores.close()
    stores = await freshStores()
    const first = await leaseSegments(stores.pg, 1_000)
    const id = first * segmentRowsMax
    await insertEventRows(stores.ch, [{ ...makeEventRow({ occurred_at: `${day}T09:30:00Z` }), id }])
    await advanceMark(stores.pg, first, id)
    await aggregate(work())
  })

  test('are found by svc aggregates check, with exit code 1, and mended by rebuild, of a workspace or of all', {
    timeout: 120_000,
  }, async () => {
    await stores.pg.query(`INSERT INTO owners (email, plan_key) VALUES ('a@example.com', 'scale')`)
    await stores.pg.query(`INSERT INTO workspaces (owner_id, name, slug) SELECT id, 'w', 'w' FROM owners`)
    for (const rebuild of ['rebuild --workspace 1', `rebuild --from ${day} --to ${day}`, 'rebuild']) {
      expect(await svc(`aggregates check --from ${day} --to ${day}`)).toEqual({ code: 0, days: 1, differences: [] })
      await falsify()
      const difference = { table: 'agg_traffic', workspace_id: 1, from: `${day}T09:00:00.000Z`, of: 'hour' }
      expect(await svc('aggregates check --workspace 1')).toMatchObject({ code: 1, differences: [difference] })
      expect(await svc(`aggregates ${rebuild}`)).toMatchObject({ code: 0 })
    }
    expect(await svc('aggregates check')).toMatchObject({ code: 0, differences: [] })
  })

  test('are found by the nightly job, counted, and computed anew by the next run', async () => {
    const metrics = makeMetrics('test', false)
    const context = {
      ...stores,
      clock: fixedClock(Date.parse(`${day}T00:00:00Z`) + 86_400_000),
      log: makeLog('test', 'silent'),
      metrics: makePipelineMetrics(metrics),
      signal: AbortSignal.timeout(60_000),
    }
    await falsify()
    await checkAggregates(context)
    expect(await metrics.text()).toMatch(/svc_aggregate_differences\S* 1\n/)
    await aggregate(work())
    await checkAggregates(context)
    expect(await metrics.text()).toMatch(/svc_aggregate_differences\S* 0\n/)
  })
})
