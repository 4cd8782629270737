/** Every figure of a funnel equals a naive computation over the raw events. `SEED=n` repeats a run, `RUNS=n` says how many cases. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRow } from '../../schemas/event/row.ts'
import { funnelEventsOfVisitorMax } from '../../schemas/limits/overview-limits.ts'
import type { Funnel } from '../../schemas/resources/funnel.ts'
import { byTime, day, groupBy, hour, pairOf, visitorOf } from '../oracle/facts.ts'
import {
  chosenOf,
  drawCases,
  isOf,
  now,
  placeSites,
  queryOf,
  runs,
  setUpSites,
  sites,
  someFilters,
  someRanges,
  steps,
} from './step-cases.ts'

const { stores, ask, expectRefused } = setUpSites()

const cases = fc.record({
  site: sites,
  steps: fc.oneof(
    fc.array<string>(steps, { minLength: 2, maxLength: 4 }),
    // The same again and again, up to the most steps.
    fc.tuple(steps, fc.integer({ min: 2, max: 8 })).map(([one, times]) => Array<string>(times).fill(one)),
  ),
  within: fc.constantFrom('session', '1', '2', '7', '30'),
  range: someRanges,
  filters: someFilters,
})

/** One visitor's best try: the times of its steps. */
interface Try {
  readonly times: readonly number[]
  readonly last: EventRow
}

interface Question {
  readonly steps: readonly string[]
  readonly withinMs: number
  mayBegin(event: EventRow): boolean
}

/** From each first step on the next step is the first event of it after the step before. */
function triesOf(events: readonly EventRow[], { steps, withinMs, mayBegin }: Question): Try[] {
  const ordered = [...events].sort(byTime)
  return ordered.flatMap((first, begin): Try[] => {
    if (!isOf(steps[0]!, first) || !mayBegin(first)) return []
    const taken = [first]
    let at = begin
    for (const text of steps.slice(1)) {
      const next = ordered.findIndex((event, place) => place > at && isOf(text, event))
      if (next < 0 || ordered[next]!.occurred_at - first.occurred_at > withinMs) break
      taken.push(ordered[next]!)
      at = next
    }
    return [{ times: taken.map(({ occurred_at }) => occurred_at), last: taken.at(-1)! }]
  })
}

