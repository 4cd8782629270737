import { describe, expect, test } from 'vitest'
import { makeTrustedProxies } from '../../runtime/http/trusted-proxy.ts'

const proxies = makeTrustedProxies(['127.0.0.0/8', '::1', '10.1.2.3', '2001:db8:aaaa::/48'])
const address = (socket: string, forwardedFor = '') => proxies.resolve(socket, forwardedFor, '').address

describe('the headers of a connection that is no trusted proxy', () => {
  test('are not believed', () => {
    expect(proxies.resolve('192.0.2.1', '198.51.100.7', 'DE')).toEqual({ address: '192.0.2.1', country: undefined })
    expect(address('10.1.2.4', '198.51.100.7')).toBe('10.1.2.4')
  })
})

describe('behind trusted proxies', () => {
  test('the client is the last address that is none of them', () => {
    expect(address('127.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
    expect(address('127.0.0.1', '203.0.113.9, 198.51.100.7')).toBe('198.51.100.7')
    expect(address('::1', '6.6.6.6, 198.51.100.7 , 10.1.2.3,127.0.0.9')).toBe('198.51.100.7')
    expect(address('127.0.0.1', '2001:DB8:AAAA:1::5, 10.1.2.3')).toBe('2001:db8:aaaa:1::5')
  })

  test('a chain of trusted addresses alone begins at its first', () => {
    expect(address('127.0.0.1')).toBe('127.0.0.1')
    expect(address('127.0.0.1', '127.0.0.2, 127.0.0.3')).toBe('127.0.0.2')
  })

  test('an address may carry a port, brackets or quotes', () => {
    expect(address('127.0.0.1', '198.51.100.7:4711')).toBe('198.51.100.7')
    expect(address('127.0.0.1', '"[2001:db8::1]:4711"')).toBe('2001:db8::1')
  })

  test('an address mapped into IPv6 is the IPv4 address, in any spelling', () => {
    expect(address('::ffff:127.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
    expect(address('0000:0000:0000:0000:0000:ffff:7f00:0001', '::ffff:c633:6407')).toBe('198.51.100.7')
  })

  test.each(['unknown', '_hidden', '0x7f.1', '2130706433', '1.2.3', ','])(
    'what is no address is unknown: %j',
    (header) => {
      expect(address('127.0.0.1', header)).toBe('')
    },
  )

  test('the country header is believed where it names a country', () => {
    const country = (header: string) => proxies.resolve('127.0.0.1', '198.51.100.7', header).country
    expect(['DE', ' de '].map(country)).toEqual(['DE', 'DE'])
    expect(['', 'XX', 'T1', 'DEU', 'é'].map(country)).toEqual(Array(5).fill(undefined))
  })

  test('a text longer than any address is unknown', () => {
    expect(address('127.0.0.1', 'x'.repeat(5000))).toBe('')
  })

  test('a header without an end is not followed', () => {
    expect(address('127.0.0.1', Array(10_000).fill('127.0.0.1').join())).toBe('127.0.0.1')
  })
})

test('a setting that is no range is named', () => {
  for (const entry of ['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/x', '1.2.3', '']) {
    expect(() => makeTrustedProxies([entry])).toThrow(
      `TRUSTED_PROXIES must hold addresses or CIDR ranges, got \`${entry}\``,
    )
  }
})
