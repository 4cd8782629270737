import { expect, test } from 'vitest'
import { makeTrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { trustedProxiesOf } from '../../start/front/trusted-proxies.ts'

test.each([
  ['behind the operator’s proxies', ['10.0.0.0/8'], '203.0.113.9, 10.0.0.5', '203.0.113.9'],
  ['before which a sender lies', ['10.0.0.0/8'], '192.0.2.1, 203.0.113.9', '203.0.113.9'],
  ['where none are named', [], '203.0.113.9', '203.0.113.9'],
])('ingest behind the front sees each visitor’s own address %s', (_, given, forwardedFor, address) => {
  const { services } = trustedProxiesOf(given)
  expect(makeTrustedProxies(services).resolve('127.0.0.1', forwardedFor, '').address).toBe(address)
})

test('the front believes the operator’s list alone, and this machine where there is none', () => {
  expect(trustedProxiesOf(['10.0.0.0/8']).front).toEqual(['10.0.0.0/8'])
  expect(trustedProxiesOf([]).front).toEqual(['127.0.0.0/8', '::1/128'])
})
