/** How the aggregator divides and merges its work. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextBlock } from '../../pipeline/aggregate/block-plan.ts'
import { nextMerge, unmergedNewest } from '../../pipeline/aggregate/merge-plan.ts'
import { type DeltaDay, dividePieces } from '../../pipeline/aggregate/pieces.ts'
import { planRecompute } from '../../pipeline/aggregate/recompute-plan.ts'
import type { AggregationState, StoredGeneration } from '../../postgres/tables/aggregates.ts'
import type { LiveBlock } from '../../schemas/aggregate-snapshot.ts'
import { aggregateDayQuietMs, aggregateMergeWidth, aggregateMonthDays } from '../../schemas/limits.ts'

const dayMs = 86_400_000

describe('pieces of a delta', () => {
  const days = fc.uniqueArray(
    fc.record({
      day: fc.integer({ min: 100, max: 140 }),
      rows: fc.integer({ min: 1, max: 30 }),
      first: fc.integer({ min: 0, max: 23 }),
      last: fc.integer({ min: 0, max: 23 }),
    }),
    { selector: ({ day }) => day, minLength: 1, maxLength: 12 },
  )

  test('write every hour that a new row can change exactly once, and no day without rows', () => {
    const division = fc.record({
      days,
      hoursBefore: fc.constantFrom(0, 24),
      hoursAfter: fc.constantFrom(0, 24, 720),
      gapMax: fc.constantFrom(0, 48, Number.POSITIVE_INFINITY),
      rowsMax: fc.integer({ min: 1, max: 60 }),
      live: fc.uniqueArray(fc.integer({ min: 95, max: 175 }), { maxLength: 20 }),
    })
    fc.assert(
      fc.property(division, ({ days: drawn, live, ...rest }) => {
        const delta = drawn
          .map(({ day, rows, first, last }): DeltaDay => {
            const [firstHour, lastHour] = [day * 24 + Math.min(first, last), day * 24 + Math.max(first, last)]
            return { day, rows, firstHour, lastHour, lastAt: 0 }
          })
          .sort((a, b) => a.day - b.day)
        const known = new Set([...live, ...delta.map(({ day }) => day)])
        const written = new Map<number, number>()
        for (const { hours, part } of dividePieces({ days: delta, liveDays: new Set(live), ...rest })) {
          for (let hour = hours.start; hour < hours.end; hour++) {
            written.set(hour, (written.get(hour) ?? 0) + 1 / (part?.of ?? 1))
          }
        }
        for (const times of written.values()) expect(times).toBeCloseTo(1)
        for (const { firstHour, lastHour } of delta) {
          for (let hour = firstHour - rest.hoursBefore; hour <= lastHour + rest.hoursAfter; hour++) {
            if (known.has(Math.floor(hour / 24))) expect(written.has(hour)).toBe(true)
          }
        }
      }),
    )
  })

  test('take days that nothing is known of from scratch only where all of the piece is', () => {
    const delta = [100, 101, 102].map((day) => ({
      day,
      rows: 20,
      firstHour: day * 24,
      lastHour: day * 24 + 23,
      lastAt: 0,
    }))
    const pieces = dividePieces({
      days: delta,
      liveDays: new Set([101]),
      hoursBefore: 0,
      hoursAfter: 0,
      gapMax: 48,
      rowsMax: 100,
    })
    expect(pieces.map(({ hours, isNew }) => [hours.start / 24, hours.end / 24, isNew])).toEqual([
      [100, 101, true],
      [101, 102, false],
      [102, 103, true],
    ])
  })
})

const generation = (number: number, day: number, more: Partial<StoredGeneration> = {}): StoredGeneration => ({
  generation: number * 65_536 + day,
  day,
  level: 0,
  isWhole: false,
  lastAt: 0,
  newest: number,
  parts: 1,
  writtenAt: 0,
  ...more,
})
const state = (generations: StoredGeneration[], now: number): AggregationState => ({
  revision: 1,
  committedAt: 0,
  now,
  aggregated: [],
  shipped: [],
  generations,
  blocks: [],
  resets: [],
  repairs: [],
})

describe('merges', () => {
  const noon = 100 * dayMs + dayMs / 2

  test('take so many of one level, the present day first', () => {
    const small = Array.from({ length: aggregateMergeWidth + unmergedNewest }, (_, at) => [
      generation(at, 99),
      generation(at, 100),
    ]).flat()
    expect(nextMerge(state(small, noon), true)).toMatchObject({ day: 100, level: 1, isWhole: false })
    expect(nextMerge(state(small.slice(2), noon), true)).toMatchObject({ day: 99, isWhole: true })
  })

  test('leave the newest as they are, whatever came of those before: who knows all but these knows what is merged', () => {
    let day: StoredGeneration[] = []
    const levels = new Set<number>()
    for (let number = 1; number <= 2 * aggregateMergeWidth ** 2; number++) {
      day.push(generation(number, 100))
      for (let merge = nextMerge(state(day, noon), true); merge; merge = nextMerge(state(day, noon), true)) {
        const { from, level } = merge
        const newest = Math.max(...from.map((one) => one.newest))
        expect(newest).toBeLessThanOrEqual(number - unmergedNewest)
        day = day.filter((one) => !from.includes(one))
        day.push(generation(newest, 100, { level, parts: from.reduce((sum, { parts }) => sum + parts, 0) }))
        levels.add(level)
      }
      expect(day.length).toBeLessThan(3 * aggregateMergeWidth + unmergedNewest)
    }
    expect([...levels]).toEqual([1, 2])
  })

  test('make a day whole two hours after its end, once all rows are taken up, and again when late rows have ceased', () => {
    const parts = [generation(1, 99), generation(2, 99)]
    expect(nextMerge(state(parts, 100 * dayMs + 3_600_000), true)).toBeUndefined()
    expect(nextMerge(state(parts, noon), false)).toBeUndefined()
    expect(nextMerge(state(parts, noon), true)).toMatchObject({ day: 99, isWhole: true, from: parts })
    const whole = generation(3, 99, { isWhole: true, level: 1 })
    expect(nextMerge(state([whole], noon), true)).toBeUndefined()
    const late = generation(4, 99, { writtenAt: noon })
    expect(nextMerge(state([whole, late], noon), true)).toBeUndefined()
    expect(nextMerge(state([whole, late], noon + aggregateDayQuietMs), true)).toMatchObject({ from: [whole, late] })
  })
})

describe('blocks', () => {
  const whole = (day: number) => generation(1, day, { isWhole: true })
  const soonAfter = (day: number) => (day + 1) * dayMs + 3 * 3_600_000

  test('are made of days that are over and whole, once; days without events are no obstacle', () => {
    const days = [100, 101, 103].map(whole)
    expect(nextBlock(state(days, soonAfter(102)))?.days).toBe(aggregateMonthDays)
    expect(nextBlock(state([...days, generation(2, 102)], soonAfter(103)))).toBeUndefined()
    const block = nextBlock(state(days, soonAfter(103)))!
    expect(block).toMatchObject({ firstDay: 100, days: 4, from: days.map(({ generation }) => generation) })
    const made = { ...block, generation: 9 }
    expect(nextBlock({ ...state(days, soonAfter(103)), blocks: [made] })).toBeUndefined()
    expect(nextBlock(state([whole(100)], soonAfter(103)))).toBeUndefined()
  })

  test('are made of smaller ones', () => {
    const days = Array.from({ length: 9 }, (_, at) => whole(96 + at))
    const blocks = [96, 100].map((firstDay) => ({ generation: firstDay, firstDay, days: 4 }))
    expect(nextBlock({ ...state(days, soonAfter(111)), blocks })).toMatchObject({
      firstDay: 96,
      days: 16,
      from: [96, 100, days[8]!.generation],
    })
  })

  test('are also one of the last weeks, in the place of that of the day before', () => {
    const days = Array.from({ length: 40 }, (_, at) => whole(96 + at))
    const blocks: LiveBlock[] = []
    const make = (now: number) => {
      for (let block = nextBlock({ ...state(days, now), blocks }); block; ) {
        blocks.push({ ...block, generation: 1000 + blocks.length })
        const { replaced } = block
        blocks.splice(0, blocks.length, ...blocks.filter(({ generation }) => !replaced.includes(generation)))
        block = nextBlock({ ...state(days, now), blocks })
      }
      return blocks.filter((one) => one.days === aggregateMonthDays).map(({ firstDay }) => firstDay)
    }
    expect(make(soonAfter(130))).toEqual([131 - aggregateMonthDays])
    expect(make(soonAfter(131))).toEqual([132 - aggregateMonthDays])
    expect(make(soonAfter(131) - 2 * 3_600_000)).toEqual([131 - aggregateMonthDays])
  })
})

test('a repair computes a day to both sides anew, and the credits of the next 30 days', () => {
  const { units, wholeDays, corrections } = planRecompute([], [{ workspaceId: 7, hour: 1000 }], { dayKeys: 500 })
  expect(units.map(({ hours }) => hours)).toEqual([{ start: 976, end: 1025 }])
  expect(units[0]!.keys).toHaveLength(49)
  expect(wholeDays).toEqual([])
  expect(corrections).toEqual({ spans: [{ start: 976, end: 1000 + 721 }], workspaceIds: [7] })
})

test('many hours of a day are computed as a whole day, and its credits with it', () => {
  const { units, wholeDays, corrections } = planRecompute([], [{ workspaceId: 7, hour: 1000 }], { dayKeys: 20 })
  expect(wholeDays).toEqual([41])
  expect(units[0]).toEqual({ hours: { start: 984, end: 1008 }, keys: undefined })
  expect(corrections.spans).toEqual([
    { start: 976, end: 984 },
    { start: 1008, end: 1721 },
  ])
})
