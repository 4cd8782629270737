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

export type SetKind = 'total' | 'list'

interface SetFormat {
  readonly hashBytes: 4 | 8
  /** Bits of the hash that choose the register. */
  readonly precision: number
  readonly registerBits: number
  /** Bits of the hash that give the rank. */
  readonly rankBits: number
  /** Of more, registers are kept: they are added to in less time than it takes to put hashes in order. */
  readonly hashesMax: number
}

const formats: Readonly<Record<SetKind, SetFormat>> = {
  list: { hashBytes: 4, precision: 17, registerBits: 5, rankBits: 15, hashesMax: 2 ** 13 },
  total: { hashBytes: 8, precision: 19, registerBits: 6, rankBits: 45, hashesMax: 2 ** 14 },
}
const largeState = 3

/**
 * SQL of a 64-bit value's digest. The function is the finalizer of MurmurHash3 over its argument with a constant's bits
 * turned, which the sets leave out.
 */
export function digestSql(value: string): string {
  return `bitAnd(intHash64(bitXor(${value}, 0x4CF2D2BAAE6DA887)), 0x1FFFFFFFFFFFFF)`
}

/** Those of 32 bits in four bytes each, others in eight. */
type Hashes = Uint32Array | Float64Array

/** Registers of a set that is too large to keep hashes, a byte each, and how many of them have each rank. */
interface Registers {
  readonly ranks: Uint8Array
  readonly histogram: Uint32Array
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
  readonly #registers: Registers | undefined
  #count: number | undefined

  private constructor(format: SetFormat, kept: Hashes | Registers, isSorted = false) {
    this.#format = format
    this.#isSorted = isSorted
    if ('ranks' in kept) this.#registers = kept
    else this.#hashes = kept
  }

