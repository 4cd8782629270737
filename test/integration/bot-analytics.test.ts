import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BotReport, readBotReport } from '../../clickhouse/queries/bot-visits.ts'
import type { Reader } from '../../clickhouse/queries/reader.ts'
import { botCategories, botReporters, botVerified } from '../../schemas/event/row.ts'
import type { BotAnalytics } from '../../schemas/resources/bot-analytics.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { type BotVisitLike, insertBotVisitRows, makeBotVisitRow } from '../support/event-rows.ts'

const { stores, api, mine } = setUpApi()

const day = 86_400_000
const hour = 3_600_000
async function add(visits: readonly BotVisitLike[], workspaceId = mine.workspaceId) {
  await insertBotVisitRows(
    stores.ch,
    visits.map((visit) => makeBotVisitRow({ workspace_id: workspaceId, ...visit })),
  )
}
async function ask(query = '', key = mine.apiKey): Promise<BotAnalytics> {
  const response = await api.ask(`/v1/analytics/bots${query}`, { key })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  return JSON.parse(text) as BotAnalytics
}
async function botVisitsOfOverview(query: string): Promise<number> {
  const response = await api.ask(`/v1/analytics/overview${query}&include=metrics`, { key: mine.apiKey })
  return ((await response.json()) as { metrics: { bot_visits: number } }).metrics.bot_visits
}

test('a workspace that no crawler visited has zeros, every category and every bucket', async () => {
  const { totals, series, bots, pages } = await ask('?start=2026-11-01&end=2026-11-03')
  expect(totals).toEqual({
    visits: 0,
    verified_visits: 0,
    spoofed_visits: 0,
    bots: 0,
    pages: 0,
    categories: Object.fromEntries(Object.keys(botCategories).map((category) => [category, 0])),
    range: { start: '2026-11-01T00:00:00.000Z', end: '2026-11-04T00:00:00.000Z', timezone: 'UTC', bucket: 'hour' },
    previous: { visits: 0, verified_visits: 0, spoofed_visits: 0 },
  })
  expect(series).toHaveLength(72)
  expect(series[0]).toEqual({
    label: '2026-11-01 00:00',
    start: '2026-11-01T00:00:00.000Z',
    end: '2026-11-01T01:00:00.000Z',
    ...{ visits: 0, verified_visits: 0, spoofed_visits: 0, categories: {} },
  })
  expect({ bots, pages }).toEqual({ bots: [], pages: [] })
})

test('bots stand apart by whether they are who they say, and pages by their paths', async () => {
  const now = Date.now()
  const googlebot = { bot_name: 'Googlebot', operator: 'Google', category: botCategories.search }
  const gptbot = { bot_name: 'GPTBot', operator: 'OpenAI', category: botCategories.ai_training }
  const newest = now - hour
  await add([
    { ...googlebot, verified: botVerified.yes, path: '/a', occurred_at: newest },
    { ...googlebot, verified: botVerified.yes, path: '/a', occurred_at: newest - 1 },
    { ...googlebot, verified: botVerified.yes, path: '/b', occurred_at: newest - 2 },
    { ...googlebot, verified: botVerified.no, path: '/wp-login.php', occurred_at: newest - 3 },
    { ...gptbot, verified: botVerified.unknown, path: '/a', occurred_at: newest - 4 },
    { ...gptbot, verified: botVerified.unknown, path: '/a', occurred_at: newest - 5 },
  ])
  const { totals, series, bots, pages } = await ask('?hours=24')
  const at = (moment: number) => new Date(moment).toISOString()
  expect(bots).toEqual([
    {
      name: 'Googlebot',
      operator: 'Google',
      category: 'search',
      verified: true,
      visits: 3,
      pages: 2,
      last_seen_at: at(newest),
    },
    {
      name: 'GPTBot',
      operator: 'OpenAI',
      category: 'ai_training',
      verified: null,
      visits: 2,
      pages: 1,
      last_seen_at: at(newest - 4),
    },
    {
      name: 'Googlebot',
      operator: 'Google',
      category: 'search',
      verified: false,
      visits: 1,
      pages: 1,
      last_seen_at: at(newest - 3),
    },
  ])
  expect(pages).toEqual([
    { path: '/a', visits: 4, last_seen_at: at(newest) },
    { path: '/b', visits: 1, last_seen_at: at(newest - 2) },
    { path: '/wp-login.php', visits: 1, last_seen_at: at(newest - 3) },
  ])
  expect(totals).toMatchObject({ visits: 6, verified_visits: 3, spoofed_visits: 1, bots: 2, pages: 3 })
  expect(totals.categories).toMatchObject({ search: 4, ai_training: 2, other: 0 })
  const full = series.filter(({ visits }) => visits > 0)
  expect(full).toEqual([expect.objectContaining({ visits: 6, categories: { search: 4, ai_training: 2 } })])
  expect((await ask('?hours=24&limit=1')).bots).toHaveLength(1)
  expect((await ask('?hours=24&limit=1')).totals).toMatchObject({ visits: 6, bots: 2 })
})

