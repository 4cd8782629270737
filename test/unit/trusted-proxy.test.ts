import { expect, test } from 'vitest'
import { makeTrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { trustedProxiesOf } from '../../start/front/trusted-proxies.ts'

const proxies = makeTrustedProxies(['127.0.0.0/8', '::1', '10.1.2.3', '2001:db8:aaaa::/48'])
const client = '198.51.100.7'

test.each([
  // Who is no trusted proxy is not believed.
  ['192.0.2.1', client, '192.0.2.1'],
  ['10.1.2.4', client, '10.1.2.4'],
  // The client is the last address that is none of them; of trusted addresses alone the first.
  ['127.0.0.1', client, client],
  ['127.0.0.1', `203.0.113.9, ${client}`, client],
  ['::1', `6.6.6.6, ${client} , 10.1.2.3,127.0.0.9`, client],
  ['127.0.0.1', '2001:DB8:AAAA:1::5, 10.1.2.3', '2001:db8:aaaa:1::5'],
  ['127.0.0.1', '', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.2, 127.0.0.3', '127.0.0.2'],
  ['127.0.0.1', Array(10_000).fill('127.0.0.1').join(), '127.0.0.1'],
  // With a port, brackets, quotes, or mapped into IPv6.
  ['127.0.0.1', `${client}:4711`, client],
  ['127.0.0.1', '"[2001:db8::1]:4711"', '2001:db8::1'],
  ['::ffff:127.0.0.1', client, client],
  ['0000:0000:0000:0000:0000:ffff:7f00:0001', '::ffff:c633:6407', client],
  // A text that is no address is unknown.
  ...['unknown', '_hidden', '0x7f.1', '2130706433', '1.2.3', ',', 'x'.repeat(5000)].map((text) => ['::1', text, '']),
])('from %s the header %s is of %j', (socket, forwardedFor, address) => {
  expect(proxies.resolve(socket!, forwardedFor!, '').address).toBe(address)
})

test('the country header is believed of a trusted proxy, where it names a country', () => {
  const country = (header: string, socket = '127.0.0.1') => proxies.resolve(socket, client, header).country
  expect(['DE', ' de '].map((header) => country(header))).toEqual(['DE', 'DE'])
  expect(['', 'XX', 'T1', 'DEU', 'é'].map((header) => country(header))).toEqual(Array(5).fill(undefined))
  expect(country('DE', '192.0.2.1')).toBeUndefined()
})

test.each(['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/x', '1.2.3', ''])('%j is no range', (entry) => {
  const named = `TRUSTED_PROXIES must hold addresses or CIDR ranges, got \`${entry}\``
  expect(() => makeTrustedProxies([entry])).toThrow(named)
})

test.each([
  ['behind the operator’s proxies', ['10.0.0.0/8'], '203.0.113.9, 10.0.0.5'],
  ['before which a sender lies', ['10.0.0.0/8'], '192.0.2.1, 203.0.113.9'],
  ['where none are named', [], '203.0.113.9'],
])('ingest behind the front sees each visitor’s own address %s', (_, given, forwardedFor) => {
  const { services, front } = trustedProxiesOf(given, '0.0.0.0')
  expect(makeTrustedProxies(services).resolve('127.0.0.1', forwardedFor, '').address).toBe('203.0.113.9')
  // The front believes the operator's list alone, and this machine where there is none, or where no other reaches the front.
  expect(front).toEqual(given.length > 0 ? given : ['127.0.0.0/8', '::1/128'])
  expect(trustedProxiesOf(given, '127.0.0.1').front).toEqual(['127.0.0.0/8', '::1/128', ...given])
})
