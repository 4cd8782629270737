import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type Countries, openCountries } from '../../ingest/enrich/countries.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { countryCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { setUpFolder } from '../support/test-folder.ts'

let countries: Countries
const folder = setUpFolder()
beforeAll(async () => {
  countries = (await openCountries(''))!
})

test.each([
  ['193.0.6.139', 'NL'],
  ['91.12.0.1', 'DE'],
  ['81.2.69.160', 'GB'],
  ['133.11.0.1', 'JP'],
  ['200.160.2.3', 'BR'],
  ['8.8.8.8', 'US'],
  ['2a02:8070::1', 'DE'],
  ['2003:0:0:0::1', 'DE'],
  ['2804:14C::1', 'BR'],
  ['2001:4860:4860::8888', 'US'],
  ['::ffff:91.12.0.1', 'DE'],
])('the installed database knows public addresses of both families: %s is in %s', (address, country) => {
  expect(countries.of(address)).toBe(country)
})

test.each([
  ...['', 'x', 'localhost', '1.1', '01.2.3.4', '999.1.1.1', '8.8.8.8 ', '8.8.8.8:80', '[2a02:8070::1]'],
  // Addresses of a household, of a machine, of documentation, of nobody.
  ...['10.0.0.1', '192.168.1.1', '172.16.5.4', '127.0.0.1', '169.254.1.1', '100.64.0.1', '192.0.2.1', '198.51.100.7'],
  ...['203.0.113.9', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'fd00::1', 'ff02::1'],
  ...['2001:db8::1', '2a02:8070::1/32'],
])('has none for what is no public address: %j', (address) => {
  expect(countries.of(address)).toBe(noCountry)
})

test('answers the same again, for more addresses than it remembers', () => {
  const octet = (at: number, bits: number) => (at >> bits) & 255
  for (let at = 0; at < countryCacheMax + 10; at++) countries.of(`91.${octet(at, 16)}.${octet(at, 8)}.${octet(at, 0)}`)
  expect(countries.of('91.12.0.1')).toBe('DE')
  expect(countries.of('91.12.0.1')).toBe('DE')
})

test('reads a database of MaxMind’s form, and countries only of it that are some', async () => {
  const file = join(folder, 'own.mmdb')
  await writeFile(file, tinyDatabase('FR', 'EU'))
  const own = (await openCountries(file))!
  // The second has no IPv6 in it, and the code of no country.
  expect(['1.2.3.4', '201.2.3.4', '2a02:8070::1'].map(own.of)).toEqual(['FR', noCountry, noCountry])
})

/** A MaxMind DB of one node: IPv4 below and above 128.0.0.0. Format: https://maxmind.github.io/MaxMind-DB/. */
function tinyDatabase(below: string, above: string): Buffer {
  const text = (value: string) => Buffer.from([0x40 | value.length, ...Buffer.from(value)])
  const number = (type: number, value: number) => Buffer.from([type, value])
  const records = [below, above].map((code) =>
    Buffer.concat([Buffer.from([0xe1]), text('country'), Buffer.from([0xe1]), text('iso_code'), text(code)]),
  )
  const tree = Buffer.alloc(6)
  // Behind the number of nodes and the gap: data, by its offset.
  tree.writeUIntBE(1 + 16, 0, 3)
  tree.writeUIntBE(1 + 16 + records[0]!.length, 3, 3)
  const metadata = [
    Buffer.from([0xe9]),
    ...[text('node_count'), number(0xc1, 1), text('record_size'), number(0xa1, 24)],
    ...[text('ip_version'), number(0xa1, 4), text('database_type'), text('Test')],
    ...[text('languages'), Buffer.from([0x00, 0x04]), text('binary_format_major_version'), number(0xa1, 2)],
    ...[text('binary_format_minor_version'), number(0xa1, 0), text('build_epoch'), number(0xc1, 1)],
    ...[text('description'), Buffer.from([0xe0])],
  ]
  const mark = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...records, mark, ...metadata])
}
