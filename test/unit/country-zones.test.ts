import { expect, test } from 'vitest'
import { countryName } from '../../schemas/reference/country-names.ts'
import { countryOfZone, isCountryCode } from '../../schemas/reference/country-zones.ts'

test.each(
  Object.entries({
    DE: 'Europe/Berlin',
    DK: 'Europe/Copenhagen',
    US: 'America/New_York US/Pacific',
    SJ: 'Arctic/Longyearbyen',
    AR: 'America/Argentina/Buenos_Aires America/Buenos_Aires',
    IN: 'Asia/Calcutta Asia/Kolkata',
    VN: 'Asia/Saigon',
    NP: 'Asia/Katmandu',
    UA: 'Europe/Kiev Europe/Kyiv',
    IS: 'Atlantic/Reykjavik Iceland',
    CA: 'America/Coral_Harbour',
    FM: 'Pacific/Truk',
  }),
)('in %s lie %s', (country, zones) => {
  for (const zone of zones.split(' ')) expect([zone, countryOfZone(zone)]).toEqual([zone, country])
})

test.each([...'UTC Etc/UTC Etc/GMT+5 GMT EST CET PST8PDT europe/berlin Mars/Olympus constructor'.split(' '), ''])(
  '%j lies nowhere',
  (zone) => expect(countryOfZone(zone)).toBeUndefined(),
)

test('every zone that this machine knows by a place lies in a country, and ours agree with its own data', () => {
  const placeless = /^(Etc\/|GMT|UTC|UCT|Zulu|[A-Z]{3}(\d[A-Z]{3})?$)/
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => !placeless.test(zone))
  expect(zones.length).toBeGreaterThan(400)
  expect(zones.filter((zone) => countryOfZone(zone) === undefined)).toEqual([])
  const inGermany = (new Intl.Locale('und-DE') as Intl.Locale & { timeZones?: string[] }).timeZones ?? ['Europe/Berlin']
  expect(inGermany.map(countryOfZone)).toEqual(inGermany.map(() => 'DE'))
})

test('the codes are those of ISO, and Kosovo’s; each has an English name, an unknown one is its own', () => {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at))
  const codes = letters.flatMap((one) => letters.map((other) => one + other)).filter(isCountryCode)
  expect(codes).toHaveLength(250)
  expect(codes.filter((code) => countryName(code) === code)).toEqual([])
  for (const odd of ['XX', 'ZZ', 'EU', 'AP', 'T1', 'A1', 'A2', 'O1', 'UK', 'AN', 'CS', 'de', 'DEU', '', 'D'])
    expect([odd, isCountryCode(odd)]).toEqual([odd, false])
  const names = ['Germany', 'Kosovo', 'QQ', 'unknown', '']
  expect(['DE', 'XK', 'QQ', 'unknown', ''].map(countryName)).toEqual(names)
})
