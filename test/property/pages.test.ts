/**
 * Every figure of the page report equals a naive computation over the raw events. Where the overview has the same ones,
 * overview.test.ts holds them against the same computation. `SEED=n` and `RUNS=n` as elsewhere.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRow } from '../../schemas/event/row.ts'
import { cellKeysMax } from '../../schemas/limits/figure-limits.ts'
import { type PageReport, pageSorts, sortOrders } from '../../schemas/resources/page-report.ts'
import { inSpan, ofKind, perCent, twoDecimals } from '../oracle/counters.ts'
import { groupBy, kind, pairOf } from '../oracle/facts.ts'
import { filterFacts } from '../oracle/filters.ts'
import { byText, topPages } from '../oracle/lists.ts'
import { localDay } from '../oracle/local-time.ts'
import type { Span } from '../oracle/range.ts'
import { allCounted, pageSessionNames, sessionsOf, startingIn } from '../oracle/sessions.ts'
import type { EventLike } from '../support/event-rows.ts'
import { closeDaysAt } from '../support/fold.ts'
import {
  drawCases,
  now,
  type PlacedSite,
  placeSites,
  queryOf,
  runs,
  setUpSites,
  sites,
  someFilters,
  someRanges,
} from './step-cases.ts'

const { stores, ask, expectRefused } = setUpSites()

const details = fc.record({
  title: fc.constantFrom('', 'A', '<b>B</b>'),
  engagement_ms: fc.constantFrom(0, 1, 5, 12_345, 2 ** 32 - 1),
  scroll_depth: fc.constantFrom(0, 0, 1, 33, 100),
  isLeave: fc.boolean(),
})
const pathFilters = fc.constantFrom<Record<string, string[]>[]>({ path: ['/p/*'] }, { path: ['!/a'] }, { path: ['/*'] })
const cases = fc.record({
  site: fc.tuple(sites, fc.array(details, { minLength: 80, maxLength: 80 })).map(([site, all]) => ({
    ...site,
    events: site.events.map((event, at): EventLike => {
      const { isLeave, engagement_ms, scroll_depth, title } = all[at]!
      const { event_name: _, ...plain } = event
      if (isLeave || event.kind === 'page_leave') return { ...plain, kind: 'page_leave', engagement_ms, scroll_depth }
      return { ...event, title }
    }),
  })),
  range: someRanges,
  filters: fc.oneof({ weight: 3, arbitrary: someFilters }, pathFilters),
  sort: fc.constantFrom(...pageSorts),
  order: fc.constantFrom(...sortOrders),
})

function expectedRows({ rows, timezone }: PlacedSite, filters: Record<string, string[]>, span: Span) {
  const filtered = Object.keys(filters).length > 0 ? filterFacts({ events: rows }, filters, timezone) : undefined
  const [whole, counted] = [filtered?.events ?? rows, filtered ?? allCounted]
  const events = inSpan(whole, span)
  const starting = startingIn(sessionsOf(whole, timezone, counted), span)
  const names = pageSessionNames(ofKind(whole, kind.pageview), timezone)
  const pages = topPages(events, ofKind(inSpan(rows, span), kind.pageview), starting, names, counted)
  return pages.map((page) => {
    const [entries, exits] = (['entryPath', 'exitPath'] as const).map(
      (side) => starting.filter((session) => session[side] === page.path).length,
    )
    const bounces = starting.filter(({ entryPath, isBounce }) => entryPath === page.path && isBounce).length
    const ofPage = events.filter((event) => event.path === page.path && pairOf(event) !== '')
    const [engagedMs, views, depths] = attentionOf(ofPage, timezone)
    return {
      row: {
        ...page,
        entries: entries!,
        exits: exits!,
        revenue_cents: 0,
        exit_rate: Math.min(100, perCent(exits!, page.sessions)),
        time_on_page_seconds: views === 0 ? null : twoDecimals(engagedMs, views * 1000),
        scroll_depth: depths.length === 0 ? null : twoDecimals(sumOf(depths), depths.length),
      },
      exact: {
        time_on_page_seconds: views === 0 ? undefined : engagedMs / views,
        scroll_depth: depths.length === 0 ? undefined : sumOf(depths) / depths.length,
        exit_rate: page.sessions === 0 ? 0 : Math.min(1, exits! / page.sessions),
        bounce_rate: entries === 0 ? 0 : bounces / entries!,
      },
    }
  })
}

/** @param events a page's, each with a visitor */
function attentionOf(
  events: readonly EventRow[],
  timezone: string,
): [engagedMs: number, views: number, depths: number[]] {
  const pairOfDay = (event: EventRow) => `${pairOf(event)} ${localDay(timezone, event.occurred_at)}`
  const left = [...groupBy(events, pairOfDay).values()]
    .map((all) => ({ views: ofKind(all, kind.pageview).length, leaves: ofKind(all, kind.pageLeave) }))
    .filter(({ views, leaves }) => views > 0 && leaves.length > 0)
  return [
    sumOf(left.flatMap(({ leaves }) => leaves.map(({ engagement_ms }) => engagement_ms))),
    sumOf(left.map(({ views }) => views)),
    left.map(({ leaves }) => Math.max(...leaves.map(({ scroll_depth }) => scroll_depth))).filter((depth) => depth > 0),
  ]
}
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0)

