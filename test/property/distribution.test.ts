/** A distribution says of samples what a sorted list of them says. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Distribution } from '../../clickhouse/aggregates/distribution.ts'

const samples = fc.array(fc.nat({ max: 40 }).map((value) => value * 12_500))

test('it has each value once, with how often it occurs', () => {
  fc.assert(
    fc.property(samples, (values) => {
      const distribution = Distribution.of(values)
      const distinct = [...new Set(values)].sort((one, other) => one - other)
      expect(distribution.pairs).toEqual(
        distinct.map((value) => [value, values.filter((other) => other === value).length]),
      )
      expect(distribution.count).toBe(values.length)
    }),
  )
})

test('several come to that of all their samples', () => {
  fc.assert(
    fc.property(fc.array(samples, { minLength: 1, maxLength: 5 }), (lists) => {
      const sum = Distribution.sum(lists.map((values) => Distribution.of(values)))
      expect(sum.pairs).toEqual(Distribution.of(lists.flat()).pairs)
      expect(sum.count).toBe(lists.flat().length)
    }),
  )
})

test('pairs may name a value several times', () => {
  fc.assert(
    fc.property(samples, (values) => {
      const pairs = values.toSorted((one, other) => one - other).map((value) => [value, 1] as const)
      expect(Distribution.fromPairs(pairs).pairs).toEqual(Distribution.of(values).pairs)
    }),
  )
})

test('a quantile lies between the samples on both sides of its place', () => {
  fc.assert(
    fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), (values, level) => {
      fc.pre(values.length > 0)
      const sorted = values.toSorted((one, other) => one - other)
      const place = (sorted.length - 1) * level
      const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
      expect(Distribution.of(values).quantile(level)).toBeCloseTo(below + (above - below) * (place % 1), 6)
    }),
  )
  expect(Distribution.of([]).quantile(0.75)).toBeNaN()
})

test('samples up to a limit are counted, the limit among them', () => {
  fc.assert(
    fc.property(samples, fc.nat({ max: 40 }), (values, step) => {
      const limit = step * 12_500
      expect(Distribution.of(values).countUpTo(limit)).toBe(values.filter((value) => value <= limit).length)
    }),
  )
})
