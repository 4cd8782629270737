/**
 * Sets of distinct values as ClickHouse's `uniqCombined(17)` and `uniqCombined64(19)` keep them, so that states read from
 * aggregates can be united with each other, and with the few rows that no aggregate has, without another statement.
 *
 * A state is a byte that says how it is kept, then: small (1) and medium (2): the number of hashes as a varint, then the
 * hashes, little-endian; large (3): a HyperLogLog's registers, packed bit by bit from the lowest, and a histogram of them.
 * A value's hash is the finalizer of MurmurHash3 over 64 bits, of which lists keep the lower 32. Its lowest bits choose a
 * register; the register keeps the greatest number of trailing zeros, plus one, of the others.
 * Values are added by their digests, which ClickHouse works out: the lower 53 bits of that hash, which a number holds.
 * test/integration/distinct-set.test.ts holds all of it to ClickHouse.
 */

import { readVarint } from '../row-binary.ts'
import { firstFrom } from './ascending.ts'
import {
  copyOf,
  countWith,
  greatest,
  type Hashes,
  noRegisters,
  type RegisterFormat,
  type Registers,
  raising,
  unpack,
  withAdded,
} from './hash-registers.ts'

export type SetKind = 'total' | 'list'

interface SetFormat extends RegisterFormat {
  /** Of more, registers are kept: they are added to in less time than it takes to put hashes in order. */
  readonly hashesMax: number
}

const formats: Readonly<Record<SetKind, SetFormat>> = {
  list: { hashBytes: 4, precision: 17, registerBits: 5, rankBits: 15, hashesMax: 2 ** 13 },
  total: { hashBytes: 8, precision: 19, registerBits: 6, rankBits: 45, hashesMax: 2 ** 14 },
}
const largeState = 3
/** Of more lists than these beside registers, or more hashes than are kept without, new registers are made. */
const addedListsMax = 16

/**
 * SQL of a 64-bit value's digest. The function is the finalizer of MurmurHash3 over its argument with a constant's bits
 * turned, which the sets leave out.
 */
export function digestSql(value: string): string {
  return `bitAnd(intHash64(bitXor(${value}, 0x4CF2D2BAAE6DA887)), 0x1FFFFFFFFFFFFF)`
}

/** Immutable. */
export class DistinctSet {
  readonly #format: SetFormat
  /**
   * Of those of 64 bits the lower 53, which a number holds: among the 16,000 at most of a state two that differ only in the
   * others turn up once in tens of millions of sets. Undefined where registers are kept.
   */
  #hashes: Hashes | undefined
  /** Whether they are in ascending order, each once. */
  #isSorted: boolean
  /** Several sets may have the same ones. */
  readonly #registers: Registers | undefined
  /** What isn't in the registers yet: to copy these for every few thousand hashes takes longer than to count them in. */
  readonly #added: readonly Hashes[]
  #count: number | undefined

  private constructor(
    format: SetFormat,
    kept: Hashes | Registers,
    { isSorted = false, added = [] }: { isSorted?: boolean; added?: readonly Hashes[] } = {},
  ) {
    this.#format = format
    this.#isSorted = isSorted
    this.#added = added
    if ('ranks' in kept) this.#registers = kept
    else this.#hashes = kept
  }

  /** Of values by their digests, each as often as it likes. */
  static of(kind: SetKind, digests: ArrayLike<number>): DistinctSet {
    const format = formats[kind]
    const hashes = emptyHashes(digests.length, format)
    // Of a number that is too large for its place the lower bits are kept.
    hashes.set(digests)
    return new DistinctSet(format, hashes)
  }

  /** @throws RangeError when it isn't one */
  static fromState(kind: SetKind, hex: string): DistinctSet {
    const format = formats[kind]
    const bytes = Buffer.from(hex, 'hex')
    const isLarge = bytes[0] === largeState
    return new DistinctSet(format, isLarge ? unpack(bytes.subarray(1), format) : hashesIn(bytes, format))
  }

