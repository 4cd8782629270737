/**
 * Every figure of the overview equals the oracle's (test/oracle) on random data. `SEED=n` repeats a run, `FAULTS=long`
 * makes it 60 times as long. A failure prints the seed and the smallest case found that still fails.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketsOf, resolveTimeRange } from '../../schemas/time/time-range.ts'
import { type OverviewCase, overviewCases, overviewQuestions, workspaceOf } from '../oracle/cases.ts'
import { differences } from '../oracle/compare.ts'
import { computeOverview } from '../oracle/overview.ts'
import { bucketSizeOf, bucketsOf as expectedBuckets, previousOf, resolveRange } from '../oracle/range.ts'
import { makeEventRow } from '../support/event-rows.ts'
import { isLong, seed } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { faultsOf, placeCases } from './ask-overview.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 3000 : 50))
/** Inserted together. */
const chunk = 150
const shrinkTimeMs = 90_000

const stores = setUpStores({ hasYearlyParts: true })

async function judgeAlone(one: OverviewCase): Promise<string[]> {
  const [placed] = await placeCases(stores, [one])
  return faultsOf(stores, placed!)
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
async function explain(run: number): Promise<string> {
  const property = fc.asyncProperty(overviewCases, async (one) => (await judgeAlone(one)).length === 0)
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

test('every figure of the overview equals an independent computation, whatever the data, timezone and range', {
  timeout: isLong ? 7_200_000 : 600_000,
}, async () => {
  const cases = fc.sample(overviewCases, { seed, numRuns: runs })
  for (let from = 0; from < cases.length; from += chunk) {
    const placed = await placeCases(stores, cases.slice(from, from + chunk))
    for (const [at, one] of placed.entries()) {
      const found = await faultsOf(stores, one)
      if (found.length === 0) continue
      expect.fail(`SEED=${seed}, case ${from + at}: ${found[0]}\n\nSmallest:\n${await explain(from + at)}`)
    }
  }
})

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

test('the comparison can fail: it tells a single figure that is off', async () => {
  const [placed] = await placeCases(stores, fc.sample(overviewCases, { seed: 1, numRuns: 1 }))
  const expected = computeOverview(placed!, { days: 30 }, { timezone: 'UTC', retentionDays: 730 }, placed!.now)!
  expect(differences(expected, JSON.parse(JSON.stringify(expected)))).toEqual([])
  const off = structuredClone(expected) as unknown as { metrics: { visitors: number }; top_pages: unknown[] }
  off.metrics.visitors += 1
  off.top_pages.push({})
  expect(differences(expected, off)).toEqual([
    `metrics.visitors: expected ${expected.metrics.visitors}, got ${expected.metrics.visitors + 1}`,
    `top_pages: expected ${expected.top_pages.length} rows, got ${expected.top_pages.length + 1}`,
  ])
})