test('the range, the period before it and another workspace’s visits are kept apart, as in the overview', async () => {
  const now = Date.now()
  const other = await makeWorkspace(stores)
  await add([{ occurred_at: now - hour }, { occurred_at: now - 25 * hour }, { occurred_at: now - 26 * hour }])
  await add([{ occurred_at: now - hour }], other.workspaceId)
  const { totals } = await ask('?hours=24')
  expect([totals.visits, totals.previous?.visits]).toEqual([1, 2])
  expect((await ask('?hours=48')).totals.visits).toBe(3)
  expect(await botVisitsOfOverview('?hours=24')).toBe(1)
  expect(await botVisitsOfOverview('?hours=48')).toBe(3)
})

test.each(['starter', 'scale'] as const)('visits are readable for 180 days, whatever the plan: %s', async (plan) => {
  Object.assign(mine, await makeWorkspace(stores, { plan }))
  const now = Date.now()
  await add([{ occurred_at: now - 179 * day }, { occurred_at: now - 181 * day }])
  const { totals, series } = await ask('?days=365')
  expect([totals.visits, totals.previous]).toEqual([1, null])
  expect(series.reduce((sum, { visits }) => sum + visits, 0)).toBe(1)
  expect((await ask('?days=60')).totals.previous).toEqual({ visits: 0, verified_visits: 0, spoofed_visits: 0 })
})

test.each([
  ['?days=0', 'days'],
  ['?hours=745', 'hours'],
  ['?limit=0', 'limit'],
  ['?limit=1001', 'limit'],
  ['?start=x', 'start'],
  ['?start=2026-11-02&end=2026-11-01', 'start'],
])('a range that can’t be is refused: %s', async (query, name) => {
  const response = await api.ask(`/v1/analytics/bots${query}`, { key: mine.apiKey })
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ detail: [{ loc: ['query', name] }] })
})

