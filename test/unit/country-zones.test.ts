import { expect, test } from 'vitest'
import { countryName } from '../../schemas/reference/country-names.ts'
import { countryOfZone, isCountryCode } from '../../schemas/reference/country-zones.ts'

test.each([
  ['Europe/Berlin', 'DE'],
  ['Europe/Copenhagen', 'DK'],
  ['America/New_York', 'US'],
  ['America/Argentina/Buenos_Aires', 'AR'],
  ['America/Buenos_Aires', 'AR'],
  ['Asia/Calcutta', 'IN'],
  ['Asia/Kolkata', 'IN'],
  ['Asia/Saigon', 'VN'],
  ['Asia/Katmandu', 'NP'],
  ['Europe/Kiev', 'UA'],
  ['Europe/Kyiv', 'UA'],
  ['Atlantic/Reykjavik', 'IS'],
  ['Iceland', 'IS'],
  ['America/Coral_Harbour', 'CA'],
  ['Pacific/Truk', 'FM'],
  ['US/Pacific', 'US'],
  ['Arctic/Longyearbyen', 'SJ'],
])('%s lies in %s', (zone, country) => {
  expect(countryOfZone(zone)).toBe(country)
})

test.each([
  'UTC',
  'Etc/UTC',
  'Etc/GMT+5',
  'GMT',
  'EST',
  'CET',
  'PST8PDT',
  'europe/berlin',
  'Mars/Olympus',
  '',
  'constructor',
])('%j lies nowhere', (zone) => {
  expect(countryOfZone(zone)).toBeUndefined()
})

test('every zone that this machine knows by a place lies in a country, and ours agree with its own data', () => {
  const placeless = /^(Etc\/|GMT|UTC|UCT|Zulu|[A-Z]{3}(\d[A-Z]{3})?$)/
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => !placeless.test(zone))
  expect(zones.length).toBeGreaterThan(400)
  expect(zones.filter((zone) => countryOfZone(zone) === undefined)).toEqual([])
  const inGermany = (new Intl.Locale('und-DE') as Intl.Locale & { timeZones?: string[] }).timeZones ?? ['Europe/Berlin']
  expect(inGermany.map(countryOfZone)).toEqual(inGermany.map(() => 'DE'))
})

test('the codes are those of ISO, and Kosovo’s; each has an English name', () => {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at))
  const codes = letters.flatMap((one) => letters.map((other) => one + other)).filter(isCountryCode)
  expect(codes).toHaveLength(250)
  expect(codes.filter((code) => countryName(code) === code)).toEqual([])
  for (const odd of ['XX', 'ZZ', 'EU', 'AP', 'T1', 'A1', 'A2', 'O1', 'UK', 'AN', 'CS', 'de', 'DEU', '', 'D']) {
    expect([odd, isCountryCode(odd)]).toEqual([odd, false])
  }
})
