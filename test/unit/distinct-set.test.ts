/** Sets that are counted together hold what their union holds, whether they are lists or registers. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DistinctSet, type SetKind } from '../../clickhouse/aggregates/distinct-set.ts'
import { seed } from '../support/short-form.ts'

/** Numbers as digests are: spread over 53 bits, the same for the same value. */
const digestOf = (value: number) => Number((BigInt(value + 1) * 0x9e3779b97f4a7c15n) & (2n ** 53n - 1n))
const setOf = (kind: SetKind, { from, count }: { from: number; count: number }) =>
  DistinctSet.of(
    kind,
    Array.from({ length: count }, (_, nth) => digestOf(from + nth)),
  )
const values = (counts: readonly number[]) =>
  fc.record({ from: fc.integer({ min: 0, max: 30_000 }), count: fc.constantFrom(...counts) })
const some = values([0, 1, 7, 300, 5_000, 9_000])
const many = values([20_000, 40_000])

test.each(['list', 'total'] as const)('%s: in any order', (kind) => {
  fc.assert(
    fc.property(fc.array(some, { minLength: 2, maxLength: 5 }), (spans) => {
      const sets = () => spans.map((span) => setOf(kind, span))
      const together = DistinctSet.countTogether(sets())
      expect(together).toBe(DistinctSet.union(sets()).count())
      expect(DistinctSet.countTogether(sets().reverse())).toBe(together)
    }),
    { seed, numRuns: 60 },
  )
})

test.each(['list', 'total'] as const)('%s: beside registers, to which some were added before', (kind) => {
  fc.assert(
    fc.property(fc.tuple(many, many), fc.array(some, { minLength: 1, maxLength: 4 }), (large, spans) => {
      const registers = DistinctSet.union(large.map((span) => setOf(kind, span)))
      const sets = () => spans.map((span) => setOf(kind, span))
      const together = DistinctSet.countTogether([registers, ...sets()])
      expect(DistinctSet.union([registers, ...sets()]).count()).toBe(together)
      const grown = sets().reduce((one, other) => DistinctSet.union([one, other]), registers)
      expect(grown.count()).toBe(together)
      expect(DistinctSet.countTogether([grown, ...sets()])).toBe(together)
    }),
    { seed, numRuns: 60 },
  )
})
