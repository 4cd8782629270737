/**
 * What is stored of sessions, by the statement for those within a day and the one for those it leaves to it, is what the
 * statement for all sessions makes of them. `SEED=n` repeats a run, `RUNS=n` sets its length.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contributedColumns, contributionsSql } from '../../clickhouse/aggregates/contributions.ts'
import { generationOf } from '../../clickhouse/aggregates/live-rows.ts'
import type { RowScope } from '../../clickhouse/aggregates/row-scope.ts'
import { aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import { insertContributions } from '../../pipeline/aggregate/attempt.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const runs = Number(process.env['RUNS'] ?? 20)
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const firstHour = Date.parse('2025-03-01T00:00:00Z') / hourMs
const hoursMax = 60
const idsEach = 64

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const eventOf = fc.record({
  workspace_id: fc.constantFrom(1, 2),
  session: fc.integer({ min: 1, max: 2 }),
  // Many a whole number of hours or days after another, give or take a millisecond.
  occurred_at: fc
    .tuple(
      fc.oneof(fc.integer({ min: 0, max: hoursMax }), fc.constantFrom(0, 1, 24, 25, 26, 48, 49, 50)),
      fc.constantFrom(0, 1, hourMs - 1, hourMs / 2),
    )
    .map(([hour, rest]) => (firstHour + hour) * hourMs + rest),
  kind: fc.constantFrom('pageview', 'pageview', 'custom', 'conversion', 'page_leave'),
  visitor: fc.constantFrom(11, 12),
  source: fc.constantFrom('', 'google', 'newsletter'),
  browser: fc.constantFrom('', 'Firefox'),
  path: fc.constantFrom('/', '/a', '/b'),
  engagement_ms: fc.constantFrom(0, 9_999, 10_000),
})

const caseOf = fc.record({
  events: fc.array(eventOf, { minLength: 1, maxLength: 40 }),
  uncountedFrom: fc.option(fc.integer({ min: 0, max: 24 })),
  start: fc.constantFrom(0, 0, 1, 24, 40),
  length: fc.constantFrom(1, 30, 80, 80),
  hasKeys: fc.boolean(),
  isInParts: fc.boolean(),
})

/** Of a session that is longer than a day, which chance may leave out. */
const longCase: typeof caseOf extends fc.Arbitrary<infer Case> ? Case : never = {
  events: [0, 25].map((hour) => ({
    workspace_id: 1,
    session: 1,
    occurred_at: (firstHour + hour) * hourMs,
    kind: 'pageview',
    visitor: 11,
    source: 'google',
    browser: '',
    path: '/',
    engagement_ms: 0,
  })),
  uncountedFrom: 1,
  start: 0,
  length: 80,
  hasKeys: false,
  isInParts: false,
}

const { columns } = aggregateTables.agg_sessions
const shown = Object.entries(columns).map(([name, column]) => `${column.shown.replaceAll('?', name)} AS ${name}_`)
const figures = (rows: string) => `
  SELECT workspace_id, hour, toString(dimension) AS kind, key, detail, ${shown.join(', ')} FROM (${rows}) WHERE dimension != 'long'
  GROUP BY workspace_id, hour, dimension, key, detail
  HAVING dimension = 'retracted' OR visitors_ != 0 OR ${['sessions', 'pageviews', 'events', 'bounces', 'duration_ms'].map((name) => `${name}_ != 0`).join(' OR ')}
  ORDER BY workspace_id, hour, kind, key, detail`

test('sessions of any length are stored as the statement for all of them says', { timeout: 300_000 }, async () => {
  const { ch } = stores
  const beforeEach = async () => {}
  let long = 0
  for (const [at, one] of [longCase, ...fc.sample(caseOf, { seed, numRuns: runs })].entries()) {
    const firstId = (at + 1) * idsEach
    await insertEventRows(
      ch,
      one.events.map((event, position) => ({ ...makeEventRow(event), id: firstId + position })),
    )
    const hours = { start: firstHour + one.start, end: firstHour + one.start + one.length }
    const through = firstId + idsEach - 1
    const scope: RowScope = {
      visible: [{ from: firstId, through }],
      uncounted: one.uncountedFrom === null ? 'everything' : [{ from: firstId + one.uncountedFrom, through }],
      hours,
      ...(one.hasKeys ? { keys: [hours.start, hours.end - 1].map((hour) => ({ workspaceId: 1, hour })) } : {}),
    }
    const counted = { touches: { generations: [], resets: [] }, conversions: undefined }
    const parts = one.isInParts ? [0, 1].map((remainder) => ({ ...scope, part: { remainder, of: 2 } })) : [scope]
    for (const part of parts) await insertContributions({ ch, beforeEach }, at + 1, 'agg_sessions', part, counted)
    const stored = `SELECT * FROM agg_sessions WHERE generation >= ${generationOf(at + 1, 0)} AND generation < ${generationOf(at + 2, 0)}`
    const { sql, params } = contributionsSql('agg_sessions', scope, counted)
    const all = `SELECT ${contributedColumns('agg_sessions').join(', ')} FROM (${sql})`
    const [actual, expected, marks] = [
      await ch.query(figures(stored)),
      await ch.query(figures(all), params),
      await ch.query(`SELECT 1 FROM (${stored}) WHERE dimension = 'long'`),
    ]
    expect(actual, `SEED=${seed}, case ${at}: ${JSON.stringify(one)}`).toEqual(expected)
    long += marks.length
  }
  expect(long).toBeGreaterThan(0)
})
