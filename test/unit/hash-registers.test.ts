import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  copyOf,
  countWith,
  type Hashes,
  noRegisters,
  type RegisterFormat,
  withAdded,
} from '../../clickhouse/aggregates/hash-registers.ts'

const formats: readonly RegisterFormat[] = [
  { hashBytes: 4, precision: 17, registerBits: 5, rankBits: 15 },
  { hashBytes: 8, precision: 19, registerBits: 6, rankBits: 45 },
]

/** Any bits, and often those of a rank that few hashes have: all zeros above the register. */
const anyHash = fc
  .tuple(
    fc.integer({ min: 0, max: 2 ** 21 - 1 }),
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.integer({ min: -34, max: 34 }),
  )
  .map(([high, low, zeros]) => {
    const bits = (BigInt(high) << 32n) | BigInt(low)
    return zeros < 0 ? bits : (((bits >> 19n) >> BigInt(zeros)) << BigInt(19 + zeros)) | (bits & 0x7ffffn)
  })

function hashesOf(bits: readonly bigint[], { hashBytes }: RegisterFormat): Hashes {
  return hashBytes === 4
    ? Uint32Array.from(bits, (hash) => Number(hash & 0xffff_ffffn))
    : Float64Array.from(bits, (hash) => Number(hash & 0x1f_ffff_ffff_ffffn))
}

/** As it is defined: of the bits above the register, the number of trailing zeros, plus one. */
function rankOf(hash: number, { precision, rankBits }: RegisterFormat): number {
  const tail = BigInt(hash) >> BigInt(precision)
  if (tail === 0n) return rankBits + 1
  return tail.toString(2).length - tail.toString(2).lastIndexOf('1')
}

test.each(formats)('registers of $hashBytes bytes keep the greatest rank of what is added', (format) => {
  fc.assert(
    fc.property(fc.array(anyHash, { maxLength: 40 }), (bits) => {
      const hashes = hashesOf(bits, format)
      const { ranks, histogram } = withAdded(noRegisters(format), [hashes], format)
      const expected = new Map<number, number>()
      for (const hash of hashes) {
        const register = Number(BigInt(hash) & (2n ** BigInt(format.precision) - 1n))
        expected.set(register, Math.max(expected.get(register) ?? 0, rankOf(hash, format)))
      }
      for (const [register, rank] of expected) expect(ranks[register]).toBe(rank)
      expect(histogram[0]).toBe(ranks.length - expected.size)
      for (const rank of new Set(expected.values())) {
        expect(histogram[rank]).toBe([...expected.values()].filter((one) => one === rank).length)
      }
    }),
    { numRuns: 50 },
  )
})

test.each(formats)('registers of $hashBytes bytes are counted with more, and stay as they were', (format) => {
  fc.assert(
    fc.property(fc.array(anyHash, { maxLength: 2_000 }), fc.array(anyHash, { maxLength: 2_000 }), (some, more) => {
      const registers = withAdded(noRegisters(format), [hashesOf(some, format)], format)
      const before = copyOf(registers)
      const added = [hashesOf(more, format), hashesOf(some, format), hashesOf(more.slice(1), format)]
      const count = countWith(registers, added, format)
      expect(Buffer.compare(registers.ranks, before.ranks)).toBe(0)
      expect(registers.histogram).toEqual(before.histogram)
      expect(count).toBe(countWith(withAdded(before, added, format), [], format))
    }),
    { numRuns: 20 },
  )
})
