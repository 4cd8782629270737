import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type Countries, nowhere, openCountries } from '../../ingest/enrich/countries.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { placeNameLengthMax } from '../../schemas/limits/event-limits.ts'
import { countryCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { noArea } from '../../schemas/reference/places.ts'
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
  '',
  'x',
  '8.8.8.8 ',
  ...'localhost 1.1 01.2.3.4 999.1.1.1 8.8.8.8:80 [2a02:8070::1] 2a02:8070::1/32'.split(' '),
  // Addresses of a household, of a machine, of documentation, of nobody.
  ...'10.0.0.1 192.168.1.1 172.16.5.4 127.0.0.1 169.254.1.1 100.64.0.1 192.0.2.1 198.51.100.7 203.0.113.9'.split(' '),
  ...'224.0.0.1 255.255.255.255 :: ::1 fe80::1 fe80::1%eth0 fd00::1 ff02::1 2001:db8::1'.split(' '),
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
  await writeFile(file, tinyDatabase('FR', { country: { iso_code: 'FR' } }))
  expect((await openCountries(file))!.of('1.2.3.4')).toBe(noCountry)
  await writeFile(file, tinyDatabase({ country: { iso_code: 'FR' } }, { country: { iso_code: 'EU' } }))
  const own = (await openCountries(file))!
  // The second has no IPv6 in it, and the code of no country.
  expect(['1.2.3.4', '201.2.3.4', '2a02:8070::1'].map(own.of)).toEqual(['FR', noCountry, noCountry])
  expect(own.placeOf('1.2.3.4').area).toBe(noArea)
})

const country = { iso_code: 'DE' }
test.each([
  [
    'GeoLite2',
    {
      country,
      city: { names: { de: 'Köln', en: 'Cologne' } },
      subdivisions: [{ iso_code: 'NW', names: { en: 'North Rhine-Westphalia' } }, { iso_code: 'K' }],
    },
    { region: 'DE-NW', regionName: 'North Rhine-Westphalia', city: 'Cologne' },
  ],
  [
    'DB-IP, which has no codes of regions',
    { country, city: { names: { en: 'Cologne' } }, subdivisions: [{ names: { en: 'North Rhine, Westphalia' } }] },
    { region: 'DE-North Rhine Westphalia', regionName: 'North Rhine, Westphalia', city: 'Cologne' },
  ],
  [
    'flat names',
    { country_code: 'DE', state1: 'Bavaria', state2: '', city: 'Munich' },
    { region: 'DE-Bavaria', regionName: 'Bavaria', city: 'Munich' },
  ],
  [
    'odd forms and long texts',
    { country, city: { names: { en: ` \u0000${'x'.repeat(400)}` } }, subdivisions: { iso_code: 'BE' }, state1: ['x'] },
    { region: '', regionName: '', city: 'x'.repeat(placeNameLengthMax) },
  ],
])('reads regions and cities of a database with the layout of %s', async (_, record, area) => {
  const file = join(folder, 'cities.mmdb')
  await writeFile(file, tinyDatabase(record, { city: { names: { en: 'Nowhere' } } }))
  const cities = (await openCountries(file))!
  expect(cities.placeOf('1.2.3.4')).toEqual({ country: 'DE', area })
  // Without a country there is no part of one.
  expect([cities.placeOf('201.2.3.4'), cities.placeOf('10.0.0.1')]).toEqual([nowhere, nowhere])
})

type Value = string | readonly Value[] | { readonly [name: string]: Value }

/** A MaxMind DB of one node: IPv4 below and above 128.0.0.0. Format: https://maxmind.github.io/MaxMind-DB/. */
function tinyDatabase(below: Value, above: Value): Buffer {
  const records = [below, above].map(encode)
  const tree = Buffer.alloc(6)
  // Behind the number of nodes and the gap: data, by its offset.
  tree.writeUIntBE(1 + 16, 0, 3)
  tree.writeUIntBE(1 + 16 + records[0]!.length, 3, 3)
  const metadata = [
    Buffer.from([0xe9]),
    encode('node_count'),
    number(0xc1, 1),
    encode('record_size'),
    number(0xa1, 24),
    encode('ip_version'),
    number(0xa1, 4),
    encode('database_type'),
    encode('Test'),
    encode('languages'),
    encode([]),
    encode('binary_format_major_version'),
    number(0xa1, 2),
    encode('binary_format_minor_version'),
    number(0xa1, 0),
    encode('build_epoch'),
    number(0xc1, 1),
    encode('description'),
    encode({}),
  ]
  const mark = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...records, mark, ...metadata])
}

/** Each has less than 29 bytes or members, but texts. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    if (bytes.length < 29) return Buffer.concat([Buffer.from([0x40 | bytes.length]), bytes])
    if (bytes.length < 285) return Buffer.concat([Buffer.from([0x5d, bytes.length - 29]), bytes])
    const size = Buffer.from([0x5e, 0, 0])
    size.writeUInt16BE(bytes.length - 285, 1)
    return Buffer.concat([size, bytes])
  }
  // The type of a list has a byte of its own: 7 + 4.
  if (Array.isArray(value)) return Buffer.concat([Buffer.from([value.length, 0x04]), ...value.map(encode)])
  const members = Object.entries(value)
  return Buffer.concat([Buffer.from([0xe0 | members.length]), ...members.flat().map(encode)])
}

function number(type: number, value: number): Buffer {
  return Buffer.from([type, value])
}
