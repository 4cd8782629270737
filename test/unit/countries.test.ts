import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Countries, openCountries } from '../../ingest/enrich/countries.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { countryCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { makeEnrich, now } from '../support/enriching.ts'

let countries: Countries
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countries-'))
  countries = (await openCountries(''))!
})
afterAll(() => rm(folder, { recursive: true }))

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
  ...[
    '',
    'x',
    'localhost',
    '1.1',
    '01.2.3.4',
    '999.1.1.1',
    '8.8.8.8 ',
    '8.8.8.8:80',
    '[2a02:8070::1]',
    '2a02:8070::1/32',
    '::',
  ],
  // Of a household, of a machine, of documentation, of nobody.
  ...['10.0.0.1', '192.168.1.1', '172.16.5.4', '127.0.0.1', '169.254.1.1', '100.64.0.1', '192.0.2.1', '198.51.100.7'],
  ...[
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00::1',
    '2001:db8::1',
    'ff02::1',
  ],
])('has none for what is no public address: %j', (address) => {
  expect(countries.of(address)).toBe(noCountry)
})

test('answers the same again, for more addresses than it remembers', () => {
  for (let at = 0; at < countryCacheMax + 10; at++)
    countries.of(`91.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`)
  expect(countries.of('91.12.0.1')).toBe('DE')
  expect(countries.of('91.12.0.1')).toBe('DE')
})

test('can be turned off, and takes no file that is none', async () => {
  expect(await openCountries('off')).toBeNull()
  await expect(openCountries(join(folder, 'missing.mmdb'))).rejects.toThrow(/^COUNTRY_DATABASE can't be used: ENOENT/)
  await writeFile(join(folder, 'odd.mmdb'), 'no database')
  await expect(openCountries(join(folder, 'odd.mmdb'))).rejects.toThrow(/^COUNTRY_DATABASE can't be used: /)
})

test('reads a database of MaxMind’s form, and countries only of it that are some', async () => {
  const file = join(folder, 'own.mmdb')
  await writeFile(file, tinyDatabase({ '1': 'FR', '2': 'EU', '3': 'A1' }))
  const own = (await openCountries(file))!
  expect(['1.2.3.4', '2.2.3.4', '3.2.3.4', '4.2.3.4'].map((address) => own.of(address))).toEqual([
    'FR',
    noCountry,
    noCountry,
    noCountry,
  ])
  // It knows no IPv6.
  expect(own.of('2a02:8070::1')).toBe(noCountry)
})

test('a trusted proxy’s word comes first, then the address, then the time zone, and then none', () => {
  const enrich = makeEnrich({ countries })
  const countryOf = (event: object, sender: object) => {
    const enriched = enrich(event, { sender })
    return enriched.stream === 'events' ? enriched.row.country : undefined
  }
  const timezone = 'Europe/Vienna'
  expect(countryOf({ timezone }, { address: '91.12.0.1', country: 'FR' })).toBe('FR')
  expect(countryOf({ timezone }, { address: '91.12.0.1' })).toBe('DE')
  expect(countryOf({ timezone }, { address: '192.168.0.7' })).toBe('AT')
  expect(countryOf({ timezone: 'UTC' }, { address: '192.168.0.7' })).toBe(noCountry)
  expect(countryOf({}, { address: '' })).toBe(noCountry)
  // Of the visitor whom a server tells of; what its own proxy says is about the server.
  expect(countryOf({ timezone, ip: '91.12.0.1' }, { address: '8.8.8.8', country: 'FR' })).toBe('DE')
  expect(countryOf({ timezone, ip: '10.0.0.1' }, { address: '8.8.8.8', country: 'FR' })).toBe('AT')
  expect(countryOf({ ip: 'nonsense' }, { address: '8.8.8.8', country: 'FR' })).toBe(noCountry)
  const without = makeEnrich()({ timezone }, { sender: { address: '91.12.0.1', receivedAt: now } })
  expect(without.stream === 'events' && without.row.country).toBe('AT')
})

/** A MaxMind DB of IPv4 whose first byte decides. Format: https://maxmind.github.io/MaxMind-DB/. */
function tinyDatabase(codes: Record<string, string>): Buffer {
  const text = (value: string) => Buffer.from([0x40 | value.length, ...Buffer.from(value)])
  const records = Object.entries(codes).map(([first, code]) => ({
    first: Number(first),
    data: Buffer.concat([Buffer.from([0xe1]), text('country'), Buffer.from([0xe1]), text('iso_code'), text(code)]),
  }))
  const nodes: [left: number, right: number][] = [[-1, -1]]
  const data: Buffer[] = []
  let dataBytes = 0
  for (const { first, data: record } of records) {
    let node = 0
    for (let bit = 7; bit >= 0; bit--) {
      const side = (first >> bit) & 1
      // Below -1: data, by its offset.
      if (bit === 0) nodes[node]![side] = -2 - dataBytes
      else {
        if (nodes[node]![side] === -1) nodes[node]![side] = nodes.push([-1, -1]) - 1
        node = nodes[node]![side]!
      }
    }
    data.push(record)
    dataBytes += record.length
  }
  const tree = Buffer.alloc(nodes.length * 6)
  const recordOf = (side: number) => (side >= 0 ? side : side === -1 ? nodes.length : nodes.length + 16 + (-2 - side))
  nodes.forEach(([left, right], at) => {
    tree.writeUIntBE(recordOf(left), at * 6, 3)
    tree.writeUIntBE(recordOf(right), at * 6 + 3, 3)
  })
  const number = (type: number, value: number) => Buffer.from([type, value])
  const metadata = [
    Buffer.from([0xe9]),
    ...[text('node_count'), number(0xc1, nodes.length), text('record_size'), number(0xa1, 24)],
    ...[text('ip_version'), number(0xa1, 4), text('database_type'), text('Test')],
    ...[text('languages'), Buffer.from([0x00, 0x04]), text('binary_format_major_version'), number(0xa1, 2)],
    ...[text('binary_format_minor_version'), number(0xa1, 0), text('build_epoch'), number(0xc1, 1)],
    ...[text('description'), Buffer.from([0xe0])],
  ]
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), ...metadata])
}
