/**
 * Regions and cities: how they are cleaned, told apart and shown. docs/tracking.md says where they come from. Held by
 * test/unit/places.test.ts.
 */
import { storable } from '../json-text.ts'
import { placeNameLengthMax } from '../limits/event-limits.ts'
import { countryName } from './country-names.ts'

/** Where in a country a visitor is. Empty texts: unknown. */
export interface Area {
  /** ISO 3166-2 (`DE-BE`). Without a code it is the country's and the region's name (`DE-Brandenburg`). */
  readonly region: string
  /** English, where it is known. */
  readonly regionName: string
  /** English. */
  readonly city: string
}

export const noArea: Area = { region: '', regionName: '', city: '' }

/** As databases, proxies and files name it. Whatever is no text counts as none. */
export interface NamedArea {
  /** ISO 3166-2, with the country's code before it or without; or a name. */
  readonly region?: unknown
  readonly regionName?: unknown
  readonly city?: unknown
}

const isCode = (text: string) => /^[A-Z0-9]{1,3}$/.test(text)

/** @param country ISO alpha-2. A region of another country takes the city with it. */
export function areaOf(country: string, named: NamedArea): Area {
  const [given, name, city] = [cleaned(named.region), cleaned(named.regionName), cleaned(named.city)]
  if (/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(given) && !given.startsWith(country)) return noArea
  const own = given.startsWith(`${country}-`) ? given.slice(country.length + 1) : given
  const regionName = name || (isCode(own) ? '' : own)
  // A comma sets the region apart from the city in a city's key.
  const part = isCode(own) ? own : regionName.replaceAll(',', '')
  if (part === '' && city === '') return noArea
  return { region: part === '' ? '' : `${country}-${part}`, regionName, city }
}

/** On one line, without blanks around it. */
function cleaned(value: unknown): string {
  if (typeof value !== 'string' || value === '') return ''
  const text = storable(value)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return text.length <= placeNameLengthMax ? text : [...text].slice(0, placeNameLengthMax).join('').trimEnd()
}

/** The key of a city, which others of its name don't have: `Berlin, DE-BE`. Empty for none. */
export function cityKey(city: string, region: string, country: string): string {
  return city === '' ? '' : `${city}, ${region || country}`
}

/** @param name the region's; empty where none is known */
export function regionLabel(region: string, name: string): string {
  return name === '' ? region : `${name}, ${countryName(region.slice(0, 2))}`
}

/** @param name that of the city's region; empty where none is known */
export function cityLabel(key: string, name: string): string {
  const at = key.lastIndexOf(', ')
  return at < 0 ? key : `${key.slice(0, at)}, ${name || countryName(key.slice(at + 2))}`
}
