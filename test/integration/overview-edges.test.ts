/** Ranges that begin and end inside an hour: of whose rows, once read, no question is asked again until others come. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rememberLasting } from '../../clickhouse/queries/remember.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'
import { edgeHourRowsMax, segmentRowsMax } from '../../schemas/limits.ts'
import { aggregateSegment, mergeAll, workOn } from '../support/aggregates.ts'
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
const range = (start: number, end: number) => ({
  start: new Date(at(start)).toISOString(),
  end: new Date(at(end)).toISOString(),
})

let segment = 0
/** A workspace whose questions are counted. `lists`: how many rows those of an hour are said to be. */
async function watched({ lists = 1, timezone = 'UTC', now = at(20), retentionDays = 90 } = {}) {
  const asked: string[] = []
  const ch = rememberLasting({
    ...stores.ch,
    query: async <Row>(sql: string, params?: Record<string, unknown>, options?: QueryOptions<Row>) => {
      asked.push(sql)
      const rows = await stores.ch.query<Row>(sql, params, options)
      return lists === 1 || options?.isLasting !== true || !sql.includes('AS ids')
        ? rows
        : rows.map((row) => ({ ...row, ids: new Float64Array(lists) }))
    },
  })
  const workspace = await makeTestWorkspace(
    { ...stores, ch },
    { now: new Date(now).toISOString(), timezone, retentionDays },
  )
  const add = async (hours: number, visitor: number, more: Record<string, unknown> = {}) => {
    const id = segment * segmentRowsMax + visitor
    const one = { id, visitor, session: visitor, occurred_at: at(hours), path: '/', source: 'google', medium: 'cpc' }
    await workspace.addEvents([{ ...one, ...more }])
  }
  const take = () => aggregateSegment(stores, segment++)
  const figures = async (start: number, end: number) => {
    asked.length = 0
    const { metrics, top_sources, top_pages, traffic_series } = await workspace.ask(range(start, end))
    const { events, sessions, visitors, conversions, bounce_rate, previous } = metrics
    const conversionsOfSources = top_sources.reduce((sum, one) => sum + one.conversions, 0)
    return {
      ...{ events, sessions, visitors, conversions, bounce_rate, conversionsOfSources },
      begun: top_sources.map((one) => one.sessions),
      pageviews: top_pages.map((one) => one.pageviews),
      series: traffic_series.map((one) => one.pageviews),
      before: previous && { events: previous.events, sessions: previous.sessions, bounce_rate: previous.bounce_rate },
    }
  }
  return { asked, add, take, figures }
}

test('a range that begins and ends a little later is counted from what is known of its hours, until more comes to them', async () => {
  const { asked, add, take, figures } = await watched()
  for (const [visitor, hours] of [3.4, 3.6, 8.2, 8.4, 9.5, 12.2].entries()) await add(hours, visitor + 1)
  await add(12.3, 7, { kind: 'conversion' })
  await add(12.6, 8, { kind: 'conversion' })
  await take()

  const first = await figures(8.1, 12.25)
  expect(first).toMatchObject({
    ...{ events: 4, sessions: 4, visitors: 4, conversions: 0, bounce_rate: 100, conversionsOfSources: 0 },
    ...{ begun: [4], pageviews: [4], before: { events: 0, sessions: 0, bounce_rate: 0 } },
  })
  // The range before begins at 3.95 hours, and then at 3.5.
  const second = await figures(8.3, 12.5)
  expect(second).toMatchObject({ events: 4, sessions: 4, conversions: 1, bounce_rate: 75, conversionsOfSources: 1 })
  expect(second.before).toEqual({ events: 1, sessions: 1, bounce_rate: 100 })
  const third = await figures(8.0 + 1 / 7, 12 + 1 / 7)
  expect(third).toMatchObject({ events: 3, sessions: 3, begun: [3], pageviews: [3] })
  // Recent events, visitors of five minutes, and what waits; bots, clicks.
  const tables = asked.map((sql) => /FROM (\w+)/.exec(sql)?.[1]).sort()
  expect(tables).toEqual(['bot_visits', 'events', 'events', 'events', 'link_clicks'])

  // Late, in an hour that is known; at first it waits.
  await add(8.7, 9)
  const late = { events: 5, sessions: 5, begun: [5], pageviews: [5] }
  expect(await figures(8.1, 12.25)).toMatchObject(late)
  await take()
  expect(await figures(8.1, 12.25)).toMatchObject(late)
  expect(await figures(8.75, 12.25)).toMatchObject({ events: 2, sessions: 2, begun: [2] })
})