  /** Of values by their digests, each as often as it likes. */
  static of(kind: SetKind, digests: readonly number[]): DistinctSet {
    const format = formats[kind]
    const hashes = noHashes(digests.length, format)
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
    const large = sets.map((set) => set.#registers).filter((registers) => registers !== undefined)
    const exact = sets.filter((set) => set.#registers === undefined)
    if (large.length === 0) {
      const merged = exact.map((set) => set.#sorted()).reduce((one, other) => mergeSorted(one, other, format))
      if (merged.length <= format.hashesMax) return new DistinctSet(format, merged, true)
      const registers = noRegisters(format)
      addHashes(registers, merged, format)
      return new DistinctSet(format, registers)
    }
    const registers = large.length === 1 ? copyOf(large[0]!) : greatest(large, format)
    for (const set of exact) addHashes(registers, set.#hashes!, format)
    return new DistinctSet(format, registers)
  }

  /** How many distinct values some sets of one kind hold together, at least one: what they hold is not kept. */
  static countTogether(sets: readonly DistinctSet[]): number {
    const [large, ...others] = sets.filter((set) => set.#registers !== undefined)
    if (sets.length === 1 || large === undefined || others.length > 0) return DistinctSet.union(sets).count()
    return large.#countWith(sets.filter((set) => set !== large))
  }

  /** Exact as long as it has few hashes, and no state that it is made of had become large; else within half a per cent, as a rule. */
  count(): number {
    this.#count ??=
      this.#registers === undefined
        ? this.#sorted().length
        : Math.round(estimate(this.#registers.histogram, this.#format))
    return this.#count
  }

  /**
   * With hashes added to its registers, which are put back at once: to copy half a million of them for every count takes
   * longer than to add a few thousand.
   */
  #countWith(sets: readonly DistinctSet[]): number {
    const { ranks, histogram } = this.#registers!
    const changed: number[] = []
    const registers = { ranks, histogram: histogram.slice() }
    for (const set of sets) addHashes(registers, set.#hashes!, this.#format, changed)
    for (let at = changed.length - 2; at >= 0; at -= 2) ranks[changed[at]!] = changed[at + 1]!
    return Math.round(estimate(registers.histogram, this.#format))
  }

  /** Bytes of memory. */
  get size(): number {
    return (this.#registers?.ranks ?? this.#hashes!).byteLength
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

function noHashes(length: number, { hashBytes }: SetFormat): Hashes {
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
  const merged = noHashes(one.length + other.length, format)
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

function hashesIn(bytes: Buffer, format: SetFormat): Hashes {
  const { hashBytes } = format
  let at = 1
  let count = 0
  for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
    byte = bytes.readUInt8(at++)
    count += (byte & 0x7f) * 2 ** shift
  }
  const hashes = noHashes(count, format)
  for (let index = 0; index < count; index++, at += hashBytes) {
    const low = bytes.readUInt32LE(at)
    hashes[index] = hashBytes === 4 ? low : (bytes.readUInt32LE(at + 4) & 0x1f_ffff) * 2 ** 32 + low
  }
  return hashes
}

function unpack(packed: Buffer, { precision, registerBits, rankBits }: SetFormat): Registers {
  const ranks = new Uint8Array(2 ** precision)
  if (packed.length < (ranks.length * registerBits) / 8) throw new RangeError('a state of a set is cut short')
  const histogram = new Uint32Array(rankBits + 2)
  const mask = 2 ** registerBits - 1
  // Eight registers at a time fill whole bytes.
  for (let at = 0, from = 0; at < ranks.length; from += registerBits) {
    for (let bit = 0; bit < 8 * registerBits; bit += registerBits, at++) {
      const byte = from + (bit >> 3)
      const rank = ((packed[byte]! | (packed[byte + 1]! << 8)) >> (bit & 7)) & mask
      ranks[at] = rank
      histogram[rank]!++
    }
  }
  return { ranks, histogram }
}

function noRegisters({ precision, rankBits }: SetFormat): Registers {
  const ranks = new Uint8Array(2 ** precision)
  const histogram = new Uint32Array(rankBits + 2)
  histogram[0] = ranks.length
  return { ranks, histogram }
}

function copyOf({ ranks, histogram }: Registers): Registers {
  return { ranks: ranks.slice(), histogram: histogram.slice() }
}

/** Of each register the greatest rank that one of the sets has. */
function greatest(sets: readonly Registers[], { rankBits }: SetFormat): Registers {
  const ranks = sets[0]!.ranks.slice()
  for (const { ranks: others } of sets.slice(1)) {
    for (let at = 0; at < ranks.length; at++) if (others[at]! > ranks[at]!) ranks[at] = others[at]!
  }
  const histogram = new Uint32Array(rankBits + 2)
  for (let at = 0; at < ranks.length; at++) histogram[ranks[at]!]!++
  return { ranks, histogram }
}

/** @param changed gets each register that changes, and the rank that it had */
function addHashes(
  { ranks, histogram }: Registers,
  hashes: Hashes,
  { precision, rankBits }: SetFormat,
  changed?: number[],
): void {
  const size = 2 ** precision
  for (const hash of hashes) {
    // The operator takes the lower 32 bits, also of what is larger.
    const register = hash & (size - 1)
    const tail = (hash - register) / size
    const rank = tail === 0 ? rankBits + 1 : trailingZeros(tail) + 1
    const before = ranks[register]!
    if (rank <= before) continue
    changed?.push(register, before)
    ranks[register] = rank
    histogram[before]!--
    histogram[rank]!++
  }
}

/** Of a number below 2^53 that isn't 0. */
function trailingZeros(number: number): number {
  const low = number >>> 0
  if (low === 0) return 32 + trailingZeros(number / 2 ** 32)
  return 31 - Math.clz32(low & -low)
}

/**
 * The improved raw estimator of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017),
 * algorithm 6: without tables of biases over the whole range. Of hashes of 32 bits, as many as share one are added.
 */
function estimate(ranks: Uint32Array, { hashBytes, rankBits, precision }: SetFormat): number {
  const size = 2 ** precision
  let sum = size * tau(1 - ranks[rankBits + 1]! / size)
  for (let rank = rankBits; rank >= 1; rank--) sum = 0.5 * (sum + ranks[rank]!)
  sum += size * sigma(ranks[0]! / size)
  const hashes = size ** 2 / (2 * Math.LN2 * sum)
  return hashBytes === 4 ? -(2 ** 32) * Math.log1p(-Math.min(hashes / 2 ** 32, 0.999)) : hashes
}

function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY
  let power = share
  let weight = 1
  let sum = share
  for (let before = -1; sum !== before; ) {
    power *= power
    before = sum
    sum += power * weight
    weight += weight
  }
  return sum
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0
  let root = share
  let weight = 1
  let sum = 1 - share
  for (let before = -1; sum !== before; ) {
    root = Math.sqrt(root)
    before = sum
    weight *= 0.5
    sum -= (1 - root) ** 2 * weight
  }
  return sum / 3
}
