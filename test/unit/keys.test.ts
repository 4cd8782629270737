import { expect, test } from 'vitest'
import {
  isTrackingKeyShaped,
  isWellFormedSecretKey,
  makeAttributionKey,
  makeSecretKey,
  makeSharedToken,
  makeTrackingKey,
  secretKeyPrefix,
  sha256Of,
} from '../../schemas/keys.ts'
import { isLinkKeyShaped, keyInPath, reservedKeys } from '../../schemas/link-key.ts'

// The checksum was computed apart from the code: python3 zlib.crc32 of the first 39 characters, in base62.
const known = 'svc_sk_000000000011111111112222222222330IjF7j'

test('a made key is well-formed, and no two are alike', () => {
  const keys = Array.from({ length: 1000 }, makeSecretKey)
  for (const key of keys) {
    expect(key).toMatch(/^svc_sk_[0-9A-Za-z]{38}$/)
    expect(isWellFormedSecretKey(key)).toBe(true)
  }
  expect(new Set(keys).size).toBe(1000)
})

test('the token of a shared link has a shape of its own, with the same checksum and as much to show', () => {
  const token = makeSharedToken()
  expect(token).toMatch(/^svc_view_[0-9A-Za-z]{38}$/)
  expect(isWellFormedSecretKey(token)).toBe(true)
  expect(isWellFormedSecretKey(token.replace('_view_', '_sk_'))).toBe(false)
  expect(secretKeyPrefix(token)).toBe(token.slice(0, 15))
})

test('the checksum is the CRC-32 of what stands before it, in base62; shown are the first 13 characters', () => {
  expect(isWellFormedSecretKey(known)).toBe(true)
  expect(secretKeyPrefix(known)).toBe('svc_sk_000000')
})

test('a key with any one character changed, left out or added is refused without a look-up', () => {
  for (let at = 0; at < known.length; at++) {
    const other = known[at] === 'x' ? 'y' : 'x'
    expect(isWellFormedSecretKey(known.slice(0, at) + other + known.slice(at + 1))).toBe(false)
    expect(isWellFormedSecretKey(known.slice(0, at) + known.slice(at + 1))).toBe(false)
  }
  for (const wrong of ['', 'svc_sk_', `${known} `, `${known}\n`, known.replace('_sk_', '_pk_'), `x${known}`]) {
    expect(isWellFormedSecretKey(wrong)).toBe(false)
  }
})

test('what is stored of a secret key is its SHA-256', () => {
  expect(sha256Of('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('a tracking key has its own shape, and a secret key is never taken for one', () => {
  expect(makeTrackingKey()).toMatch(/^svc_pk_[0-9A-Za-z]{24}$/)
  expect(isTrackingKeyShaped(makeTrackingKey())).toBe(true)
  expect(isTrackingKeyShaped(makeSecretKey())).toBe(false)
  expect(isTrackingKeyShaped(`${makeTrackingKey()}\n`)).toBe(false)
})

test('keys of links that are made can stand in a short URL, and no reserved name is one', () => {
  const made = makeAttributionKey()
  expect(isLinkKeyShaped(made)).toBe(true)
  expect(reservedKeys.filter((name) => name.length === made.length)).toEqual([])
})

test('characters that a text has behind an address are no part of its key, and letters are', () => {
  for (const behind of [
    '.',
    ').',
    '%29',
    ',',
    '%22',
    '%20',
    '%E2%80%9D',
    '”',
    '*_',
    '%E2%80%8B',
    '%0A',
    '-',
    '%e3%80%82',
  ]) {
    expect(keyInPath(`sale-1${behind}`)).toBe('sale-1')
  }
  for (const other of ['sale.php', 'sal%C3%A9', 'sale/', 'sale%2F', 'sale%5C', 'sale%', 'sale%E2%80', '', '%20', '.']) {
    expect(keyInPath(other)).toBe(other)
  }
  expect(keyInPath(`sale${'.'.repeat(100_000)}`)).toHaveLength(100_004)
})
