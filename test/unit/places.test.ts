/** Regions and cities: cleaned and told apart; and whose word counts for an event. */
import { expect, test } from 'vitest'
import { type Countries, nowhere, type Place } from '../../ingest/enrich/countries.ts'
import type { Sender } from '../../ingest/event-context.ts'
import { placeHeadersOf, placeText } from '../../runtime/http/place-headers.ts'
import type { EventRow } from '../../schemas/event/row.ts'
import { areaOf, cityKey, cityLabel, noArea, regionLabel } from '../../schemas/reference/places.ts'
import { filtersOf, readPattern } from '../../schemas/session-filters.ts'
import { type EventLike, makeEnrich } from '../support/enriching.ts'

test.each([
  [
    { region: 'BE', city: ' Berlin\n' },
    { region: 'DE-BE', regionName: '', city: 'Berlin' },
  ],
  [
    { region: 'DE-BE', regionName: 'Land Berlin' },
    { region: 'DE-BE', regionName: 'Land Berlin', city: '' },
  ],
  [{ region: 'Hesse' }, { region: 'DE-Hesse', regionName: 'Hesse', city: '' }],
  [{ region: 'DE-Hesse' }, { region: 'DE-Hesse', regionName: 'Hesse', city: '' }],
  [{ regionName: 'A,  B' }, { region: 'DE-A B', regionName: 'A, B', city: '' }],
  // Another country's region, and with it the city.
  [{ region: 'AT-9', city: 'Vienna' }, noArea],
  [{ region: 7, regionName: null, city: {} }, noArea],
  [{ city: '\u0000\uD800' }, { region: '', regionName: '', city: '\uFFFD' }],
])('%j of Germany is %j', (named, area) => {
  expect(areaOf('DE', named)).toEqual(area)
})

test('a city’s key has its region or country, and labels have names where there are any', () => {
  const keys = [cityKey('Washington, D.C.', 'US-DC', 'US'), cityKey('Monaco', '', 'MC'), cityKey('', 'US-DC', 'US')]
  expect(keys).toEqual(['Washington, D.C., US-DC', 'Monaco, MC', ''])
  expect([cityLabel(keys[0]!, 'District of Columbia'), cityLabel(keys[0]!, ''), cityLabel(keys[1]!, '')]).toEqual([
    'Washington, D.C., District of Columbia',
    'Washington, D.C., US-DC',
    'Monaco, Monaco',
  ])
  expect([regionLabel('DE-BE', ''), regionLabel('DE-BE', 'Land Berlin')]).toEqual(['DE-BE', 'Land Berlin, Germany'])
})

test('headers of region and city stand beside those of a country that are known, and texts are decoded', () => {
  expect(placeHeadersOf('X-Vercel-IP-Country').city).toBe('x-vercel-ip-city')
  expect(placeHeadersOf('__proto__')).toEqual({ country: '__proto__', region: '', regionName: '', city: '' })
  expect(['S%C3%A3o%20Paulo', '100%', 'Köln'].map(placeText)).toEqual(['São Paulo', '100%', 'Köln'])
})

const placeOf = (country: string, region: string, city: string): Place => ({
  country,
  area: areaOf(country, { region, city }),
})
const known: Record<string, Place> = {
  '91.12.0.1': placeOf('DE', 'BE', 'Berlin'),
  '200.160.2.3': placeOf('BR', 'SP', 'São Paulo'),
}
const placeOfAddress = (address: string) => known[address] ?? nowhere
const countries: Countries = { of: (address) => placeOfAddress(address).country, placeOf: placeOfAddress }
const enrichers = {
  city: makeEnrich({ countries }),
  region: makeEnrich({ countries, placeDetail: 'region' }),
  country: makeEnrich({ countries, placeDetail: 'country' }),
}

function placeIn(event: EventLike, sender: Partial<Sender>, detail: keyof typeof enrichers = 'city'): string[] {
  const enriched = enrichers[detail](event, { sender })
  const { country, region, city } = enriched.stream === 'events' ? enriched.row : ({} as EventRow)
  return [country, region, city]
}

test('an event has the region and city of its country alone, by whoever knows most surely', () => {
  const address = '91.12.0.1'
  const inFrance = { country: 'FR', area: areaOf('FR', { region: 'IDF', city: 'Paris' }) }
  expect(placeIn({}, { address })).toEqual(['DE', 'DE-BE', 'Berlin'])
  expect(placeIn({}, { address, ...inFrance })).toEqual(['FR', 'FR-IDF', 'Paris'])
  // The proxy names the country alone: the database may name its parts.
  expect(placeIn({}, { address, country: 'DE' })).toEqual(['DE', 'DE-BE', 'Berlin'])
  expect(placeIn({}, { address, country: 'FR' })).toEqual(['FR', '', ''])
  expect(placeIn({ ip: '200.160.2.3' }, { address, ...inFrance })).toEqual(['BR', 'BR-SP', 'São Paulo'])
  expect(placeIn({ timezone: 'Europe/Vienna' }, {})).toEqual(['AT', '', ''])
  expect(placeIn({}, { address }, 'region')).toEqual(['DE', 'DE-BE', ''])
  expect(placeIn({}, { address, ...inFrance }, 'country')).toEqual(['FR', '', ''])
})

test('a filter of a region takes its code in lower case, and leaves short names alone', () => {
  const patterns = filtersOf({ region: ['de-be', '!at-9', 'CH-Zug'] })?.get('region')
  expect(patterns).toEqual(['DE-BE', '!AT-9', 'CH-Zug'].map(readPattern))
})
