import { describe, expect, it } from 'vitest'
import { deriveHashKey, halfSipHash, hash64, hashed } from '../../runtime/crypto/hash.ts'

/** Of the reference implementation's vectors for 64 bits of output: key 00…07, input 00, 01, … of the given length. */
const vectors: Record<number, string> = {
  0: '218d1f59b9b83cc8',
  1: 'be552412f8387315',
  2: '064f39ef7c50eb57',
  3: 'ce0f1a45f7060679',
  4: 'd5e78a175be52ea1',
}

describe('hash64', () => {
  it('is HalfSipHash-2-4 with 64 bits of output', () => {
    for (const [length, expected] of Object.entries(vectors)) {
      const input = Uint8Array.from({ length: Number(length) }, (_, i) => i)
      halfSipHash({ k0: 0x03020100, k1: 0x07060504 }, input, input.length)
      const output = Buffer.alloc(8)
      output.writeUInt32LE(hashed.lo, 0)
      output.writeUInt32LE(hashed.hi, 4)
      expect(output.toString('hex')).toBe(expected)
    }
  })

  it('hashes the same text the same way whether its characters take the short path or not', () => {
    const key = deriveHashKey('s'.repeat(32), 'test')
    for (const text of ['', 'plain', 'ü', 'plain then ü', '🙂'.repeat(2000), 'x'.repeat(5000)]) {
      hash64(key, 0x01020304, text)
      const short = { ...hashed }
      const bytes = Buffer.concat([Buffer.from([4, 3, 2, 1]), Buffer.from(text)])
      halfSipHash(key, bytes, bytes.length)
      expect(short).toEqual({ ...hashed })
    }
  })
})
