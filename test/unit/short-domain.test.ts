import { expect, test } from 'vitest'
import { hostOfHeader, readShortDomain } from '../../schemas/short-domain.ts'

test('a short domain is a name of two labels or more, in lower case and ASCII, and nothing beside it', () => {
  const label = 'a'.repeat(63)
  const read: [sent: string, host: string | null][] = [
    ['Go.Example.COM', 'go.example.com'],
    ['go.example.com.', 'go.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['s.co', 's.co'],
    [`${label}.example`, `${label}.example`],
    ...['localhost', 'go', '.example.com', 'go..example.com', '-go.example.com', 'go-.example.com'].map(none),
    ...['go.example.com:443', 'go.example.com/x', 'https://go.example.com', 'a@go.example.com', 'go example.com'].map(
      none,
    ),
    ...['192.0.2.1', '[2001:db8::1]', '0x7f.1', '*.example.com', '_svc.example.com', '%67o.example.com', ''].map(none),
    ...[`a${label}.example`, `${`${label}.`.repeat(4)}example`].map(none),
  ]
  for (const [sent, host] of read) expect([sent, readShortDomain(sent)]).toEqual([sent, host])
})

test('a Host header names a host with a port, with a dot at its end, and in any case', () => {
  for (const header of ['go.example.com', 'Go.Example.com:8080', 'go.example.com.', 'go.example.com.:443']) {
    expect(hostOfHeader(header)).toBe('go.example.com')
  }
})

function none(sent: string): [string, null] {
  return [sent, null]
}
