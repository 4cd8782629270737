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
}

const formats: Readonly<Record<SetKind, SetFormat>> = {
  list: { hashBytes: 4, precision: 17, registerBits: 5, rankBits: 15 },
  total: { hashBytes: 8, precision: 19, registerBits: 6, rankBits: 45 },
}
const largeState = 3

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
   * In ascending order, each once; of those of 64 bits the lower 53, which a number holds: among the 16,000 at most of a
   * state two that differ only in the others turn up once in tens of millions of sets. Undefined where registers are kept.
   */
  readonly #hashes: Float64Array | undefined
  readonly #registers: Uint8Array | undefined
  #count: number | undefined

  private constructor(format: SetFormat, kept: Float64Array | Uint8Array) {
    this.#format = format
    if (kept instanceof Float64Array) this.#hashes = kept
    else this.#registers = kept
  }

  /** Of values by their digests, each as often as it likes. */
  static of(kind: SetKind, digests: Iterable<number>): DistinctSet {
    const format = formats[kind]
    const hashes = new Set<number>()
    for (const digest of digests) hashes.add(format.hashBytes === 4 ? digest >>> 0 : digest)
    return new DistinctSet(format, Float64Array.from(hashes).sort())
  }

  /** @throws RangeError when it isn't one */
  static fromState(kind: SetKind, hex: string): DistinctSet {
    const format = formats[kind]
    const bytes = Buffer.from(hex, 'hex')
    const isLarge = bytes[0] === largeState
    return new DistinctSet(format, isLarge ? unpack(bytes.subarray(1), format) : hashesIn(bytes, format).sort())
  }

  /** What some sets of one kind hold together, at least one. */
  static union(sets: readonly DistinctSet[]): DistinctSet {
    const [first] = sets
    if (sets.length === 1) return first!
    const exact = sets.map((set) => set.#hashes).filter((hashes) => hashes !== undefined)
    const large = sets.map((set) => set.#registers).filter((registers) => registers !== undefined)
    if (large.length === 0) return new DistinctSet(first!.#format, exact.reduce(mergeSorted))
    const registers = large[0]!.slice()
    for (const others of large.slice(1)) {
      for (let at = 0; at < registers.length; at++) if (others[at]! > registers[at]!) registers[at] = others[at]!
    }
    for (const hashes of exact) for (const hash of hashes) setRegister(registers, hash, first!.#format)
    return new DistinctSet(first!.#format, registers)
  }

  /** Exact as long as no state that it is made of had become large; else within half a per cent, as a rule. */
  count(): number {
    this.#count ??= this.#hashes?.length ?? Math.round(estimate(this.#registers!, this.#format))
    return this.#count
  }

  /** Bytes of memory. */
  get size(): number {
    return (this.#registers ?? this.#hashes!).byteLength
  }
}

/** Both in ascending order, each number once. */
function mergeSorted(one: Float64Array, other: Float64Array): Float64Array {
  const merged = new Float64Array(one.length + other.length)
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

function hashesIn(bytes: Buffer, { hashBytes }: SetFormat): Float64Array {
  let at = 1
  let count = 0
  for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
    byte = bytes.readUInt8(at++)
    count += (byte & 0x7f) * 2 ** shift
  }
  const hashes = new Float64Array(count)
  for (let index = 0; index < count; index++, at += hashBytes) {
    const low = bytes.readUInt32LE(at)
    hashes[index] = hashBytes === 4 ? low : (bytes.readUInt32LE(at + 4) & 0x1f_ffff) * 2 ** 32 + low
  }
  return hashes
}

/** One byte a register. */
function unpack(packed: Buffer, { precision, registerBits }: SetFormat): Uint8Array {
  const registers = new Uint8Array(2 ** precision)
  if (packed.length < (registers.length * registerBits) / 8) throw new RangeError('a state of a set is cut short')
  const mask = 2 ** registerBits - 1
  for (let at = 0, bit = 0; at < registers.length; at++, bit += registerBits) {
    const byte = bit >> 3
    const pair = packed[byte]! | ((packed[byte + 1] ?? 0) << 8)
    registers[at] = (pair >> (bit & 7)) & mask
  }
  return registers
}

function setRegister(registers: Uint8Array, hash: number, { precision, rankBits }: SetFormat): void {
  const size = 2 ** precision
  const register = hash % size
  const tail = Math.floor(hash / size)
  const rank = tail === 0 ? rankBits + 1 : trailingZeros(tail) + 1
  if (rank > registers[register]!) registers[register] = rank
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
function estimate(registers: Uint8Array, { hashBytes, rankBits }: SetFormat): number {
  const ranks = new Uint32Array(rankBits + 2)
  for (let at = 0; at < registers.length; at++) ranks[registers[at]!]!++
  const size = registers.length
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
