/** Every figure of a page's flow equals a naive computation over the raw events. `SEED=n` and `RUNS=n` as elsewhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRow } from '../../schemas/event/row.ts'
import { pageFlowViewsOfSessionMax } from '../../schemas/limits/overview-limits.ts'
import type { PageFlow } from '../../schemas/resources/page-flow.ts'
import { inSpan, ofKind, perCent } from '../oracle/counters.ts'
import { byTime, countDistinct, day, groupBy, hour, kind, minute, pairOf, visitorOf } from '../oracle/facts.ts'
import { fits } from '../oracle/filters.ts'
import { makeKey } from '../support/api.ts'
import {
  chosenOf,
  drawCases,
  now,
  placeSites,
  queryOf,
  runs,
  setUpSites,
  sites,
  someFilters,
  someRanges,
} from './step-cases.ts'

const { stores, ask, expectRefused } = setUpSites()

/** Page views that are close to each other, over some midnights. */
const views = fc.array(
  fc.record({
    kind: fc.constant('pageview' as const),
    visitor: fc.constantFrom(1, 2),
    session: fc.constantFrom(1, 1, 2),
    path: fc.constantFrom('/', '/a', '/a', '/b', '/p/1', '/p/2'),
    occurred_at: fc
      .tuple(fc.constantFrom(0, 0, 1, 2, 3, 4), fc.constantFrom(0, 0, 1, 2, minute, hour, 9 * hour, 20 * hour))
      .map(([days, ms]) => Math.min(now - 2 * hour - days * day + ms, now - 1)),
    device: fc.constantFrom('desktop' as const, 'desktop' as const, 'mobile' as const),
  }),
  { minLength: 20, maxLength: 50 },
)
const cases = fc.record({
  site: fc.tuple(sites, views).map(([site, more]) => ({ ...site, events: [...site.events, ...more] })),
  page: fc.constantFrom('/', '/', '/a', '/a', '/b', '/p/1', '/p/*', '/*', '\\/a'),
  unwanted: fc.constantFrom([], [], [], ['!/b'], ['!/p/*', '!/b']),
  range: someRanges,
  filters: someFilters.map(({ path: _, ...filters }) => filters),
  limit: fc.constantFrom(1, 1, 2, 100),
})

/** A view, and the pages right before and after it in its session. */
interface Step {
  readonly view: EventRow
  readonly before: string | null
  readonly after: string | null
}

/** The views of one session but those that repeat the one before. */
function stepsOf(views: readonly EventRow[]): Step[] {
  const ordered = [...views].sort(byTime)
  const isNear = (one: EventRow, other: EventRow) => Math.abs(one.occurred_at - other.occurred_at) <= 48 * hour
  return ordered.flatMap((view, at): Step[] => {
    const prev = ordered[at - 1]
    const before = prev !== undefined && isNear(prev, view) ? prev.path : null
    if (before === view.path) return []
    const next = ordered.slice(at + 1).find(({ path }) => path !== view.path)
    return [{ view, before, after: next !== undefined && isNear(next, view) ? next.path : null }]
  })
}

/** Most views first, then the session's begin or end, then by path. */
function sideOf(pages: readonly (string | null)[], limit: number): PageFlow['before'] {
  const rows = [...groupBy(pages, (path) => path)]
    .map(([path, all]) => ({ path, views: all.length, share: perCent(all.length, pages.length) }))
    .sort((one, other) => other.views - one.views || ((one.path ?? '') < (other.path ?? '') ? -1 : 1))
  const shown = rows.slice(0, limit)
  return { rows: shown, other: pages.length - shown.reduce((sum, { views }) => sum + views, 0) }
}

