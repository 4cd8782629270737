/** Every row of events by name, and by a value, equals a computation over the raw events. `SEED=n` and `RUNS=n` as elsewhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRow } from '../../schemas/event/row.ts'
import { kinds } from '../../schemas/event/row.ts'
import { eventSeriesRowsMax } from '../../schemas/limits/series-limits.ts'
import type { EventNames } from '../../schemas/resources/event-names.ts'
import { viewScope } from '../../schemas/scopes.ts'
import { perCent, visitorsOf } from '../oracle/counters.ts'
import { byTime, countDistinct, groupBy, kind, pairOf, visitorOf } from '../oracle/facts.ts'
import { fits } from '../oracle/filters.ts'
import { bucketsOf } from '../oracle/range.ts'
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

const cases = fc.record({
  site: sites,
  interval: fc.constantFrom(undefined, 'hour' as const, 'day' as const, 'week' as const, 'month' as const),
  range: someRanges,
  filters: someFilters,
  property: fc.constantFrom(undefined, undefined, 'plan', 'n', 'no "such" \\ thing'),
  names: fc.constantFrom(['*'], ['signup', 'sign\\*up'], ['P*']),
  name: fc.constantFrom(undefined, undefined, 'signup', 'sign*up'),
})

const kindNames = Object.fromEntries(Object.entries(kinds).map(([name, number]) => [number, name]))

/** As rows show it; undefined where the event has none. */
function shownValueOf({ properties }: EventRow, property: string): string | undefined {
  const all = JSON.parse(properties) as Record<string, unknown>
  if (!Object.hasOwn(all, property)) return undefined
  const value = all[property]
  return [...(typeof value === 'string' ? value : JSON.stringify(value))].slice(0, 200).join('')
}

const countSessions = (events: readonly EventRow[]) =>
  countDistinct(events.filter((event) => visitorOf(event) !== '').map(pairOf))

test('every row equals a computation over the raw events', async () => {
  let listed = 0
  let inSeries = 0
  for (const { placed, tell, range, interval, filters, property, names, name } of await drawCases(stores, cases)) {
    // A name needs no filter beside the property.
    const asked = property === undefined || name !== undefined ? filters : { ...filters, event: names }
    const own = { ...(interval && { interval }), ...(property && { property }), ...(name && { name }) }
    const question = `events?${queryOf({ ...range, ...own, ...asked, limit: '1000' })}`
    const answer = await ask<EventNames>(question, placed.apiKey)
    const [start, end] = [Date.parse(answer.range.start), Date.parse(answer.range.end)]
    const inRange = chosenOf(placed, asked as Record<string, string[]>).filter(
      ({ occurred_at }) => occurred_at >= start && occurred_at < end,
    )
    const shown = inRange
      .filter((event) => event.kind !== kind.webVital && event.kind !== kind.pageLeave)
      .filter((event) => name === undefined || event.event_name === name)
    const visitors = visitorsOf(name === undefined || property === undefined ? inRange : shown)
    const keyed = shown.flatMap((event) => {
      if (property === undefined) return [{ event, key: JSON.stringify([event.event_name, null]) }]
      const value = shownValueOf(event, property)
      const isWanted = name !== undefined || names.some((pattern) => fits(pattern, event.event_name))
      return value === undefined || !isWanted ? [] : [{ event, key: JSON.stringify([event.event_name, value]) }]
    })
    const rowsOf = new Map<string, readonly EventRow[]>()
    const expected = [...groupBy(keyed, ({ key }) => key)].map(([key, some]) => {
      const events = some.map(({ event }) => event).sort(byTime)
      const [event, value] = JSON.parse(key) as [string, string | null]
      const last = events.at(-1)!
      rowsOf.set(JSON.stringify([event, value]), events)
      return {
        event,
        value,
        kind: kindNames[last.kind],
        events: events.length,
        visitors: visitorsOf(events),
        sessions: countSessions(events),
        conversions: events.filter((one) => one.kind === kind.conversion).length,
        visitor_share: perCent(visitorsOf(events), visitors),
        last_seen_at: new Date(last.occurred_at).toISOString(),
      }
    })
    const bytes = (text: string | null) => Buffer.from(text ?? '')
    expected.sort(
      (a, b) =>
        b.visitors - a.visitors ||
        b.events - a.events ||
        bytes(a.event).compare(bytes(b.event)) ||
        bytes(a.value).compare(bytes(b.value)),
    )
    expect([answer.visitors, answer.rows], tell(question)).toEqual([visitors, expected])
    listed += expected.length
    const first = expected
      .slice(0, eventSeriesRowsMax)
      .map(({ event, value }) => rowsOf.get(JSON.stringify([event, value]))!)
    const buckets = interval && bucketsOf({ start, end }, { interval }, placed.timezone)
    const series = buckets?.map((bucket) => ({
      label: bucket.label,
      start: new Date(bucket.start).toISOString(),
      end: new Date(bucket.end).toISOString(),
      rows: first.map((events) => {
        const within = events.filter(({ occurred_at: at }) => at >= bucket.start && at < bucket.end)
        return { events: within.length, visitors: visitorsOf(within) }
      }),
    }))
    expect(answer.series, tell(question)).toEqual(series)
    for (const [at, { events }] of answer.rows.slice(0, eventSeriesRowsMax).entries()) {
      const inBuckets = answer.series?.reduce((sum, { rows }) => sum + rows[at]!.events, 0)
      if (inBuckets !== undefined) expect(inBuckets, tell(question)).toBe(events)
    }
    if (series) inSeries += first.length
  }
  expect(listed).toBeGreaterThan(runs)
  expect(inSeries).toBeGreaterThan(runs)
})

