/** Sets that are read from ClickHouse's states, united and added to here, hold what ClickHouse would say they hold. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DistinctSet, digestSql, type SetKind } from '../../clickhouse/aggregates/distinct-set.ts'
import { setFunction } from '../../clickhouse/aggregates/tables.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

/** As hashes are: spread over all 64 bits. */
const spread = 'toUInt64(number) * 11400714819323198485'

async function stateOf(kind: SetKind, from: number, count: number): Promise<DistinctSet> {
  const [row] = await stores.ch.query<{ state: string }>(
    `SELECT hex(${setFunction(kind, 'State')}(${spread})) AS state FROM numbers({from:UInt64}, {count:UInt64})`,
    { from, count },
  )
  return DistinctSet.fromState(kind, row!.state)
}

/** The same values, by their digests. */
async function added(kind: SetKind, from: number, count: number, step = 1): Promise<DistinctSet> {
  const rows = await stores.ch.query<{ digest: number }>(
    `SELECT ${digestSql('value')} AS digest FROM (SELECT ${spread} AS value FROM numbers({from:UInt64}, {count:UInt64})
     WHERE (number - {from:UInt64}) % {step:UInt64} = 0)`,
    { from, count, step },
    { isLong: true },
  )
  return DistinctSet.of(
    kind,
    rows.map(({ digest }) => digest),
  )
}

/** Whether what they hold together is kept or not. */
function sizeOf(...sets: DistinctSet[]): number {
  const together = DistinctSet.countTogether(sets)
  expect(DistinctSet.union(sets).count()).toBe(together)
  // Counting has changed none of them.
  expect(DistinctSet.countTogether(sets)).toBe(together)
  return together
}

describe.each(['list', 'total'] as const)('%s', (kind) => {
  test.each([0, 1, 2, 16, 17, 200, 8_000])('%i values are counted exactly, whoever adds them', async (count) => {
    const read = await stateOf(kind, 0, count)
    expect(read.count()).toBe(count)
    // The same hashes: none is new.
    expect(sizeOf(read, await added(kind, 0, count))).toBe(count)
    expect(sizeOf(read, await added(kind, Math.floor(count / 2), count))).toBe(count + Math.floor(count / 2))
    expect(read.count()).toBe(count)
  })

  test.each([20_000, 70_000, 300_000, 2_000_000])('%i are estimated, with the same registers', async (count) => {
    const read = await stateOf(kind, 0, count)
    const estimated = read.count()
    expect(Math.abs(estimated - count) / count).toBeLessThan(0.01)
    // What is in it already changes no register, however it comes, in whatever order.
    const within = [await added(kind, 0, count, 97), await stateOf(kind, 0, 15_000), await added(kind, 500, 3_000)]
    expect(sizeOf(read, ...within)).toBe(estimated)
    expect(sizeOf(...within, read)).toBe(estimated)

    const more = sizeOf(await added(kind, count - 1_000, 3_000), read)
    expect(more).toBeGreaterThan(estimated)
    expect(Math.abs(more - (count + 2_000)) / count).toBeLessThan(0.01)
  })

  test('what is added little by little comes to what is added at once, beside registers that others have too', async () => {
    const read = await stateOf(kind, 0, 70_000)
    const steps = await Promise.all(Array.from({ length: 40 }, (_, nth) => added(kind, 69_500 + nth * 800, 1_000)))
    let grown = read
    for (const [nth, step] of steps.entries()) {
      const before = grown.count()
      grown = DistinctSet.union([grown, step])
      expect(grown.count()).toBe(sizeOf(read, ...steps.slice(0, nth + 1)))
      expect(grown.count()).toBeGreaterThan(before)
    }
    const other = await stateOf(kind, 90_000, 50_000)
    expect(sizeOf(grown, other)).toBe(sizeOf(read, other, ...steps))
    expect(sizeOf(other, grown, read)).toBe(sizeOf(read, other, ...steps))
    // With others in between, and one that is counted by itself, whose values come again and again.
    const third = await stateOf(kind, 300_000, 40_000)
    const withOther = sizeOf(read, other)
    expect(sizeOf(read, third)).toBe(sizeOf(third, read))
    expect(sizeOf(read, third)).not.toBe(withOther)
    expect(sizeOf(read, other)).toBe(withOther)
    const repeated = DistinctSet.of(
      kind,
      [9, 3, 9, 7, 3, 3, 1].map((value) => value * 1_000_003 + 17),
    )
    const some = DistinctSet.union([read, repeated])
    const before = [some.count(), sizeOf(read, other, repeated)]
    expect(repeated.count()).toBe(4)
    expect([DistinctSet.union([read, repeated]).count(), sizeOf(some, other)]).toEqual(before)
    // All of it is still what it was.
    expect(sizeOf(read, ...steps)).toBe(grown.count())
    expect(sizeOf(read, steps[0]!)).toBeLessThan(grown.count())
  })

  test('united states estimate what ClickHouse does', async () => {
    const size = sizeOf(await stateOf(kind, 0, 60_000), await stateOf(kind, 40_000, 60_000))
    const [row] = await stores.ch.query<{ merged: number }>(
      `SELECT ${setFunction(kind, 'Merge')}(state) AS merged FROM (
         SELECT ${setFunction(kind, 'State')}(${spread}) AS state FROM numbers(100000) GROUP BY number % 2)`,
    )
    expect(Math.abs(size - row!.merged) / row!.merged).toBeLessThan(0.004)
  })
})

test('half a state is refused', async () => {
  const [row] = await stores.ch.query<{ state: string }>(
    `SELECT hex(${setFunction('list', 'State')}(number)) AS state FROM numbers(20000)`,
  )
  expect(() => DistinctSet.fromState('list', row!.state.slice(0, 4_000))).toThrow(RangeError)
  expect(() => DistinctSet.fromState('list', '021000')).toThrow(RangeError)
})
