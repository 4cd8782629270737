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

/** What `countWith` changed: registers, and the ranks that they had. It grows; nobody else has it meanwhile. */
let changedRegisters = new Uint32Array(2 ** 10)
let ranksBefore = new Uint8Array(2 ** 10)

/** How many values registers hold with hashes, which are added for that, and taken out at once. */
export function countWith({ ranks, histogram }: Registers, added: readonly Hashes[], format: RegisterFormat): number {
  const most = added.reduce((sum, { length }) => sum + length, 0)
  if (most > changedRegisters.length) {
    changedRegisters = new Uint32Array(2 * most)
    ranksBefore = new Uint8Array(2 * most)
  }
  const registers = { ranks, histogram: histogram.slice() }
  let changes = 0
  for (const hashes of added) changes = addHashes(registers, hashes, format, changes)
  while (changes-- > 0) ranks[changedRegisters[changes]!] = ranksBefore[changes]!
  return Math.round(estimate(registers.histogram, format))
}

/**
 * Notes each register that changes, with the rank that it had, from number `changes` on, where that is given.
 * @returns the number after the last one
 */
function addHashes(registers: Registers, hashes: Hashes, format: RegisterFormat, changes?: number): number {
  // Apart, so that either loop sees numbers of one kind.
  return hashes instanceof Uint32Array
    ? addShort(registers, hashes, format, changes)
    : addLong(registers, hashes, format, changes)
}

/** Hashes of 32 bits. */
function addShort(
  { ranks, histogram }: Registers,
  hashes: Uint32Array,
  { precision, rankBits }: RegisterFormat,
  changes = -1,
): number {
  const mask = 2 ** precision - 1
  for (let at = 0; at < hashes.length; at++) {
    const hash = hashes[at]!
    const tail = hash >>> precision
    const rank = tail === 0 ? rankBits + 1 : trailingZeros(tail) + 1
    const before = ranks[hash & mask]!
    if (rank <= before) continue
    if (changes >= 0) {
      changedRegisters[changes] = hash & mask
      ranksBefore[changes++] = before
    }
    ranks[hash & mask] = rank
    histogram[before]!--
    histogram[rank]!++
  }
  return changes
}

/** Hashes of more bits, of which the lower 53 are given. */
function addLong(
  { ranks, histogram }: Registers,
  hashes: Float64Array,
  { precision, rankBits }: RegisterFormat,
  changes = -1,
): number {
  const mask = 2 ** precision - 1
  for (let at = 0; at < hashes.length; at++) {
    const hash = hashes[at]!
    // All arithmetic is over 32 bits, which take a tenth of the time, but for one hash in thousands.
    const low = hash >>> 0
    const tail = low >>> precision
    const rank = tail === 0 ? rankAbove(hash, precision, rankBits) : trailingZeros(tail) + 1
    const before = ranks[low & mask]!
    if (rank <= before) continue
    if (changes >= 0) {
      changedRegisters[changes] = low & mask
      ranksBefore[changes++] = before
    }
    ranks[low & mask] = rank
    histogram[before]!--
    histogram[rank]!++
  }
  return changes
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