/** Furthest, then there first, then begun last. */
function best(tries: readonly Try[]): Try | undefined {
  const order = (one: Try, other: Try) =>
    other.times.length - one.times.length || byTime(one.last, other.last) || other.times[0]! - one.times[0]!
  return [...tries].sort(order)[0]
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

test('every figure equals a naive computation over the raw events', async () => {
  const reached = new Map<number, number>()
  for (const { placed, tell, steps, within, range, filters } of await drawCases(stores, cases)) {
    const { rows, apiKey } = placed
    const asked = `funnel?${queryOf({ step: steps, within, ...range, ...filters })}`
    const answer = await ask<Funnel>(asked, apiKey)
    const [start, end] = [Date.parse(answer.range.start), Date.parse(answer.range.end)]
    const chosen = new Set(chosenOf(placed, filters))
    const isOfSession = within === 'session'
    const question: Question = {
      steps,
      withinMs: isOfSession ? 48 * hour : Number(within) * day,
      mayBegin: (event) => event.occurred_at >= start && event.occurred_at < end && chosen.has(event),
    }
    const people = groupBy(
      rows.filter((event) => visitorOf(event) !== ''),
      visitorOf,
    )
    const found = [...people.values()].flatMap((events) => {
      const apart = isOfSession ? [...groupBy(events, pairOf).values()] : [events]
      return best(apart.flatMap((some) => triesOf(some, question))) ?? []
    })
    const expected = steps.map((_, place) => {
      const there = found.filter(({ times }) => times.length > place)
      const seconds = there.map(({ times }) => (times[place]! - times[place - 1]!) / 1000)
      return [there.length, place === 0 || there.length === 0 ? null : Math.round(median(seconds) * 100) / 100]
    })
    const figures = answer.steps.map(({ visitors, median_seconds_from_previous }) => [
      visitors,
      median_seconds_from_previous,
    ])
    expect(figures, tell(asked)).toEqual(expected)
    const furthest = found.reduce((most, { times }) => Math.max(most, times.length), 0)
    reached.set(furthest, (reached.get(furthest) ?? 0) + 1)
  }
  // Where nobody gets anywhere nothing is held.
  const beyond = [...reached].filter(([depth]) => depth >= 2).reduce((sum, [, n]) => sum + n, 0)
  expect(beyond).toBeGreaterThan(runs / 4)
})

test('shares are of the first step and of the one before, and steps that nobody reached are there', async () => {
  const site = {
    timezone: 'UTC' as const,
    events: [1, 2, 3].map((visitor) => ({ visitor, session: 1, occurred_at: now - hour })),
  }
  const next = { visitor: 1, session: 1, path: '/a', occurred_at: now - hour + 1500 }
  const [placed] = await placeSites(stores, [{ ...site, events: [...site.events, next] }])
  const { apiKey } = placed!
  const { steps, within } = await ask<Funnel>('funnel?step=path:/&step=path:/a&step=event:signup&days=2', apiKey)
  expect(within).toBe('7')
  const none = { visitors: 0, share_of_first: 0, share_of_previous: 0 }
  expect(steps).toEqual([
    {
      kind: 'path',
      value: '/',
      visitors: 3,
      share_of_first: 100,
      share_of_previous: 100,
      dropped: 0,
      median_seconds_from_previous: null,
    },
    {
      kind: 'path',
      value: '/a',
      visitors: 1,
      share_of_first: 33.33,
      share_of_previous: 33.33,
      dropped: 2,
      median_seconds_from_previous: 1.5,
    },
    { kind: 'event', value: 'signup', ...none, dropped: 1, median_seconds_from_previous: null },
  ])
  const nobody = await ask<Funnel>('funnel?step=path:/x&step=path:/a', apiKey)
  expect(nobody.steps.map(({ visitors, share_of_previous }) => [visitors, share_of_previous])).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test.each([
  ['', 'Field required'],
  ['step=path:/', 'at least 2 items'],
  [Array(9).fill('step=path:/').join('&'), 'at most 8 items'],
  ['step=/a&step=path:/', 'a step is path: or event:'],
  ['step=path:&step=path:/', 'a step is path: or event:'],
  ['step=path:!/a&step=path:/', 'can not be negated'],
  [`step=path:${'*a'.repeat(11)}&step=path:/`, 'at most 10 wildcards'],
  ['step=path:/&step=path:/&within=31', 'String should match pattern'],
  ['step=path:/&step=path:/&within=0', 'String should match pattern'],
])('%s is refused: %s', (query, text) => expectRefused(`funnel?${query}`, text))

test('a visitor’s first 2,000 events of any step count', async () => {
  const views = Array.from({ length: funnelEventsOfVisitorMax }, (_, at) => ({ path: '/a', at }))
  const site = (paths: readonly { path: string; at: number }[]) => ({
    timezone: 'UTC' as const,
    events: paths.map(({ path, at }) => ({
      kind: 'pageview' as const,
      path,
      visitor: 1,
      session: 1,
      occurred_at: now - 60_000 + at,
    })),
  })
  const last = { path: '/b', at: funnelEventsOfVisitorMax }
  const placed = await placeSites(stores, [site([...views, last]), site([...views.slice(1), last])])
  const counts = await Promise.all(
    placed.map(async ({ apiKey }) =>
      (await ask<Funnel>('funnel?days=1&step=path:/a&step=path:/b', apiKey)).steps.map(({ visitors }) => visitors),
    ),
  )
  expect(counts).toEqual([
    [1, 0],
    [1, 1],
  ])
})