test('a day of 25 hours has its repeated hour twice; a series counts ten rows, a list as many as are asked for', async () => {
  const at = Date.parse('2026-11-01T05:30:00Z')
  const times = [at, at + 3_600_000, at + 3_600_001]
  const events = times.map((occurred_at) => ({
    kind: 'custom' as const,
    event_name: 'signup',
    visitor: 1,
    session: 1,
    occurred_at,
  }))
  const others = Array.from({ length: 11 }, (_, n) => ({ ...events[0]!, event_name: `other ${n}`, visitor: 2 }))
  const [placed] = await placeSites(stores, [{ timezone: 'America/New_York', events: [...events, ...others] }])
  const day = 'events?start=2026-11-01&end=2026-11-01'
  const { rows, series } = await ask<EventNames>(`${day}&interval=hour&limit=20`, placed!.apiKey)
  expect([rows.length, series!.length]).toEqual([12, 25])
  expect(series!.filter(({ label }) => label === '2026-11-01 01:00').map((point) => point.rows.slice(0, 2))).toEqual([
    [
      { events: 1, visitors: 1 },
      { events: 1, visitors: 1 },
    ],
    [
      { events: 2, visitors: 1 },
      { events: 0, visitors: 0 },
    ],
  ])
  expect(series!.map((point) => point.rows.length)).toEqual(Array.from({ length: 25 }, () => eventSeriesRowsMax))
  const whole = await ask<EventNames>(`${day}&interval=month`, placed!.apiKey)
  expect(whole.series).toMatchObject([
    { label: '2026-11', start: '2026-11-01T04:00:00.000Z', end: '2026-11-02T05:00:00.000Z' },
  ])
  const list = await ask<EventNames>(day, placed!.apiKey)
  expect(list).toMatchObject({ visitors: 2, rows: { length: 10 } })
  expect(list).not.toHaveProperty('series')
  expect(await ask(`${day}&limit=3`, placed!.apiKey)).toMatchObject({ visitors: 2, rows: { length: 3 } })
  expect(await ask('events?start=2026-11-03&end=2026-11-04', placed!.apiKey)).toMatchObject({ visitors: 0, rows: [] })
})