test('every figure equals a naive computation over the raw events', async () => {
  // Late events make some cells stale.
  const all = await drawCases(stores, cases, () => closeDaysAt(stores, now))
  let [listed, timed, scrolled] = [0, 0, 0]
  const middle = all.length >> 1
  for (const [at, { placed, tell, range, filters, sort, order }] of all.entries()) {
    if (at === middle) await closeDaysAt(stores, now)
    const question = `pages?${queryOf({ ...range, ...filters })}&sort=${sort}&order=${order}&limit=1000`
    const answer = await ask<PageReport>(question, placed.apiKey)
    const span = { start: Date.parse(answer.range.start), end: Date.parse(answer.range.end) }
    const unknown = order === 'desc' ? -1 : Number.MAX_VALUE
    const measureOf = ({ row, exact }: ReturnType<typeof expectedRows>[number]) =>
      sort in exact ? (exact[sort as keyof typeof exact] ?? unknown) : row[sort]!
    const sign = order === 'desc' ? 1 : -1
    const expected = expectedRows(placed, filters, span).sort(
      (a, b) =>
        sign * (measureOf(b) - measureOf(a)) || b.row.pageviews - a.row.pageviews || byText(a.row.path, b.row.path),
    )
    expect(answer.rows, tell(question)).toEqual(expected.map(({ row }) => row))
    listed += answer.rows.length
    timed += answer.rows.filter((row) => row.time_on_page_seconds !== null).length
    scrolled += answer.rows.filter((row) => row.scroll_depth !== null).length
  }
  expect([listed > runs, timed > runs / 4, scrolled > runs / 8]).toEqual([true, true, true])
})

test('a page that is seen twice counts with both views, and a page without a leave has no time', async () => {
  const event = (path: string, seconds: number, more: EventLike = {}): EventLike => ({
    visitor: 1,
    session: 1,
    path,
    occurred_at: now - 600_000 + seconds * 1000,
    ...more,
  })
  const leave = (path: string, seconds: number, engagement_ms: number, scroll_depth: number) =>
    event(path, seconds, { kind: 'page_leave', engagement_ms, scroll_depth })
  const [{ apiKey }] = (await placeSites(stores, [
    {
      timezone: 'UTC',
      events: [
        event('/a', 0),
        leave('/a', 10, 10_000, 20),
        // Hidden once more, further down.
        leave('/a', 20, 2_000, 60),
        event('/b', 20),
        event('/a', 30),
        leave('/a', 40, 3_000, 40),
      ],
    },
  ])) as [PlacedSite]
  const counts = { visitors: 1, sessions: 1, bounce_rate: 0, title: '', conversions: 0, revenue_cents: 0 }
  const expected = [
    {
      ...counts,
      path: '/a',
      pageviews: 2,
      entries: 1,
      exits: 1,
      exit_rate: 100,
      time_on_page_seconds: 7.5,
      scroll_depth: 60,
    },
    {
      ...counts,
      path: '/b',
      pageviews: 1,
      entries: 0,
      exits: 0,
      exit_rate: 0,
      time_on_page_seconds: null,
      scroll_depth: null,
    },
  ]
  // A whole day, and a part of one.
  for (const range of ['days=1', 'hours=1']) {
    const { rows } = await ask<PageReport>(`pages?${range}&sort=exits`, apiKey)
    expect([range, rows]).toEqual([range, expected])
  }
  expect(await ask<PageReport>('pages?days=1&limit=1', apiKey)).toMatchObject({
    sort: 'pageviews',
    order: 'desc',
    rows: [{ path: '/a' }],
  })
})

test('a page that the cells of its day lack is listed all the same', async () => {
  const often = Array.from({ length: cellKeysMax }, (_, at) => `/often/${at}`)
  const views = ['/rare', ...often, ...often].map(
    (path, at): EventLike => ({
      visitor: 1 + (at % 5),
      session: 1,
      path,
      title: path,
      occurred_at: now - 2 * 86_400_000,
    }),
  )
  const [{ apiKey }] = (await placeSites(stores, [{ timezone: 'UTC', events: views }])) as [PlacedSite]
  await closeDaysAt(stores, now)
  const { rows } = await ask<PageReport>('pages?days=7&order=asc&limit=1', apiKey)
  expect(rows.map(({ path, title, pageviews }) => [path, title, pageviews])).toEqual([['/rare', '/rare', 1]])
  const many = (await ask<PageReport>('pages?days=7&limit=300', apiKey)).rows
  expect(many.map(({ title }) => title)).toEqual(many.map(({ path }) => path))
})

test.each([
  ['sort=scroll', "Input should be 'pageviews', 'visitors', 'sessions'"],
  ['order=up', "Input should be 'desc' or 'asc'"],
])('%s is refused: %s', (query, text) => expectRefused(`pages?${query}`, text))