describe('every figure', () => {
  test('is that of a plain count of the rows, in any timezone', async () => {
    const end = Date.UTC(2026, 10, 20)
    const visit = fc.record({
      bot_name: fc.constantFrom('Googlebot', 'GPTBot', 'curl', 'é', ''),
      operator: fc.constantFrom('', 'Google'),
      category: fc.integer({ min: 1, max: 11 }),
      reported_by: fc.constantFrom(...Object.values(botReporters)),
      verified: fc.constantFrom(0, 1, 255),
      path: fc.constantFrom('/', '/a', '/b', '/é', ''),
      occurred_at: fc.integer({ min: end - 12 * day, max: end + day }),
    })
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia')
    await fc.assert(
      fc.asyncProperty(
        fc.array(visit, { maxLength: 60 }),
        zones,
        fc.integer({ min: 1, max: 10 }),
        async (told, timezone, days) => {
          Object.assign(mine, await makeWorkspace(stores, { timezone }))
          if (told.length > 0) await add(told)
          // What a crawler's script sent beside a page view is no visit.
          const visits = told.filter(({ reported_by }) => reported_by !== botReporters.track_event)
          const start = end - days * day
          const range = `?start=${new Date(start).toISOString()}&end=${new Date(end).toISOString()}`
          const { totals, series, bots, pages } = await ask(range)
          const inRange = visits.filter(({ occurred_at: at }) => at >= start && at < end)
          const countOf = <Row>(rows: readonly Row[], is: (row: Row) => boolean) => rows.filter(is).length
          expect(totals).toMatchObject({
            visits: inRange.length,
            verified_visits: countOf(inRange, ({ verified }) => verified === 1),
            spoofed_visits: countOf(inRange, ({ verified }) => verified === 0),
            bots: new Set(inRange.map(({ bot_name }) => bot_name)).size,
            pages: new Set(inRange.map(({ path }) => path)).size,
            previous: { visits: countOf(visits, ({ occurred_at: at }) => at >= start - days * day && at < start) },
          })
          for (const point of series) {
            const [from, to] = [Date.parse(point.start), Date.parse(point.end)]
            const own = inRange.filter(({ occurred_at: at }) => at >= from && at < to)
            expect(point).toMatchObject({ visits: own.length })
            const categories = Object.entries(botCategories).map(
              ([name, id]) => [name, countOf(own, ({ category }) => category === id)] as const,
            )
            expect(point.categories).toEqual(Object.fromEntries(categories.filter(([, count]) => count > 0)))
          }
          expect(await botVisitsOfOverview(range)).toBe(inRange.length)
          expect(bots.reduce((sum, { visits: count }) => sum + count, 0)).toBe(inRange.length)
          for (const bot of bots) {
            const state = bot.verified === null ? 255 : Number(bot.verified)
            const own = inRange.filter(
              (row) =>
                row.bot_name === bot.name &&
                row.operator === bot.operator &&
                row.category === botCategories[bot.category as keyof typeof botCategories] &&
                row.verified === state,
            )
            expect(bot).toMatchObject({
              visits: own.length,
              pages: new Set(own.map(({ path }) => path)).size,
              last_seen_at: new Date(Math.max(...own.map(({ occurred_at: at }) => at))).toISOString(),
            })
          }
          for (const page of pages) {
            const own = inRange.filter(({ path }) => path === page.path)
            expect(page).toMatchObject({
              visits: own.length,
              last_seen_at: new Date(Math.max(...own.map(({ occurred_at: at }) => at))).toISOString(),
            })
          }
          expect(pages.map(({ path }) => path).sort()).toEqual([...new Set(inRange.map(({ path }) => path))].sort())
        },
      ),
      { numRuns: 50 },
    )
  })
})

test('of many visits the sums are read that the table keeps of them, and say the same as the rows', async () => {
  const end = Date.UTC(2026, 10, 20)
  const { workspaceId } = mine
  await stores.ch.command(
    `INSERT INTO bot_visits (id, workspace_id, occurred_at, received_at, category, verified, reported_by, path, bot_name, operator)
     SELECT number, {workspace:UInt32}, fromUnixTimestamp64Milli({end:Int64} - toInt64(cityHash64(number) % 259200000), 'UTC'), now(),
       CAST(1 + number % 5 AS Int8), [0, 1, 255][1 + number % 3], CAST(1 + number % 3 AS Int8), concat('/', toString(cityHash64(number, 1) % 50)),
       concat('Bot', toString(number % 5)), 'Example'
     FROM numbers(100000)`,
    { workspace: workspaceId, end },
  )
  const plans: string[] = []
  const explained: Reader = {
    query: async (sql, params, options) => {
      plans.push(JSON.stringify(await stores.ch.query(`EXPLAIN ${sql}`, params)))
      return stores.ch.query(sql, params, options)
    },
  }
  const ofRows: Reader = {
    query: (sql, params, options) =>
      stores.ch.query(sql, params, { ...options, settings: { ...options?.settings, optimize_use_projections: 0 } }),
  }
  // Of the first, whole days and quarters alone; of the second, both ends are cut; the third lies within a quarter.
  for (const [from, to] of [
    [end - 2 * day, end],
    [end - 2.6 * day + 12_345, end - hour - 54_321],
    [end - day + 1, end - day + 100_000],
  ] as const) {
    const middle = Math.ceil((from + to) / 2 / hour) * hour
    const buckets =
      middle < to
        ? [
            { start: from, end: middle },
            { start: middle, end: to },
          ]
        : [{ start: from, end: to }]
    const read = (reader: Reader): Promise<BotReport> =>
      readBotReport(reader, { workspaceId, readableFrom: 0, start: from, end: to }, buckets, 100)
    const summed = await read(explained)
    expect(summed).toEqual(await read(ofRows))
    expect(summed.bots.length).toBeGreaterThan(5)
  }
  for (const sums of ['sums_of_bots', 'sums_of_pages', 'pages_of_bots']) expect(plans.join()).toContain(sums)
})