test('each row has its counts of the other period where one is named, whatever came more often then', async () => {
  const custom = { kind: 'custom' as const, session: 1 }
  const at = (day: string, visitor: number, event_name: string, plan?: string) => ({
    ...custom,
    visitor,
    event_name,
    occurred_at: Date.parse(`${day}T12:00:00Z`),
    properties: JSON.stringify(plan === undefined ? {} : { plan }),
  })
  const events = [
    ...[1, 2].map((visitor) => at('2026-11-05', visitor, "sign'up", 'a\\b')),
    at('2026-11-05', 3, 'new'),
    ...[1, 1, 2].map((visitor) => at('2026-11-04', visitor, "sign'up", 'a\\b')),
    at('2026-11-04', 9, "sign'up", 'other'),
    ...[1, 2, 3, 4].map((visitor) => at('2026-11-04', visitor, 'gone')),
  ]
  const [placed] = await placeSites(stores, [{ timezone: 'UTC', events }])
  const previous = async (query: string, start = '2026-11-05') => {
    const { rows } = await ask<EventNames>(`events?start=${start}&end=2026-11-05&${query}`, placed!.apiKey)
    return rows.map((row) => [row.value ?? row.event, row.previous])
  }
  const nothing = { events: 0, visitors: 0 }
  expect(await previous('compare=previous&limit=2')).toEqual([
    ["sign'up", { events: 4, visitors: 3 }],
    ['new', nothing],
  ])
  expect(await previous("compare=previous&name=sign'up&property=plan&interval=hour")).toEqual([
    ['a\\b', { events: 3, visitors: 2 }],
  ])
  expect(await previous('compare=year&limit=1')).toEqual([["sign'up", nothing]])
  expect(await previous('compare=none&limit=1')).toEqual([["sign'up", null]])
  expect(await previous('limit=1')).toEqual([["sign'up", undefined]])
})

test('names of properties are those of the newest events of the name that is asked for, and of no shared link', async () => {
  const at = { kind: 'custom' as const, event_name: 'signup', session: 1 }
  const newest = Array.from({ length: 1_000 }, (_, n) => ({
    ...at,
    visitor: 2 + n,
    occurred_at: now - 1_000,
    properties: JSON.stringify(n < 2 ? { plan: 'pro', 'a "b"': 1 } : { plan: null }),
  }))
  const older = { ...at, visitor: 1, occurred_at: now - 5 * 3_600_000, properties: '{"old":1}' }
  const other = { ...at, visitor: 1, occurred_at: now - 1_000, event_name: 'other', properties: '{"else":1}' }
  const [placed] = await placeSites(stores, [{ timezone: 'UTC', events: [...newest, older, other] }])
  const propertiesOf = async (query: string, key = placed!.apiKey) =>
    (await ask<EventNames>(`events?${query}`, key)).properties
  expect(await propertiesOf('days=1&event=signup&country=DE')).toEqual(['plan', 'a "b"'])
  expect(await propertiesOf('days=1&event=signup&property=plan')).toEqual(['plan', 'a "b"'])
  expect(await propertiesOf('days=1&event=signup&name=other')).toEqual(['else'])
  expect([await propertiesOf('days=1'), await propertiesOf('days=1&event=!other')]).toEqual([[], []])
  const { apiKey: view } = await makeKey(stores, placed!.workspaceId, { scopes: [viewScope] })
  expect(await propertiesOf('days=1&event=signup', view)).toEqual([])
})

test.each([
  ['property=plan', 'a property needs a name or the filter event beside it'],
  ['property=plan&event=!signup', 'a property needs a name or the filter event beside it'],
  ['name=', 'at least 1 character'],
  ['property=&event=signup', 'at least 1 character'],
  ['interval=minute', "Input should be 'hour', 'day', 'week' or 'month'"],
  ['interval=hour&days=90', 'a range has at most 2000 buckets'],
  [`property=${'x'.repeat(201)}&event=signup`, 'at most 200 characters'],
])('%s is refused: %s', (query, text) => expectRefused(`events?${query}`, text))