test('every figure equals a naive computation over the raw events', async () => {
  const found = { before: 0, after: 0, repeats: 0, others: 0 }
  for (const { placed, tell, page, unwanted, range, filters, limit } of await drawCases(stores, cases)) {
    const { rows, apiKey } = placed
    const question = `flow?${queryOf({ ...range, ...filters, path: [page, ...unwanted], limit: String(limit) })}`
    const answer = await ask<PageFlow>(question, apiKey)
    const span = { start: Date.parse(answer.range.start), end: Date.parse(answer.range.end) }
    const choosing = { ...filters, ...(unwanted.length > 0 && { path: unwanted }) }
    const chosen = new Set(chosenOf(placed, choosing))
    const views = ofKind(rows, kind.pageview).filter((event) => visitorOf(event) !== '')
    const counted = new Set(inSpan(views, span).filter((view) => chosen.has(view) && fits(page, view.path)))
    const steps = [...groupBy(views, pairOf).values()].flatMap(stepsOf).filter(({ view }) => counted.has(view))
    const befores = steps.map(({ before }) => before)
    const afters = steps.map(({ after }) => after)
    const expected: Omit<PageFlow, 'range' | 'as_of' | 'readable_from'> = {
      path: page,
      pageviews: counted.size,
      views: steps.length,
      visitors: countDistinct([...counted].map(visitorOf)),
      sessions: countDistinct([...counted].map(pairOf)),
      before: sideOf(befores, limit),
      after: sideOf(afters, limit),
    }
    const { range: _, as_of, readable_from, ...figures } = answer
    expect(figures, tell(question)).toEqual(expected)
    found.before += befores.filter((path) => path !== null).length
    found.after += afters.filter((path) => path !== null).length
    found.repeats += counted.size - steps.length
    found.others += expected.before.other
  }
  // Where nothing is found nothing is held.
  for (const [name, times] of Object.entries(found)) expect([name, times > runs / 4]).toEqual([name, true])
})

/** Page views of one session. */
const viewsOf = (paths: readonly (readonly [path: string, ms: number])[]) =>
  paths.map(([path, occurred_at]) => ({ kind: 'pageview' as const, path, visitor: 1, session: 1, occurred_at }))

test('a session goes on over midnight and beyond the range; what is no longer readable is not looked at', async () => {
  const midnight = Date.parse('2026-11-19T00:00:00Z')
  const around = viewsOf([
    ['/a', midnight - minute] as const,
    ['/x', midnight - 1] as const,
    ['/x', midnight] as const,
    ['/x', midnight + 1] as const,
    ['/b', midnight + day] as const,
  ])
  const [placed] = await placeSites(stores, [{ timezone: 'UTC', events: around }])
  const flow = ({ pageviews, views, before, after }: PageFlow) => [pageviews, views, before.rows, after.rows]
  const one = (path: string | null) => [{ path, views: 1, share: 100 }]
  const { apiKey, workspaceId } = placed!
  expect(flow(await ask('flow?path=/x&start=2026-11-18&end=2026-11-18', apiKey))).toEqual([1, 1, one('/a'), one('/b')])
  // Reloads of the day before's view.
  expect(flow(await ask('flow?path=/x&start=2026-11-19&end=2026-11-19', apiKey))).toEqual([2, 0, [], []])
  await stores.pg.query('UPDATE workspaces SET retention_days = 2 WHERE id = $1', [workspaceId])
  // The other key's workspace is known for a while.
  const another = await makeKey(stores, workspaceId)
  const later = await ask<PageFlow>('flow?path=/x&start=2026-11-18&end=2026-11-19', another.apiKey)
  expect(later.readable_from).toBe('2026-11-19T00:00:00.000Z')
  expect(flow(later)).toEqual([2, 1, one(null), one('/b')])
  expect(Date.parse(later.as_of)).toBeGreaterThan(0)
})

test('a session’s first 2,000 page views are gone through, and all are counted', async () => {
  const views = Array.from(
    { length: pageFlowViewsOfSessionMax },
    (_, at) => [at % 2 ? '/a' : '/b', now - hour + at] as const,
  )
  const last = ['/c', now - hour + pageFlowViewsOfSessionMax] as const
  const placed = await placeSites(stores, [
    { timezone: 'UTC', events: viewsOf([...views, last]) },
    { timezone: 'UTC', events: viewsOf([...views.slice(1), last]) },
  ])
  const answers = await Promise.all(placed.map(({ apiKey }) => ask<PageFlow>('flow?days=1&path=/c', apiKey)))
  expect(answers.map((answer) => [answer.pageviews, answer.visitors, answer.views])).toEqual([
    [1, 1, 0],
    [1, 1, 1],
  ])
})

test.each([
  ['', 'Field required'],
  ['path=!/a', 'there is one page; others begin with !'],
  ['path=/a&path=/b', 'there is one page; others begin with !'],
  [`path=${'*a'.repeat(11)}`, 'at most 10 wildcards'],
  [Array(21).fill('path=/a').join('&'), 'at most 20 items'],
  [`path=/${'a'.repeat(2048)}`, 'at most 2048 characters'],
])('%s is refused: %s', (query, text) => expectRefused(`flow?${query}`, text))
