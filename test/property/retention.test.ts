/** Every figure of retention equals a naive computation over the raw events. `SEED=n` repeats a run, `RUNS=n` says how many cases. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import type { EventRow } from '../../schemas/event/row.ts'
import type { Retention } from '../../schemas/resources/retention.ts'
import { day, groupBy, hour, minute, type OverviewQuery, visitorOf } from '../oracle/facts.ts'
import { localDay, startOfDay } from '../oracle/local-time.ts'
import { bucketsOf, readableFrom, resolveRange, type Span } from '../oracle/range.ts'
import { setUpApi } from '../support/api.ts'
import { seed } from '../support/short-form.ts'
import { now, type PlacedSite, placeSites, queryOf, runs } from './step-cases.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, clock: fixedClock(now) })

type Interval = 'day' | 'week' | 'month'

/** Around local midnights, and around those of weeks and months; two of the zones change their clocks in these weeks. */
const sites = fc
  .constantFrom<string[]>('UTC', 'Asia/Kolkata', 'America/New_York', 'Europe/Berlin')
  .chain((timezone) => {
    const moment = fc
      .tuple(
        fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(4, 11, 18, 19, 20, 25, 50, 80, 400)),
        fc.constantFrom(-1, 0, 1, 90 * minute, 9 * hour, 14 * hour),
      )
      .map(([days, ms]) => Math.min(startOfDay(timezone, localDay(timezone, now) - days * day) + ms, now - 1))
    const event = fc.record({ visitor: fc.constantFrom<number[]>(0, 1, 1, 1, 2, 2, 3, 4, 5, 6), occurred_at: moment })
    return fc.record({ timezone: fc.constant(timezone), events: fc.array(event, { minLength: 1, maxLength: 60 }) })
  })

const cases = fc.record({
  site: sites,
  interval: fc.constantFrom<Interval[]>('day', 'week', 'month'),
  keptDays: fc.constantFrom(730, 730, 730, 30, 75),
  range: fc.constantFrom<OverviewQuery[]>(
    {},
    {},
    {},
    { days: 1 },
    { days: 30 },
    { days: 60 },
    { days: 66 },
    { days: 365 },
    { hours: 30 },
    { hours: 744 },
    { start: '2026-10-15', end: '2026-11-10' },
    { start: '2026-08-12T12:25:00Z', end: '2026-10-01T00:00:00.001' },
    { start: '2026-11-01' },
    { start: '2026-11-18', end: '2026-12-24' },
    { end: '2026-10-31' },
    { start: '2025-10-01', end: '2025-10-31' },
    { start: '2023-01-01', end: '2023-02-01' },
  ),
})
type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never

/** Without a range: whole buckets, the last of which runs. */
function askedSpan({ interval, range, keptDays }: Case, timezone: string): Span {
  if (Object.keys(range).length > 0) return resolveRange(range, { timezone, retentionDays: keptDays }, now)!
  const today = new Date(localDay(timezone, now))
  const first = {
    day: () => Number(today) - 29 * day,
    week: () => Number(today) - ((today.getUTCDay() + 6) % 7) * day - 11 * 7 * day,
    month: () => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 11, 1),
  }[interval]()
  return { start: startOfDay(timezone, first), end: now }
}

/** Undefined where the question must be refused. */
function expectedOf(one: Case, rows: readonly EventRow[], timezone: string): Retention['cohorts'] | undefined {
  const { interval, keptDays } = one
  const span = askedSpan(one, timezone)
  const cohorts = bucketsOf(span, { interval }, timezone)
  if (cohorts.length > 60) return undefined
  const since = readableFrom({ timezone, retentionDays: keptDays }, now)
  const readable = rows.filter((event) => visitorOf(event) !== '' && event.occurred_at >= since)
  const people = [...groupBy(readable, visitorOf).values()].map((events) => events.map((event) => event.occurred_at))
  // Whole ones: the last of them lies in the future.
  const all = bucketsOf({ start: span.start, end: Math.max(span.end, now) + 40 * day }, { interval }, timezone)
  const isIn =
    ({ start, end }: Span) =>
    (moment: number) =>
      moment >= start && moment < end
  return cohorts.map((cohort, at) => {
    const its = people.filter((moments) => isIn(cohort)(Math.min(...moments)))
    const later = span.end <= since ? [] : all.slice(at + 1).filter(({ start }) => start <= now)
    return {
      label: cohort.label,
      start: new Date(cohort.start).toISOString(),
      end: new Date(cohort.end).toISOString(),
      visitors: its.length,
      returned: later.map((bucket) => its.filter((moments) => moments.some(isIn(bucket))).length),
    }
  })
}

function spanOf(one: Case, timezone: string) {
  const { start, end } = askedSpan(one, timezone)
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString(), timezone, bucket: one.interval }
}

function momentsOf({ interval, keptDays }: Case, timezone: string) {
  const running = bucketsOf({ start: now - 40 * day, end: now + 1 }, { interval }, timezone).at(-1)!
  return {
    as_of: new Date(now).toISOString(),
    readable_from: new Date(readableFrom({ timezone, retentionDays: keptDays }, now)).toISOString(),
    complete_through: new Date(running.start).toISOString(),
  }
}

