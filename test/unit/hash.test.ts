import { expect, it } from 'vitest'
import { deriveHashKey, halfSipHash, hash64, hashed } from '../../runtime/crypto/hash.ts'

/** Vectors of the reference implementation for 64 bits of output: key 00…07, input 00, 01, … of the given length. */
const vectors = ['218d1f59b9b83cc8', 'be552412f8387315', '064f39ef7c50eb57', 'ce0f1a45f7060679', 'd5e78a175be52ea1']

it.each(vectors.map((vector, length) => [length, vector] as const))(
  'is HalfSipHash-2-4 with 64 bits of output, of %i bytes',
  (length, expected) => {
    const input = Uint8Array.from({ length }, (_, i) => i)
    halfSipHash({ k0: 0x03020100, k1: 0x07060504 }, input, input.length)
    const output = Buffer.alloc(8)
    output.writeUInt32LE(hashed.lo, 0)
    output.writeUInt32LE(hashed.hi, 4)
    expect(output.toString('hex')).toBe(expected)
  },
)

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

it('gives other hashes to other workspaces, texts, purposes and secrets', () => {
  const seen = new Set<string>()
  const keys = ['a', 'b'].flatMap((secret) =>
    ['visitor', 'session'].map((use) => deriveHashKey(secret.repeat(32), use)),
  )
  for (const key of keys) {
    for (const workspace of [1, 2, 1 << 24]) {
      for (const text of ['a', 'b', 'ab', '']) {
        hash64(key, workspace, text)
        seen.add(`${hashed.hi}-${hashed.lo}`)
      }
    }
  }
  expect(seen.size).toBe(4 * 3 * 4)
})
