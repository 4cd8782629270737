import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BotReport, readBotReport } from '../../clickhouse/queries/bot-visits.ts'
import type { Reader } from '../../clickhouse/queries/reader.ts'
import { makeMissingBuilds } from '../../postgres/tables/figures/figure-builds.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { botCategories, botReporters } from '../../schemas/event/row.ts'
import type { BotAnalytics } from '../../schemas/resources/bot-analytics.ts'
import type { OverviewMetrics } from '../../schemas/resources/overview.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { insertBotVisitRows, makeBotVisitRow } from '../support/event-rows.ts'
import { seed } from '../support/short-form.ts'

const now = Date.UTC(2026, 10, 20, 14)
const { stores, api, mine } = setUpApi({ hasYearlyParts: true, clock: fixedClock(now) })

type Drawn<A> = A extends fc.Arbitrary<infer Value> ? Value : never
const day = 86_400_000
const hour = 3_600_000
async function ask(query = '', key = mine.apiKey): Promise<BotAnalytics> {
  const response = await api.ask(`/v1/analytics/bots${query}`, { key })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  return JSON.parse(text) as BotAnalytics
}
async function overviewMetrics(
  query: string,
  key = mine.apiKey,
): Promise<Pick<OverviewMetrics, 'bot_visits' | 'range'>> {
  const response = await api.ask(`/v1/analytics/overview${query}&include=metrics`, { key })
  return ((await response.json()) as { metrics: OverviewMetrics }).metrics
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
    visits: 0,
    verified_visits: 0,
    spoofed_visits: 0,
    categories: {},
  })
  expect([bots, pages]).toEqual([[], []])
})

test.each(['starter', 'scale'] as const)('visits are readable for 180 days, whatever the plan: %s', async (plan) => {
  Object.assign(mine, await makeWorkspace(stores, { plan }))
  const at = [now - 179 * day, now - 181 * day]
  await insertBotVisitRows(
    stores.ch,
    at.map((occurred_at) => makeBotVisitRow({ workspace_id: mine.workspaceId, occurred_at })),
  )
  const { totals, series } = await ask('?days=365')
  expect([totals.visits, totals.previous]).toEqual([1, null])
  expect(series.reduce((sum, { visits }) => sum + visits, 0)).toBe(1)
  expect((await ask('?days=60')).totals.previous).toEqual({ visits: 0, verified_visits: 0, spoofed_visits: 0 })
})

test('days are those of the overview while figures are rebuilt for another timezone', async () => {
  await makeMissingBuilds(stores.pg, [mine.workspaceId])
  await stores.pg.query(`UPDATE workspaces SET timezone = 'Asia/Kolkata' WHERE id = $1`, [mine.workspaceId])
  const query = '?start=2026-11-01&end=2026-11-03'
  const { totals } = await ask(query)
  expect(totals.range).toMatchObject({ start: '2026-11-01T00:00:00.000Z', timezone: 'UTC' })
  expect((await overviewMetrics(query)).range).toEqual(totals.range)
})