async function place(all: readonly Case[]): Promise<PlacedSite[]> {
  const placed = await placeSites(
    stores,
    all.map(({ site }) => site),
  )
  for (const [at, { workspaceId }] of placed.entries()) {
    await stores.pg.query('UPDATE workspaces SET retention_days = $2 WHERE id = $1', [workspaceId, all[at]!.keptDays])
  }
  await foldedAsOf(now)
  return placed
}

/** The fold's own is by the clock of Postgres. */
function foldedAsOf(moment: number) {
  return stores.pg.query('UPDATE fold_state SET as_of = to_timestamp($1::double precision / 1000)', [moment])
}

async function ask({ apiKey }: Pick<PlacedSite, 'apiKey'>, query: Record<string, string>) {
  const response = await api.ask(`/v1/analytics/retention?${queryOf(query)}`, { key: apiKey })
  return { status: response.status, answer: (await response.json()) as Retention }
}

test('every figure equals a naive computation over the raw events', async () => {
  const all: Case[] = fc.sample(cases, { seed, numRuns: runs })
  const placed = await place(all)
  let [returns, refusals] = [0, 0]
  for (const [at, one] of all.entries()) {
    const { rows, timezone } = placed[at]!
    const expected = expectedOf(one, rows, timezone)
    const texts = Object.entries(one.range).map(([name, value]) => [name, String(value)])
    const { status, answer } = await ask(placed[at]!, { interval: one.interval, ...Object.fromEntries(texts) })
    const told = `SEED=${seed}, case ${at}: ${JSON.stringify([one.interval, one.range, one.keptDays])}, ${timezone}`
    expect(status, told).toBe(expected === undefined ? 422 : 200)
    if (expected === undefined) refusals++
    else expect(answer.cohorts, told).toEqual(expected)
    if (expected !== undefined)
      expect(answer, told).toMatchObject({ range: spanOf(one, timezone), ...momentsOf(one, timezone) })
    returns += (expected ?? []).filter(({ returned }) => returned.some((visitors) => visitors > 0)).length
  }
  // Where nobody comes back nothing is held.
  expect(returns).toBeGreaterThan(runs / 8)
  expect(refusals).toBeLessThan(runs / 4)
})

test('the bucket that runs is that of the last fold: a pipeline that is down adds no zeros', async () => {
  const came = [20, 19, 18, 17].map((days) => ({ visitor: 1, occurred_at: now - days * day }))
  const site = { timezone: 'UTC', events: came }
  const [placed] = await place([{ site, interval: 'day', keptDays: 730, range: {} }])
  const query = { interval: 'day', start: '2026-10-31', end: '2026-10-31' }
  const { answer } = await ask(placed!, query)
  expect([answer.complete_through, answer.cohorts[0]]).toMatchObject([
    '2026-11-20T00:00:00.000Z',
    { label: '2026-10-31', visitors: 1, returned: [1, 1, 1, ...Array<number>(17).fill(0)] },
  ])
  await foldedAsOf(now - 18 * day)
  const { answer: older } = await ask(placed!, { ...query, end: '2026-11-01T00:00' })
  expect([older.as_of, older.complete_through, older.cohorts[0]!.returned]).toEqual([
    new Date(now - 18 * day).toISOString(),
    '2026-11-02T00:00:00.000Z',
    [1, 1],
  ])
})

test('weeks are asked about without an interval, and nobody came where nobody came', async () => {
  const { answer } = await ask(mine, {})
  expect([answer.range.bucket, answer.cohorts.length]).toEqual(['week', 12])
  expect(answer.cohorts.every(({ visitors, returned }) => visitors === 0 && !returned.some(Boolean))).toBe(true)
})

test('60 cohorts are answered, and 61 refused', async () => {
  expect((await ask(mine, { interval: 'day', days: '60' })).status).toBe(200)
  const { status, answer } = await ask(mine, { interval: 'day', days: '61' })
  const msg = expect.stringContaining('a range has at most 60 cohorts')
  expect([status, answer]).toMatchObject([422, { detail: [{ loc: ['query', 'interval'], msg, input: 'day' }] }])
})

test.each([{ interval: 'hour' }, { interval: '' }, { start: '2026-11-20', end: '2026-11-19' }, { start: 'x' }])(
  '%j is refused',
  async (query) => {
    expect((await ask(mine, query)).status).toBe(422)
  },
)

test('a range far in the past or the future is empty', async () => {
  for (const [start, end] of [
    ['0001-01-01', '0001-02-01'],
    ['9999-01-01', '9999-02-01'],
    ['2027-01-01', '2027-01-31'],
  ] as const) {
    const { status, answer } = await ask(mine, { start, end })
    const returned = answer.cohorts.filter((cohort) => cohort.returned.length > 0)
    expect([status, answer.cohorts.length > 3, returned]).toEqual([200, true, []])
  }
})
