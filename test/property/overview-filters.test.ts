/**
 * Every figure of a filtered overview equals the oracle's on random data and filters. `SEED=n` repeats a run, `RUNS=n` says how
 * many cases.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type OverviewCase, overviewCases, workspaceOf } from '../oracle/cases.ts'
import { day, type EventFact, type FilterName } from '../oracle/facts.ts'
import { computeOverview } from '../oracle/overview.ts'
import { isLong, seed } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { faultsOf, placeCases } from './ask-overview.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 1000 : 50))

const stores = setUpStores({ hasYearlyParts: true })

const values: Readonly<Record<FilterName, readonly string[]>> = {
  source: ['google', 'direct', 'goo*', '*e*', 'newsletter', 'a"b*', 'nothing'],
  medium: ['organic', 'none', 'e*l', ''],
  channel: ['Direct', 'Organic Search', 'AI Assistants', 'Unassigned', 'Paid*'],
  campaign: ['', 'spring', 's*'],
  entry_path: ['/', '/a', '/p/*', ''],
  device: ['desktop', 'mobile', 'unknown'],
  browser: ['Chrome', 'unknown', '*a*'],
  os: ['Windows', 'unknown', '*OS'],
  country: ['DE', 'unknown', 'U*'],
  path: ['/', '/a', '/p/*', '/*', '/%', '/_'],
  hostname: ['a.example', 'b.example', '*.example'],
  event: ['pageview', 'signup', 'purchase', '*a*'],
}

const filter = fc.constantFrom(...(Object.keys(values) as FilterName[])).chain((name) =>
  fc.record({
    name: fc.constant(name),
    values: fc.array(
      fc
        .tuple(fc.constantFrom(...values[name]), fc.nat({ max: 3 }))
        .map(([value, drawn]) => (drawn === 0 ? `!${value}` : value)),
      { minLength: 1, maxLength: 2 },
    ),
  }),
)
const filteredCases = fc.tuple(overviewCases, fc.array(filter, { minLength: 1, maxLength: 3 })).map(
  ([one, filters]): OverviewCase => ({
    ...one,
    events: one.events.map(withMore),
    query: { ...one.query, filters: Object.fromEntries(filters.map(({ name, values }) => [name, values])) },
  }),
)

/** By what a session, its pages and its events have: each is looked up in another way. */
function withFiltersOfAllKinds(one: OverviewCase): OverviewCase {
  return { ...one, query: { ...one.query, filters: { device: ['desktop'], path: ['/*'], event: ['*a*'] } } }
}

/** Columns that other cases have no use for. */
function withMore(event: EventFact): EventFact {
  const { session, path, occurred_at } = event
  const number = Math.floor(Number(session)) % 3
  return {
    ...event,
    os: ['Windows', 'macOS', ''][number]!,
    campaign: ['', 'spring', 'summer'][(number + Math.floor(occurred_at / day)) % 3]!,
    url: `https://${path.length % 2 === 0 ? 'a' : 'b'}.example/x`,
  }
}

test('every figure of chosen sessions equals an independent computation', {
  timeout: isLong ? 3_600_000 : 300_000,
}, async () => {
  const sampled = fc.sample(filteredCases, { seed, numRuns: runs })
  const cases = [...sampled, ...sampled.slice(0, 5).map(withFiltersOfAllKinds)]
  const placed = await placeCases(stores, cases)
  let chosen = 0
  for (const [at, one] of placed.entries()) {
    if (computeOverview(one, one.query, workspaceOf(one), one.now)?.metrics.sessions) chosen++
    const told = `SEED=${seed}, case ${at}: ${JSON.stringify({ ...cases[at]!.query, timezone: one.timezone })}`
    expect(await faultsOf(stores, one), told).toEqual([])
  }
  // Filters that choose nothing at all would hold nothing.
  expect(chosen).toBeGreaterThan(runs / 10)
})
