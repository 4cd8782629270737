/**
 * Rules by which traffic is left out: how their entries are stored, and what they fit. address-lists.test.ts has ranges
 * of all kinds.
 */
import { expect, test } from 'vitest'
import { makePageUrl, readPageUrl } from '../../ingest/enrich/page-url.ts'
import { makeExclusionMatcher } from '../../ingest/exclusion-matcher.ts'
import {
  type Exclusions,
  readAddressRange,
  readCountryCode,
  readHostname,
  readPathPattern,
} from '../../schemas/exclusions.ts'

const readers = {
  addresses: readAddressRange,
  countries: readCountryCode,
  paths: readPathPattern,
  hostnames: readHostname,
} as const

/** Why a visit is left out by rules as their owner wrote them. */
function reasonBy(
  written: Partial<Exclusions>,
  { address = '192.0.2.1', country = '', url = '' }: { address?: string; country?: string; url?: string },
) {
  const page = makePageUrl()
  readPageUrl(url, page)
  const stored = (name: keyof Exclusions) => (written[name] ?? []).map((text) => entryOf(name, text))
  const rules = {
    addresses: stored('addresses'),
    countries: stored('countries'),
    paths: stored('paths'),
    hostnames: stored('hostnames'),
  }
  return makeExclusionMatcher(rules).reasonFor({ address, country, url: page.url, path: page.path })
}

function entryOf(name: keyof Exclusions, text: string): string {
  const read = readers[name](text)
  if ('fault' in read) throw new Error(`${text}: ${read.fault}`)
  return read.entry
}

test.each<[keyof Exclusions, string, string | null]>([
  ['addresses', '192.0.2.77', '192.0.2.77'],
  ['addresses', '192.0.2.77/24', '192.0.2.0/24'],
  ['addresses', '192.0.2.77/32', '192.0.2.77'],
  ['addresses', '192.0.2.77/27', '192.0.2.64/27'],
  ['addresses', '2001:DB8:0:0::1', '2001:db8::1'],
  ['addresses', '2001:db8:1:2:3::4/64', '2001:db8:1:2::/64'],
  ['addresses', '::ffff:192.0.2.77', '192.0.2.77'],
  ['addresses', '::ffff:192.0.2.77/120', '192.0.2.0/24'],
  ...['0.0.0.0/0', '192.0.2.0/7', '192.0.2.0/33', '192.0.2.0/', '192.0.2.0/24/1', '192.0.2', '0300.0.2.1'].map(
    (text) => ['addresses', text, null] as [keyof Exclusions, string, null],
  ),
  ...['::/0', '::/15', '::/129', 'fe80::1%eth0', '::ffff:0.0.0.0/96', 'localhost', ' 192.0.2.1', ''].map(
    (text) => ['addresses', text, null] as [keyof Exclusions, string, null],
  ),
  ['countries', 'de', 'DE'],
  ['countries', 'XX', null],
  ['countries', 'Germany', null],
  ['paths', '/admin/*', '/admin/*'],
  ['paths', '/%C3%BCber-uns', '/über-uns'],
  ['paths', '!/admin/a b', '!/admin/a%20b'],
  ['paths', '*.pdf', '*.pdf'],
  ...['admin', 'https://example.com/', '/a?b=c', '\\*', '!', `/${'*'.repeat(11)}`, `/${' '.repeat(167)}`].map(
    (text) => ['paths', text, null] as [keyof Exclusions, string, null],
  ),
  ['hostnames', 'WWW.Example.com', 'www.example.com'],
  ['hostnames', 'example.com.', 'example.com'],
  ['hostnames', '*.Bücher.example', '*.xn--bcher-kva.example'],
  ['hostnames', 'localhost', 'localhost'],
  ...['https://example.com', 'example.com:8080', 'example.com/', 'a b', '*', '*.', 'www.*.com', '.', 'a..b'].map(
    (text) => ['hostnames', text, null] as [keyof Exclusions, string, null],
  ),
])('%s: %j is stored as %j', (name, text, stored) => {
  const read = readers[name](text)
  expect('entry' in read ? read.entry : null).toBe(stored)
  // A stored entry means the same when it is read again.
  if (stored !== null) expect(readers[name](stored)).toEqual({ entry: stored })
})

test.each<[string, Partial<Exclusions>, Parameters<typeof reasonBy>[1], string | null]>([
  ['the last of a range', { addresses: ['192.0.2.0/25'] }, { address: '192.0.2.127' }, 'address'],
  ['the one behind a range', { addresses: ['192.0.2.0/25'] }, { address: '192.0.2.128' }, null],
  ['an address that isn’t known', { addresses: ['192.0.2.0/24'] }, { address: '' }, null],
  ['a text that is no address', { addresses: ['192.0.2.0/24'] }, { address: 'office' }, null],
  ['a country', { countries: ['de'] }, { country: 'DE' }, 'country'],
  ['another country', { countries: ['de'] }, { country: 'FR' }, null],
  ['an unknown country', { countries: ['de'] }, { country: '' }, null],
  ['its host in upper case, with a port', { hostnames: ['example.com'] }, { url: 'https://EXAMPLE.com:8443/a' }, null],
  ['its host with a dot and credentials', { hostnames: ['example.com'] }, { url: 'https://a:b@example.com./' }, null],
  ['its host beyond ASCII', { hostnames: ['bücher.example'] }, { url: 'https://BÜCHER.example/' }, null],
  ['the same as browsers send it', { hostnames: ['Bücher.example'] }, { url: 'https://xn--bcher-kva.example/' }, null],
  ['another host', { hostnames: ['example.com'] }, { url: 'https://example.com.evil.example/' }, 'hostname'],
  ['a host that ends alike', { hostnames: ['*.example.com'] }, { url: 'https://notexample.com/' }, 'hostname'],
  ['a host below', { hostnames: ['*.example.com'] }, { url: 'https://a.b.example.com/' }, null],
  ['the host itself', { hostnames: ['*.example.com'] }, { url: 'https://example.com/' }, 'hostname'],
  ['no URL', { hostnames: ['example.com'], paths: ['*'] }, {}, null],
  ['a URL without a host', { hostnames: ['example.com'] }, { url: '/pricing' }, null],
  ['a page below', { paths: ['/admin/*'] }, { url: 'https://example.com/admin/users?page=2' }, 'path'],
  ['a page that begins alike', { paths: ['/admin/*'] }, { url: 'https://example.com/administration' }, null],
  ['a page beyond ASCII', { paths: ['/über*'] }, { url: 'https://example.com/%C3%BCber-uns' }, 'path'],
  ['a page that is spared', { paths: ['/admin/*', '!/admin/shop'] }, { url: 'https://example.com/admin/shop' }, null],
  ['a page beside those that are spared', { paths: ['!/admin/shop'] }, { url: 'https://example.com/pricing' }, null],
  ['an asterisk of its own', { paths: ['/a\\*b'] }, { url: 'https://example.com/axb' }, null],
])('%s is judged rightly', (_, rules, visit, reason) => {
  expect(reasonBy(rules, visit)).toBe(reason)
})
