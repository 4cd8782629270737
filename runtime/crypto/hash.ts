/**
 * HalfSipHash-2-4 with 64 bits of output: a keyed hash of short texts in 32-bit arithmetic, which JavaScript does
 * without allocating. Algorithm and test vectors: J.-P. Aumasson, the SipHash reference implementation
 * (halfsiphash.c, CC0). Held by test/unit/hash.test.ts.
 *
 * Keyed, because its inputs come from outside: without the key nobody can make two ids collide.
 */
import { createHash } from 'node:crypto'

export interface HashKey {
  readonly k0: number
  readonly k1: number
}

/** A key for `purpose` (each use has its own) out of the installation's secret. */
export function deriveHashKey(secret: string, purpose: string): HashKey {
  const digest = createHash('sha256').update(`svc hash key\0${purpose}\0${secret}`).digest()
  return { k0: digest.readInt32LE(0), k1: digest.readInt32LE(4) }
}

/** Where `hash64` leaves its two unsigned halves: read them before the next call. */
export const hashed = { hi: 0, lo: 0 }

let scratch = Buffer.allocUnsafe(4096)
/** With texts in many forms V8 would look up the method at every character (row-codec.ts). */
const { charCodeAt } = String.prototype

/** Hashes the UTF-8 bytes of `text` after the 32-bit number `context` (a workspace's id); the result is in `hashed`. */
export function hash64(key: HashKey, context: number, text: string): void {
  if (text.length * 3 + 4 > scratch.length) scratch = Buffer.allocUnsafe(text.length * 3 + 4)
  const bytes = scratch
  bytes[0] = context
  bytes[1] = context >>> 8
  bytes[2] = context >>> 16
  bytes[3] = context >>> 24
  let end = 4
  let i = 0
  for (; i < text.length; i++) {
    const code = charCodeAt.call(text, i)
    if (code > 127) break
    bytes[end++] = code
  }
  if (i < text.length) end = 4 + bytes.write(text, 4, 'utf8')
  halfSipHash(key, bytes, end)
}

/** Hashes `bytes[0, length)`; the result is in `hashed`. */
export function halfSipHash(key: HashKey, bytes: Uint8Array, length: number): void {
  let v0 = key.k0
  let v1 = key.k1 ^ 0xee
  let v2 = 0x6c796765 ^ key.k0
  let v3 = 0x74656462 ^ key.k1
  const whole = length & ~3
  // The last word holds the rest of the bytes and the length; after it come four rounds for each half of the output.
  for (let at = 0; at <= whole; at += 4) {
    let word: number
    if (at < whole) {
      word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    } else {
      word = (length & 0xff) << 24
      const rest = length & 3
      if (rest > 2) word |= bytes[at + 2]! << 16
      if (rest > 1) word |= bytes[at + 1]! << 8
      if (rest > 0) word |= bytes[at]!
    }
    v3 ^= word
    for (let round = 0; round < 2; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    v0 ^= word
  }
  v2 ^= 0xee
  for (let half = 0; half < 2; half++) {
    for (let round = 0; round < 4; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    if (half === 0) {
      hashed.lo = (v1 ^ v3) >>> 0
      v1 ^= 0xdd
    } else {
      hashed.hi = (v1 ^ v3) >>> 0
    }
  }
}