  /** What some sets of one kind hold together, at least one. */
  static union(sets: readonly DistinctSet[]): DistinctSet {
    const [first] = sets
    if (sets.length === 1) return first!
    const format = first!.#format
    if (sets.every((set) => set.#registers === undefined)) {
      const merged = sets.map((set) => set.#sorted()).reduce((one, other) => mergeSorted(one, other, format))
      if (merged.length <= format.hashesMax) return new DistinctSet(format, merged, { isSorted: true })
      return new DistinctSet(format, withAdded(noRegisters(format), [merged], format))
    }
    const { registers, added } = DistinctSet.#partsOf(sets)
    const isMuch = added.length > addedListsMax || lengthOf(added) > format.hashesMax
    if (isMuch) return new DistinctSet(format, withAdded(copyOf(registers), added, format))
    // To be counted again and again with others: of a large set few are left.
    const left = added.map((hashes) => raising(registers, hashes, format)).filter(({ length }) => length > 0)
    return new DistinctSet(format, registers, { added: left })
  }

  /** How many distinct values some sets of one kind hold together, at least one: what they hold is not kept. */
  static countTogether(sets: readonly DistinctSet[]): number {
    const [first] = sets
    if (sets.length === 1) return first!.count()
    if (sets.every((set) => set.#registers === undefined)) return DistinctSet.#countLists(sets)
    const { registers, added } = DistinctSet.#partsOf(sets)
    return countWith(registers, added, first!.#format)
  }

  /** Of sets without registers: mostly one is large, and what the others add to it is few. */
  static #countLists(sets: readonly DistinctSet[]): number {
    const format = sets[0]!.#format
    const [largest, ...others] = sets.map((set) => set.#sorted()).sort((one, other) => other.length - one.length)
    const added = others.reduce((one, other) => mergeSorted(one, other, format))
    const count = largest!.length + countMissing(largest!, added)
    return count <= format.hashesMax ? count : DistinctSet.union(sets).count()
  }

  /** Of sets of which one has registers at least: what all of them hold. */
  static #partsOf(sets: readonly DistinctSet[]): { registers: Registers; added: Hashes[] } {
    const format = sets[0]!.#format
    const registers = sets
      .map((set) => set.#registers)
      .filter((registers) => registers !== undefined)
      .reduce((one, other) => greatest(one, other, format))
    return { registers, added: sets.flatMap((set) => (set.#hashes === undefined ? set.#added : [set.#hashes])) }
  }

  /** Exact as long as it has few hashes, and no state that it is made of had become large; else within half a per cent, as a rule. */
  count(): number {
    this.#count ??=
      this.#registers === undefined ? this.#sorted().length : countWith(this.#registers, this.#added, this.#format)
    return this.#count
  }

  /** What takes its memory, which other sets may share, with bytes; of registers with those of what they came to with others. */
  get memory(): readonly (readonly [object, number])[] {
    if (this.#registers === undefined) return [[this.#hashes!, this.#hashes!.byteLength]]
    const { ranks } = this.#registers
    return [[ranks, 2 * ranks.byteLength], ...this.#added.map((hashes) => [hashes, hashes.byteLength] as const)]
  }

  /** The hashes in ascending order, each once: put in order when that is asked for, which it mostly isn't. */
  #sorted(): Hashes {
    if (!this.#isSorted) {
      this.#hashes = withoutRepeats(this.#hashes!.sort())
      this.#isSorted = true
    }
    return this.#hashes!
  }
}

function emptyHashes(length: number, { hashBytes }: SetFormat): Hashes {
  return hashBytes === 4 ? new Uint32Array(length) : new Float64Array(length)
}

function withoutRepeats(sorted: Hashes): Hashes {
  let length = 0
  for (let at = 0; at < sorted.length; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[length++] = sorted[at]!
  }
  return sorted.slice(0, length)
}

/** Both in ascending order, each number once. */
function mergeSorted(one: Hashes, other: Hashes, format: SetFormat): Hashes {
  const merged = emptyHashes(one.length + other.length, format)
  let length = 0
  for (let at = 0, there = 0; at < one.length || there < other.length; length++) {
    const left = at < one.length ? one[at]! : Number.POSITIVE_INFINITY
    const right = there < other.length ? other[there]! : Number.POSITIVE_INFINITY
    merged[length] = Math.min(left, right)
    if (left <= right) at++
    if (right <= left) there++
  }
  return merged.subarray(0, length)
}

/** How many of some hashes, each there once, an ascending list doesn't have. */
function countMissing(sorted: Hashes, some: Hashes): number {
  let missing = 0
  for (const hash of some) if (sorted[firstFrom(sorted, hash)] !== hash) missing++
  return missing
}

function hashesIn(bytes: Buffer, format: SetFormat): Hashes {
  const { hashBytes } = format
  const [count, start] = readVarint(bytes, 1)
  const hashes = emptyHashes(count, format)
  for (let index = 0, at = start; index < count; index++, at += hashBytes) {
    const low = bytes.readUInt32LE(at)
    hashes[index] = hashBytes === 4 ? low : (bytes.readUInt32LE(at + 4) & 0x1f_ffff) * 2 ** 32 + low
  }
  return hashes
}

function lengthOf(lists: readonly Hashes[]): number {
  return lists.reduce((sum, { length }) => sum + length, 0)
}
