import { expect, test } from 'vitest'
import { makeAddressHash, noAddressHash } from '../../ingest/enrich/address-hash.ts'
import { now, salts } from '../support/enriching.ts'

const hash = makeAddressHash(salts)

test('a crawler’s address is one hash of 16 bytes a day and workspace', () => {
  const here = hash(7, '192.0.2.1', now)
  expect(Buffer.from(here, 'latin1')).toHaveLength(16)
  expect(hash(7, '192.0.2.1', now + 3_600_000)).toBe(here)
  expect(hash(7, '::ffff:192.0.2.1', now)).toBe(here)
  expect(hash(7, '192.0.2.2', now)).not.toBe(here)
  expect(hash(8, '192.0.2.1', now)).not.toBe(here)
  expect(hash(7, '192.0.2.1', now + 86_400_000)).not.toBe(here)
  expect(hash(7, '', now)).toBe(noAddressHash)
})

test('of an IPv6 address the first 64 bits count', () => {
  const here = hash(7, '2001:db8:1:2:3:4:5:6', now)
  expect(hash(7, '2001:DB8:1:2::9', now)).toBe(here)
  expect(hash(7, '2001:db8:1:3::9', now)).not.toBe(here)
})
