/** The newest events of a range: the same however far back is looked first, which goes by where they were found last. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRecentEvents } from '../../clickhouse/queries/overview/recent-events.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'
import { recentEventsMax } from '../../schemas/limits.ts'
import type { Span } from '../../schemas/time-range.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { isLong, seed } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
const now = Date.UTC(2026, 10, 20, 14, 25)
const readableFrom = now - 60 * day

let workspaces = 0
/** A workspace of its own, with a list of what it has. */
function makeWorkspace() {
  const workspaceId = ++workspaces
  const stored: { id: number; at: number; isShown: boolean }[] = []
  const looked: Span[] = []
  const ch = {
    query: <Row>(sql: string, params?: Record<string, unknown>, options?: QueryOptions<Row>) => {
      const { from, to } = params as { from: number; to: number }
      looked.push({ start: from, end: to })
      return stores.ch.query<Row>(sql, params, options)
    },
  }
  const add = async (ats: readonly number[], kind: 'pageview' | 'page_leave' = 'pageview') => {
    const rows = ats.map((at) => makeEventRow({ workspace_id: workspaceId, kind, occurred_at: at }))
    await insertEventRows(stores.ch, rows)
    stored.push(...rows.map(({ id }, nth) => ({ id, at: ats[nth]!, isShown: kind === 'pageview' })))
  }
  const ask = async (start: number, end: number, moment = now) => {
    looked.length = 0
    const events = await readRecentEvents(ch, { workspaceId, readableFrom, start, end }, moment)
    return events.map(({ id }) => id)
  }
  const expected = (start: number, end: number) =>
    stored
      .filter(({ at, isShown }) => isShown && at >= start && at < end)
      .sort((one, other) => other.at - one.at || other.id - one.id)
      .slice(0, recentEventsMax)
      .map(({ id }) => id)
  return { add, ask, expected, looked }
}

const every = (ms: number, count: number, from: number) => Array.from({ length: count }, (_, nth) => from + nth * ms)

test('of any ranges, asked one after the other, while more come', async () => {
  const ago = fc.oneof(
    fc.integer({ min: 0, max: 20 * second }),
    fc.integer({ min: 0, max: 3 * hour }),
    fc.integer({ min: 0, max: 40 * day }),
  )
  const step = fc.record({
    added: fc.option(
      fc.record({
        ago,
        count: fc.integer({ min: 1, max: 2 * recentEventsMax }),
        ms: fc.constantFrom(0, 10, second, minute),
      }),
    ),
    range: fc.tuple(ago, ago),
    isFuture: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const { add, ask, expected } = makeWorkspace()
      for (const { added, range, isFuture } of steps) {
        if (added !== null) await add(every(added.ms, added.count, now - added.ago))
        if (added !== null) await add([now - added.ago], 'page_leave')
        const start = now - Math.max(...range)
        const end = isFuture ? now + hour : now - Math.min(...range)
        expect(await ask(start, end)).toEqual(expected(start, end))
      }
    }),
    { seed, numRuns: isLong ? 300 : 12 },
  )
})

test('where they were is looked first, also after a while in which none came', async () => {
  const { add, ask, expected, looked } = makeWorkspace()
  const from = now - 30 * day
  await add(every(second, 200, now - 40 * minute))
  expect(await ask(from, now)).toEqual(expected(from, now))
  expect(looked).toHaveLength(1)
  const oldest = now - 40 * minute + 150 * second
  expect(await ask(from, now + second, now + second)).toEqual(expected(from, now + second))
  expect(looked).toEqual([{ start: oldest, end: now + second }])

  // Ten of them lie behind the range's end: as many more are before, with some to spare.
  const end = now - 40 * minute + 190 * second
  expect(await ask(from, end)).toEqual(expected(from, end))
  expect(looked).toEqual([{ start: oldest - 2 * 9 * second, end }])
})

test('of a busy workspace the last seconds are looked at, and more where there were fewer', async () => {
  const { add, ask, expected, looked } = makeWorkspace()
  const from = now - 30 * day
  await add(every(10, 600, now - 6 * second))
  await ask(from, now)
  expect(await ask(from, now + hour, now)).toEqual(expected(from, now + hour))
  expect(looked).toEqual([{ start: now - second / 2, end: now + hour }])

  await add(every(10, 600, now + minute))
  const later = now + minute + 6 * second
  expect(await ask(from, later, later)).toEqual(expected(from, later))
  expect(looked).toEqual([{ start: later - 10 * second, end: later }])
  // A range with few of them is all looked through, and says nothing of others.
  const [start, end] = [now - 6 * second, now - 6 * second + 100]
  expect(await ask(start, end)).toEqual(expected(start, end))
  expect(await ask(from, later, later)).toEqual(expected(from, later))
  expect(looked).toHaveLength(1)
})

test('a quiet present has the past looked through no further back than the hour that was enough for it', async () => {
  const { add, ask, expected, looked } = makeWorkspace()
  await add(every(minute, recentEventsMax, now - 55 * minute))
  await add(every(second, 2 * recentEventsMax, now - 10 * day))
  expect(await ask(now - 30 * day, now)).toEqual(expected(now - 30 * day, now))
  const end = now - 10 * day + 80 * second
  expect(await ask(now - 30 * day, end)).toEqual(expected(now - 30 * day, end))
  expect(looked).toEqual([{ start: end - hour, end }])
})