test('nor is a day asked for again that begins inside an hour', async () => {
  const { asked, add, take, figures } = await watched({ timezone: 'Asia/Kolkata' })
  // Half past six in the evening is midnight there.
  for (const [visitor, hours] of [-29.9, -29.2, -5.7, -5.4, 3.4].entries()) await add(hours, visitor + 1)
  await take()
  // Days that are over are closed.
  await mergeAll(workOn(stores))
  // Days are buckets from 72 hours on.
  expect(await figures(-77.9, 3.5)).toMatchObject({ events: 5, series: [0, 0, 1, 2, 2] })
  expect(await figures(-77.8, 3.45)).toMatchObject({ events: 5, series: [0, 0, 1, 2, 2] })
  expect(asked).toHaveLength(5)
  await add(-5.6, 9)
  expect(await figures(-77.8, 3.45)).toMatchObject({ events: 6, series: [0, 0, 1, 3, 2] })
  await take()
  expect(await figures(-77.85, 3.45)).toMatchObject({ events: 6, series: [0, 0, 1, 3, 2] })
})

test('sessions of an hour that a day or an hour begins inside of are counted where the aggregates are not to be asked for them', async () => {
  // A day before the second hour is the first readable moment; half past eight is a full hour there.
  const { add, take, figures } = await watched({ timezone: 'Asia/Kolkata', now: at(20.5), retentionDays: 1 })
  await add(20.2, 1)
  await take()
  expect(await figures(20, 23)).toMatchObject({ events: 1, sessions: 1, begun: [1], bounce_rate: 100 })
})

test('hours to which rows have just come are read whole when a part of them is asked for the second time', async () => {
  const { asked, add, take, figures } = await watched({ now: Date.now() })
  // Not near a full hour.
  const present = Math.floor((Date.now() - midnight) / hour) + 0.5
  for (const [visitor, ago] of [5, 4, 3].entries()) await add(present - ago, visitor + 1)
  await take()
  const statements = async (start: number, end: number, expected: number) => {
    expect(await figures(present - start, present - end)).toMatchObject({ events: expected, sessions: expected })
    return {
      parts: asked.filter((sql) => sql.includes('edge_from_0')).length,
      hours: asked.filter((sql) => sql.includes('hour_from_0')).length,
    }
  }
  const unit = 1 / 3600
  const parts = { parts: 1, hours: 0 }
  expect(await statements(5 + unit, 3 - unit, 3)).toEqual(parts)
  const { parts: left, hours } = await statements(5 - unit, 3 - unit, 2)
  expect(left).toBe(0)
  // That of the range's begin, and of the one before: nothing lies behind its end.
  expect(hours).toBe(2)
  expect(await statements(5 + unit, 3 - 2 * unit, 3)).toEqual({ parts: 0, hours: 0 })

  await add(present - 4.5, 7)
  await take()
  expect(await statements(5 + unit, 3 - unit, 4)).toEqual(parts)
})

test('of an hour with too many rows to be remembered each figure is counted by a statement', async () => {
  const { asked, add, take, figures } = await watched({ lists: edgeHourRowsMax + 1 })
  for (const [visitor, hours] of [8.2, 8.4, 12.2].entries()) await add(hours, visitor + 1)
  await take()
  expect(await figures(8.3, 12.25)).toMatchObject({ events: 2, sessions: 2, begun: [2], pageviews: [2] })
  expect(await figures(8.1, 12.1)).toMatchObject({ events: 2, sessions: 2, begun: [2], pageviews: [2] })
  expect(asked.filter((sql) => sql.includes('edges_from_0')).length).toBeGreaterThan(3)
})
