/** English names of countries, from the data of Intl. */
import { countryCodes } from './country-zones.ts'

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The name of an ISO 3166-1 alpha-2 code; the code itself where it has none. */
export function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code
  return names.of(code) ?? code
}

/**
 * The code of the country with that English name, also a short name (`Hong Kong`) or an older one (`Turkey`). Accents,
 * signs and case don't count. Undefined for a name of none.
 */
export function countryOfName(name: string): string | undefined {
  codes ??= makeCodes()
  return codes.get(bare(name))
}
let codes: ReadonlyMap<string, string> | undefined

function makeCodes(): Map<string, string> {
  const short = new Intl.DisplayNames('en', { type: 'region', style: 'short', fallback: 'none' })
  const found = new Map(otherNames.map(([name, code]) => [bare(name), code]))
  for (const code of countryCodes()) {
    for (const name of [short.of(code), names.of(code)]) if (name !== undefined) found.set(bare(name), code)
  }
  return found
}

function bare(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('&', 'and')
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()
}

/** Names that Intl has no more, or writes otherwise. */
const otherNames: readonly (readonly [string, string])[] = [
  ['Turkey', 'TR'],
  ['Czech Republic', 'CZ'],
  ['Macedonia', 'MK'],
  ['Macedonia (FYROM)', 'MK'],
  ['Swaziland', 'SZ'],
  ['Burma', 'MM'],
  ['Myanmar', 'MM'],
  ['Ivory Coast', 'CI'],
  ['Cabo Verde', 'CV'],
  ['East Timor', 'TL'],
  ['Democratic Republic of the Congo', 'CD'],
  ['Republic of the Congo', 'CG'],
  ['Macau', 'MO'],
  ['The Bahamas', 'BS'],
  ['The Gambia', 'GM'],
  ['Vatican', 'VA'],
]
