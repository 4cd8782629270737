/**
 * Every figure of the overview equals the oracle's (test/oracle) on random data. `SEED=n` repeats a run, `FAULTS=long`
 * makes it 50 times as long. A failure prints the seed and the smallest case found that still fails.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noCountry } from '../../schemas/event/row.ts'
import { bucketsOf, resolveTimeRange } from '../../schemas/time/time-range.ts'
import { type OverviewCase, overviewCases, overviewQuestions, workspaceOf } from '../oracle/cases.ts'
import { day, type EventFact, type FilterName, second } from '../oracle/facts.ts'
import { bucketSizeOf, bucketsOf as expectedBuckets, previousOf, resolveRange } from '../oracle/range.ts'
import { makeEventRow } from '../support/event-rows.ts'
import { isLong, seed } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { judge, placeCases } from './ask-overview.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 3000 : 50))
/** Inserted together. */
const chunk = 150
const shrinkTimeMs = 90_000

const stores = setUpStores({ hasYearlyParts: true })

const values: Readonly<Record<FilterName, readonly string[]>> = {
  source: ['google', 'direct', 'goo*', '*e*', 'newsletter', 'a"b*', 'nothing'],
  medium: ['organic', 'none', 'e*l', ''],
  channel: ['Direct', 'Organic Search', 'AI Assistants', 'Unassigned', 'Paid*'],
  campaign: ['', 'spring', 's*'],
  entry_path: ['/', '/a', '/p/*', ''],
  exit_path: ['/', '/a', '/p/*', ''],
  device: ['desktop', 'mobile', 'unknown'],
  browser: ['Chrome', 'unknown', '*a*'],
  os: ['Windows', 'unknown', '*OS'],
  country: ['DE', 'unknown', 'U*'],
  region: ['DE-BE', 'unknown', '*-BE'],
  city: ['Berlin, DE-BE', 'Berlin, *', 'Berlin, FR', 'unknown'],
  path: ['/', '/a', '/p/*', '/*', '/%', '/_'],
  hostname: ['a.example', 'b.example', '*.example'],
  event: ['pageview', 'signup', 'purchase', '*a*'],
  event_property: ['plan:pro', 'plan:p*', 'plan:*', 'seats:5', 'seats:*', 'paid:true', 'list:[1,"a"]', 'none:*'],
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
/** By what a session, its pages and its events have: each is looked up in another way. */
const filtersOfAllKinds = Object.entries({ device: ['desktop'], path: ['/*'], event: ['*a*'] }).map(
  ([name, values]) => ({ name, values }),
)
const filterSets = fc.oneof(
  { weight: 10, arbitrary: fc.array(filter, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(filtersOfAllKinds) },
)
const filteredCases = fc.tuple(overviewCases, filterSets).map(
  ([one, filters]): OverviewCase => ({
    ...one,
    events: one.events.map(withMore),
    query: { ...one.query, filters: Object.fromEntries(filters.map(({ name, values }) => [name, values])) },
  }),
)

/** Columns that other cases have no use for. */
function withMore(event: EventFact): EventFact {
  const { session, path, occurred_at } = event
  const number = Math.floor(Number(session)) % 3
  return {
    ...event,
    os: ['Windows', 'macOS', ''][number]!,
    campaign: ['', 'spring', 'summer'][(number + Math.floor(occurred_at / day)) % 3]!,
    ...(event.country !== noCountry && placeOf(event.country, number)),
    properties: JSON.stringify({
      ...JSON.parse(event.properties),
      ...someProperties[Math.floor(occurred_at / second) % 5],
    }),
    url: `https://${path.length % 2 === 0 ? 'a' : 'b'}.example/x`,
  }
}

const someProperties = [{ plan: 'pro' }, { plan: 'free', seats: 5 }, { plan: 'p%', paid: true }, { list: [1, 'a'] }, {}]

function placeOf(country: string, number: number) {
  return [{ region: `${country}-BE`, city: 'Berlin' }, { city: 'Berlin' }, { region: `${country}-BE` }][number]!
}

async function judgeAlone(one: OverviewCase): Promise<string[]> {
  const [placed] = await placeCases(stores, [one])
  return (await judge(stores, placed!)).faults
}

/** The case as a reader wants it: times as text, columns that differ from a plain pageview's only. */
function show(one: OverviewCase): string {
  const time = (instant: number) => new Date(instant).toISOString()
  const plain = makeEventRow({ workspace_id: 0 })
  const events = one.events.map((event) => {
    const told = Object.entries(event).filter(
      ([name, value]) =>
        !['received_at', 'url', 'anonymous_id', 'event_type', 'event_name', 'workspace_id'].includes(name) &&
        JSON.stringify(value) !== JSON.stringify(plain[name as keyof typeof plain]),
    )
    return JSON.stringify({ ...Object.fromEntries(told), id: event.id, occurred_at: time(event.occurred_at) })
  })
  return [
    JSON.stringify({ ...one, now: time(one.now), events: undefined, botVisits: undefined, emails: undefined }),
    ...events,
    ...one.botVisits.map((visit) => `bot visit ${time(visit.occurred_at)}`),
    ...one.emails.map(({ email, occurredAt }) => `${email} ${time(occurredAt)}`),
  ].join('\n')
}

/** The same draw again, and smaller ones as long as they fail. */
async function explain(arbitrary: fc.Arbitrary<OverviewCase>, run: number): Promise<string> {
  const property = fc.asyncProperty(arbitrary, async (one) => (await judgeAlone(one)).length === 0)
  const details = await fc.check(property, {
    seed,
    path: String(run),
    numRuns: 1,
    interruptAfterTimeLimit: shrinkTimeMs,
  })
  const smallest = details.counterexample?.[0]
  if (!smallest) return 'it did not fail alone: it takes the other workspaces to fail'
  return `${show(smallest)}\n\n${(await judgeAlone(smallest)).join('\n')}`
}

/** Most are of chosen sessions: overview-folded.test.ts has as many of all sessions. */
const mixedCases = fc.oneof({ weight: 1, arbitrary: overviewCases }, { weight: 4, arbitrary: filteredCases })
const properties: readonly (readonly [string, fc.Arbitrary<OverviewCase>, number])[] = isLong
  ? [
      ['the overview', overviewCases, runs],
      ['chosen sessions', filteredCases, Math.ceil(runs / 3)],
    ]
  : [['the overview, mostly of chosen sessions,', mixedCases, runs]]

test.each(properties)(
  'every figure of %s equals an independent computation, whatever the data, timezone and range',
  { timeout: isLong ? 7_200_000 : 600_000 },
  async (_, arbitrary, count) => {
    const cases = fc.sample(arbitrary, { seed, numRuns: count })
    let withSessions = 0
    for (let from = 0; from < cases.length; from += chunk) {
      const placed = await placeCases(stores, cases.slice(from, from + chunk))
      for (const [at, one] of placed.entries()) {
        const { faults, sessions } = await judge(stores, one)
        if (sessions > 0) withSessions++
        if (faults.length === 0) continue
        expect.fail(
          `SEED=${seed}, case ${from + at}: ${faults[0]}\n\nSmallest:\n${await explain(arbitrary, from + at)}`,
        )
      }
    }
    // Filters that choose nothing at all would hold nothing.
    expect(withSessions).toBeGreaterThan(count / 10)
  },
)

test('every range and its buckets equal an independent computation, whatever the timezone and the form of the query', {
  timeout: 900_000,
}, () => {
  const property = fc.property(overviewQuestions, (asked) => {
    const { timezone, now } = asked
    const expected = resolveRange(asked.query, workspaceOf(asked), now)
    const resolved = resolveTimeRange({ days: 30, ...asked.query }, timezone, now)
    expect(resolved.ok).toBe(expected !== undefined)
    if (!resolved.ok || !expected) return
    const { start, end, bucket, previous, isCompared } = resolved.range
    expect({ start, end, bucket, previous, isCompared }).toEqual({
      ...expected,
      bucket: bucketSizeOf(expected, asked.query, timezone),
      previous: previousOf(expected, asked.query, timezone),
      isCompared: asked.query.compare !== 'none',
    })
    expect(bucketsOf(resolved.range)).toEqual(expectedBuckets(expected, asked.query, timezone))
  })
  fc.assert(property, { seed, numRuns: isLong ? 50_000 : 200 })
})
