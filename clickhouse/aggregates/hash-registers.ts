/**
 * The registers of sets that are too large to keep hashes: HyperLogLog, as ClickHouse keeps it in the states that
 * distinct-set.ts describes.
 */

export interface RegisterFormat {
  readonly hashBytes: 4 | 8
  /** Bits of the hash that choose the register. */
  readonly precision: number
  readonly registerBits: number
  /** Bits of the hash that give the rank. */
  readonly rankBits: number
}

/** Those of 32 bits in four bytes each, others in eight. */
export type Hashes = Uint32Array | Float64Array

/** A byte each, and how many of them have each rank. */
export interface Registers {
  readonly ranks: Uint8Array
  readonly histogram: Uint32Array
}

export function unpack(packed: Buffer, { precision, registerBits, rankBits }: RegisterFormat): Registers {
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

export function noRegisters({ precision, rankBits }: RegisterFormat): Registers {
  const ranks = new Uint8Array(2 ** precision)
  const histogram = new Uint32Array(rankBits + 2)
  histogram[0] = ranks.length
  return { ranks, histogram }
}

export function copyOf({ ranks, histogram }: Registers): Registers {
  return { ranks: ranks.slice(), histogram: histogram.slice() }
}

/** What registers came to with others last: closed days with those that are open, mostly. */
const unions = new WeakMap<Registers, { readonly other: WeakRef<Registers>; readonly union: Registers }>()

/** Of each register the greater rank. */
export function greatest(one: Registers, other: Registers, { rankBits }: RegisterFormat): Registers {
  if (one === other) return one
  const known = unions.get(one)
  if (known?.other.deref() === other) return known.union
  const ranks = one.ranks.slice()
  for (let at = 0; at < ranks.length; at++) if (other.ranks[at]! > ranks[at]!) ranks[at] = other.ranks[at]!
  const histogram = new Uint32Array(rankBits + 2)
  for (let at = 0; at < ranks.length; at++) histogram[ranks[at]!]!++
  const union = { ranks, histogram }
  unions.set(one, { other: new WeakRef(other), union })
  return union
}

/** Changes the registers. */
export function withAdded(registers: Registers, added: readonly Hashes[], format: RegisterFormat): Registers {
  for (const hashes of added) addHashes(registers, hashes, format)
  return registers
}

/** Those of some hashes that change a register: the others never will, as ranks only grow. */
export function raising({ ranks }: Registers, hashes: Hashes, { precision, rankBits }: RegisterFormat): Hashes {
  const mask = 2 ** precision - 1
  return hashes.filter((hash) => rankOf(hash, precision, rankBits) > ranks[(hash >>> 0) & mask]!)
}

/** Registers that were changed, and the ranks that they had, the first `count` of each. */
interface Changes {
  registers: Uint32Array
  ranks: Uint8Array
  count: number
}

/** Of the last `countWith`, for the next one: to make room for each takes longer than to fill it. */
const changes: Changes = { registers: new Uint32Array(0), ranks: new Uint8Array(0), count: 0 }

/** How many values registers hold with hashes, which are added for that, and taken out at once. */
export function countWith({ ranks, histogram }: Registers, added: readonly Hashes[], format: RegisterFormat): number {
  const most = added.reduce((sum, { length }) => sum + length, 0)
  if (most > changes.registers.length) {
    changes.registers = new Uint32Array(2 * most)
    changes.ranks = new Uint8Array(2 * most)
  }
  changes.count = 0
  const registers = { ranks, histogram: histogram.slice() }
  for (const hashes of added) addHashes(registers, hashes, format, changes)
  for (let at = changes.count - 1; at >= 0; at--) ranks[changes.registers[at]!] = changes.ranks[at]!
  return Math.round(estimate(registers.histogram, format))
}

/** @param changes gets each register that changes, and the rank that it had; has room for all hashes */
function addHashes(
  { ranks, histogram }: Registers,
  hashes: Hashes,
  { precision, rankBits }: RegisterFormat,
  changes?: Changes,
): void {
  const mask = 2 ** precision - 1
  for (let at = 0; at < hashes.length; at++) {
    const hash = hashes[at]!
    // All arithmetic is over 32 bits, which take a fraction of the time, but for one hash in thousands.
    const low = hash >>> 0
    const register = low & mask
    const rank = rankOf(hash, precision, rankBits)
    const before = ranks[register]!
    if (rank <= before) continue
    if (changes !== undefined) {
      changes.registers[changes.count] = register
      changes.ranks[changes.count++] = before
    }
    ranks[register] = rank
    histogram[before]!--
    histogram[rank]!++
  }
}

function rankOf(hash: number, precision: number, rankBits: number): number {
  const tail = (hash >>> 0) >>> precision
  return tail === 0 ? rankAbove(hash, precision, rankBits) : trailingZeros(tail) + 1
}

/** Of a hash whose lower 32 bits choose a register, and are 0 else. */
function rankAbove(hash: number, precision: number, rankBits: number): number {
  const high = Math.floor(hash / 2 ** 32)
  return high === 0 ? rankBits + 1 : 32 - precision + trailingZeros(high) + 1
}

/** Of 32 bits that aren't all 0. */
function trailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}

/**
 * The improved raw estimator of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017),
 * algorithm 6: without tables of biases over the whole range. Of hashes of 32 bits, as many as share one are added.
 */
function estimate(ranks: Uint32Array, { hashBytes, rankBits, precision }: RegisterFormat): number {
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
