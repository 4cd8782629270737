/**
 * Every figure of the overview equals the oracle's (test/oracle) at every stage of aggregation: with rows that the
 * aggregates have and others that they don't, in any order of arrival. `SEED=n` repeats a run, `RUNS=n` sets its length.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { rememberLasting } from '../../clickhouse/queries/remember.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { edgeRowsAtHandMax, rowsAtHandMax } from '../../schemas/limits.ts'
import { overviewCases, workspaceOf } from '../oracle/cases.ts'
import { differences } from '../oracle/compare.ts'
import { computeOverview } from '../oracle/overview.ts'
import { mergeAll, workOn } from '../support/aggregates.ts'
import { isLong, seed } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'
import { placeInPortions, withShortSessions } from './aggregated-cases.ts'
import { askOverview, type PlacedCase } from './ask-overview.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 600 : 1))
/** Aggregated together. */
const chunk = 6
const portionsEach = 3
const laterMs = 7 * 60_000

let stores: TestStores
/** With all that they were asked before: what is remembered has to stay right. */
let readers: readonly ClickHouse[]
beforeAll(async () => {
  stores = await freshStores()
  readers = [
    rememberLasting(stores.ch),
    rememberLasting(withMoreThan(rowsAtHandMax, stores.ch)),
    rememberLasting(withMoreThan(edgeRowsAtHandMax, stores.ch)),
    rememberLasting(withMoreThan(Number.POSITIVE_INFINITY, stores.ch)),
  ]
})
afterAll(() => stores.close())

/** As if the rows that are read to be counted at hand were too many, where no more than `max` are wanted. */
function withMoreThan(max: number, ch: ClickHouse): ClickHouse {
  return {
    ...ch,
    query: async <Row>(sql: string, params?: Record<string, unknown>, options?: QueryOptions<Row>) => {
      const rows = await ch.query<Row>(sql, params, options)
      const { rows_max } = (params ?? {}) as { rows_max?: number }
      const isLeft = rows_max === undefined || rows_max > max + 1 || rows.length === 0
      return isLeft ? rows : Array<Row>(rows_max).fill(rows[0]!)
    },
  }
}

async function expectFigures(
  placed: readonly PlacedCase[],
  isThere: (event: { id: number }) => boolean,
  stage: string,
) {
  for (const [at, one] of placed.entries()) {
    const facts = { ...one, events: one.events.filter(isThere) }
    const expected = computeOverview(facts, one.query, workspaceOf(one), one.now)
    const actual = await askOverview({ ...stores, ch: readers[(at + seed) % readers.length]! }, one)
    if (expected === undefined) expect(actual).toBe('refused')
    else
      expect(differences(expected, actual), `SEED=${seed}, case ${at}, ${stage}, ${JSON.stringify(one.query)}`).toEqual(
        [],
      )
  }
}

test('every figure of the overview equals an independent computation at every stage of aggregation', {
  timeout: isLong ? 7_200_000 : 600_000,
}, async () => {
  const cases = fc.sample(overviewCases, { seed, numRuns: runs }).map(withShortSessions)
  for (let from = 0; from < cases.length; from += chunk) {
    const { placed, portions } = await placeInPortions(stores, cases.slice(from, from + chunk), portionsEach)
    const work = workOn(stores)
    let lastId = 0
    for (const [at, portion] of portions.entries()) {
      lastId = await portion.insert()
      const isThere = (event: { id: number }) => event.id <= lastId
      // At the first portion of the first chunk the aggregates have nothing at all.
      await expectFigures(placed, isThere, `chunk ${from}, portion ${at} not aggregated`)
      await aggregate(work)
      await expectFigures(placed, isThere, `chunk ${from}, portion ${at} aggregated`)
      if (at === 0) continue
      // The second portion's days stay as they are where the third one's rows come late for them.
      await mergeAll(work)
      await expectFigures(placed, isThere, `chunk ${from}, portion ${at} merged`)
      if (!isLong && at < portions.length - 1) continue
      // Of the hours that a range begins and ends with, another part.
      const later = placed.map((one) => ({ ...one, now: one.now + laterMs }))
      await expectFigures(later, isThere, `chunk ${from}, portion ${at} merged, later`)
    }
  }
  expect((await readSnapshot(stores.pg)).blocks.length).toBeGreaterThan(0)
})