test('every figure is that of a plain count of the workspace’s own rows, in any timezone', async () => {
  const end = Date.UTC(2026, 10, 20)
  // On few days: each is a part of the table for each case.
  const onDay = fc.tuple(fc.constantFrom(-1, 0, 1, 3, 7, 9), fc.integer({ min: 0, max: day - 1 }))
  const visit = fc.record({
    bot_name: fc.constantFrom('Googlebot', 'GPTBot', 'curl', 'é', ''),
    operator: fc.constantFrom('', 'Google'),
    category: fc.integer({ min: 1, max: 11 }),
    reported_by: fc.constantFrom(...Object.values(botReporters)),
    verified: fc.constantFrom(0, 1, 255),
    path: fc.constantFrom('/', '/a', '/b', '/é', ''),
    occurred_at: onDay.map(([days, ms]) => end - days * day - ms),
  })
  const drawn = fc.record({
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia'),
    told: fc.array(visit, { maxLength: 60 }),
    days: fc.integer({ min: 1, max: 10 }),
  })
  const place = async (one: Drawn<typeof drawn>) => ({ ...one, ...(await makeWorkspace(stores, one)) })
  const cases = await Promise.all(fc.sample(drawn, { seed, numRuns: 50 }).map(place))
  const rows = cases.flatMap(({ told, workspaceId }) => told.map((one) => ({ ...one, workspace_id: workspaceId })))
  await insertBotVisitRows(stores.ch, rows.map(makeBotVisitRow))
  const judge = async ({ told, days, apiKey }: (typeof cases)[number]) => {
    // Events that a crawler's script sent beside a page view are no visits.
    const visits = told.filter(({ reported_by }) => reported_by !== botReporters.track_event)
    const start = end - days * day
    const range = `?start=${new Date(start).toISOString()}&end=${new Date(end).toISOString()}`
    const { totals, series, bots, pages } = await ask(range, apiKey)
    const inRange = visits.filter(({ occurred_at: at }) => at >= start && at < end)
    type Visit = (typeof visits)[number]
    const countOf = (rows: readonly Visit[], is: (row: Visit) => boolean) => rows.filter(is).length
    const categoriesOf = (rows: readonly Visit[]) =>
      Object.entries(botCategories).map(
        ([name, id]) => [name, countOf(rows, ({ category }) => category === id)] as const,
      )
    const lastOf = (rows: readonly Visit[]) =>
      new Date(Math.max(...rows.map(({ occurred_at: at }) => at))).toISOString()
    const pagesOf = (rows: readonly Visit[]) => new Set(rows.map(({ path }) => path)).size
    expect(totals).toMatchObject({
      visits: inRange.length,
      verified_visits: countOf(inRange, ({ verified }) => verified === 1),
      spoofed_visits: countOf(inRange, ({ verified }) => verified === 0),
      bots: new Set(inRange.map(({ bot_name }) => bot_name)).size,
      pages: pagesOf(inRange),
      categories: Object.fromEntries(categoriesOf(inRange)),
      previous: { visits: countOf(visits, ({ occurred_at: at }) => at >= start - days * day && at < start) },
    })
    for (const point of series) {
      const [from, to] = [Date.parse(point.start), Date.parse(point.end)]
      const own = inRange.filter(({ occurred_at: at }) => at >= from && at < to)
      const categories = Object.fromEntries(categoriesOf(own).filter(([, count]) => count > 0))
      expect([point.visits, point.categories]).toEqual([own.length, categories])
    }
    expect(bots.reduce((sum, { visits: count }) => sum + count, 0)).toBe(inRange.length)
    for (const bot of bots) {
      const state = bot.verified === null ? 255 : Number(bot.verified)
      const id = botCategories[bot.category as keyof typeof botCategories]
      const own = inRange.filter(
        ({ bot_name, operator, category, verified }) =>
          bot_name === bot.name && operator === bot.operator && category === id && verified === state,
      )
      expect(bot).toMatchObject({ visits: own.length, pages: pagesOf(own), last_seen_at: lastOf(own) })
    }
    for (const page of pages) {
      const own = inRange.filter(({ path }) => path === page.path)
      expect(page).toEqual({ path: page.path, visits: own.length, last_seen_at: lastOf(own) })
    }
    expect(pages.map(({ path }) => path).sort()).toEqual([...new Set(inRange.map(({ path }) => path))].sort())
    // The most frequent ones come first, and a limit cuts the lists alone.
    for (const list of [bots, pages].map((rows) => rows.map(({ visits: count }) => count))) {
      expect(list).toEqual(list.toSorted((one, other) => other - one))
    }
    // Not of every case: each takes another statement or two.
    if (days > 2) return
    const cut = await ask(`${range}&limit=1`, apiKey)
    expect(cut).toEqual({ ...cut, totals, bots: bots.slice(0, 1), pages: pages.slice(0, 1) })
    expect((await overviewMetrics(range, apiKey)).bot_visits).toBe(inRange.length)
  }
  const tell = (one: (typeof cases)[number]) => (cause: unknown) => {
    throw new Error(`SEED=${seed}: ${JSON.stringify(one)}`, { cause })
  }
  for (let at = 0; at < cases.length; at += 5)
    await Promise.all(cases.slice(at, at + 5).map((one) => judge(one).catch(tell(one))))
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
  // The first range has whole days and quarters alone; the second has both ends cut; the third lies within a quarter.
  for (const [from, to] of [
    [end - 2 * day, end],
    [end - 2.6 * day + 12_345, end - hour - 54_321],
    [end - day + 1, end - day + 100_000],
  ] as const) {
    const middle = Math.ceil((from + to) / 2 / hour) * hour
    const edges = middle < to ? [from, middle, to] : [from, to]
    const buckets = edges.slice(1).map((edge, at) => ({ start: edges[at]!, end: edge }))
    const read = (reader: Reader): Promise<BotReport> =>
      readBotReport(reader, { workspaceId, readableFrom: 0, start: from, end: to }, buckets, 100)
    const summed = await read(explained)
    expect(summed).toEqual(await read(ofRows))
    expect(summed.bots.length).toBeGreaterThan(5)
  }
  for (const sums of ['sums_of_bots', 'sums_of_pages', 'pages_of_bots']) expect(plans.join()).toContain(sums)
})
