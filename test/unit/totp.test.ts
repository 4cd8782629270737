/** Codes of authenticator apps, by the vectors of RFC 6238 (appendix B), whose secret is "12345678901234567890". */
import { expect, test } from 'vitest'
import { makeTotpSecret, stepOfCode, totpUri } from '../../runtime/crypto/totp.ts'

const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
/** Seconds since 1970, and the last six of the eight digits. */
const vectors = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
] as const

test('codes are those of RFC 6238, and hold one step either way', () => {
  for (const [seconds, code] of vectors) {
    const step = Math.floor(seconds / 30)
    for (const drift of [-1, 0, 1]) {
      expect([seconds, drift, stepOfCode(secret, code, (step + drift) * 30_000)]).toEqual([seconds, drift, step])
    }
    for (const far of [-2, 2]) expect(stepOfCode(secret, code, (step + far) * 30_000)).toBeNull()
  }
})

test('spaces in a code do not count, and any other text is no code', () => {
  expect(stepOfCode(secret, ' 287 082 ', 59_000)).toBe(1)
  for (const text of ['', '28708', '2870820', '94287082', '28708a', '-287082', '２８７０８２'])
    expect(stepOfCode(secret, text, 59_000)).toBeNull()
})

test('each secret has 160 bits, and apps read it with the service and the account', () => {
  const made = makeTotpSecret()
  expect(made).toMatch(/^[A-Z2-7]{32}$/)
  expect(makeTotpSecret()).not.toBe(made)
  const uri = new URL(totpUri(made, 'stats.example.com', 'a+b@example.com'))
  expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
    'otpauth:',
    'totp',
    '/stats.example.com:a+b@example.com',
  ])
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    issuer: 'stats.example.com',
    secret: made,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})
