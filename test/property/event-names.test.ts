/** Every row of events by name, and by a value, equals a computation over the raw events. `SEED=n` and `RUNS=n` as elsewhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import type { EventRow } from '../../schemas/event/row.ts'
import { kinds } from '../../schemas/event/row.ts'
import type { EventNames } from '../../schemas/resources/event-names.ts'
import { viewScope } from '../../schemas/scopes.ts'
import { byTime, countDistinct, groupBy, kind, pairOf, visitorOf } from '../oracle/facts.ts'
import { filterFacts, fits } from '../oracle/filters.ts'
import { makeKey, setUpApi } from '../support/api.ts'
import { isLong, seed } from '../support/short-form.ts'
import { now, placeSites, queryOf, sites, someFilters, someRanges } from './step-cases.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 1000 : 60))
const { stores, api, mine } = setUpApi({ hasYearlyParts: true, clock: fixedClock(now) })

const cases = fc.record({
  site: sites,
  range: someRanges,
  filters: someFilters,
  property: fc.constantFrom(undefined, undefined, 'plan', 'n', 'no "such" \\ thing'),
  names: fc.constantFrom(['*'], ['signup', 'sign\\*up'], ['P*']),
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
const countVisitors = (events: readonly EventRow[]) => countDistinct(events.map(visitorOf).filter((one) => one !== ''))

test('every row equals a computation over the raw events', async () => {
  const all = fc.sample(cases, { seed, numRuns: runs })
  const placed = await placeSites(
    stores,
    all.map(({ site }) => site),
  )
  let listed = 0
  for (const [at, { range, filters, property, names }] of all.entries()) {
    const { rows, timezone, apiKey } = placed[at]!
    const asked = property === undefined ? filters : { ...filters, property, event: names }
    const query = queryOf({ ...range, ...asked, limit: '1000' })
    const response = await api.ask(`/v1/analytics/events?${query}`, { key: apiKey })
    const answer = (await response.json()) as EventNames
    expect([query, response.status, answer]).toEqual([query, 200, answer])
    const [start, end] = [Date.parse(answer.range.start), Date.parse(answer.range.end)]
    const { property: _, ...own } = asked as Record<string, string[]>
    const chosen = Object.keys(own).length === 0 ? rows : filterFacts({ events: rows }, own, timezone).events
    const inRange = chosen.filter(({ occurred_at }) => occurred_at >= start && occurred_at < end)
    const shown = inRange.filter((event) => event.kind !== kind.webVital && event.kind !== kind.pageLeave)
    const keyed = shown.flatMap((event) => {
      if (property === undefined) return [{ event, key: JSON.stringify([event.event_name, null]) }]
      const value = shownValueOf(event, property)
      const isWanted = names.some((name) => fits(name, event.event_name))
      return value === undefined || !isWanted ? [] : [{ event, key: JSON.stringify([event.event_name, value]) }]
    })
    const visitors = countVisitors(inRange)
    const expected = [...groupBy(keyed, ({ key }) => key)].map(([key, some]) => {
      const events = some.map(({ event }) => event).sort(byTime)
      const [event, value] = JSON.parse(key) as [string, string | null]
      const last = events.at(-1)!
      return {
        ...{ event, value, kind: kindNames[last.kind], events: events.length, visitors: countVisitors(events) },
        sessions: countSessions(events),
        conversions: events.filter((one) => one.kind === kind.conversion).length,
        visitor_share: visitors === 0 ? 0 : Math.round((countVisitors(events) / visitors) * 10_000) / 100,
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
    const told = `SEED=${seed}, case ${at}: ${query}, ${timezone}`
    expect([answer.visitors, answer.rows], told).toEqual([visitors, expected])
    listed += expected.length
  }
  expect(listed).toBeGreaterThan(runs)
})

test('the list has as many rows as are asked for, and the visitors of all', async () => {
  const names = Array.from({ length: 14 }, (_, at) => `event ${at}`)
  const events = names.map((event_name, at) => ({
    ...{ kind: 'custom' as const, event_name, visitor: 1 + (at % 2), session: 1, occurred_at: now - 1000 - at },
  }))
  const [placed] = await placeSites(stores, [{ timezone: 'UTC', events }])
  const ask = async (query: string) =>
    (await (await api.ask(`/v1/analytics/events?${query}`, { key: placed!.apiKey })).json()) as EventNames
  expect(await ask('days=1')).toMatchObject({ visitors: 2, rows: { length: 10 } })
  expect(await ask('days=1&limit=3')).toMatchObject({ visitors: 2, rows: { length: 3 } })
  expect(await ask('start=2026-11-01&end=2026-11-02')).toMatchObject({ visitors: 0, rows: [] })
})

test('names of properties are those of the newest events of the name that is asked for, and of no shared link', async () => {
  const at = { kind: 'custom' as const, event_name: 'signup', session: 1 }
  const newest = Array.from({ length: 1_000 }, (_, n) => ({
    ...{ ...at, visitor: 2 + n, occurred_at: now - 1_000 },
    properties: JSON.stringify(n < 2 ? { plan: 'pro', 'a "b"': 1 } : { plan: null }),
  }))
  const older = { ...at, visitor: 1, occurred_at: now - 5 * 3_600_000, properties: '{"old":1}' }
  const other = { ...at, visitor: 1, occurred_at: now - 1_000, event_name: 'other', properties: '{"else":1}' }
  const [placed] = await placeSites(stores, [{ timezone: 'UTC', events: [...newest, older, other] }])
  const ask = async (query: string, key = placed!.apiKey) =>
    ((await (await api.ask(`/v1/analytics/events?${query}`, { key })).json()) as EventNames).properties
  expect(await ask('days=1&event=signup&country=DE')).toEqual(['plan', 'a "b"'])
  expect(await ask('days=1&event=signup&property=plan')).toEqual(['plan', 'a "b"'])
  expect([await ask('days=1'), await ask('days=1&event=!other')]).toEqual([[], []])
  const { apiKey: view } = await makeKey(stores, placed!.workspaceId, { scopes: [viewScope] })
  expect(await ask('days=1&event=signup', view)).toEqual([])
})

test.each([
  ['property=plan', 'a property needs the filter event beside it'],
  ['property=plan&event=!signup', 'a property needs the filter event beside it'],
  ['property=&event=signup', 'at least 1 character'],
  [`property=${'x'.repeat(201)}&event=signup`, 'at most 200 characters'],
  ['limit=1001', 'less than or equal to 1000'],
])('%s is refused: %s', async (query, text) => {
  const response = await api.ask(`/v1/analytics/events?${query}`, { key: mine.apiKey })
  expect([response.status, JSON.stringify(await response.json())]).toEqual([422, expect.stringContaining(text)])
})
