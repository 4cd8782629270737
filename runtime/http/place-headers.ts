/** Headers in which a proxy says where a visitor is. */

/** Names in lower case; empty for none. */
export interface PlaceHeaders {
  readonly country: string
  readonly region: string
  readonly regionName: string
  readonly city: string
}
export type PlaceName = keyof PlaceHeaders

/** Proxies that name a region and a city beside the country. */
const known: Readonly<Record<string, Omit<PlaceHeaders, 'country'>>> = {
  'cf-ipcountry': { region: 'cf-region-code', regionName: 'cf-region', city: 'cf-ipcity' },
  'x-vercel-ip-country': { region: 'x-vercel-ip-country-region', regionName: '', city: 'x-vercel-ip-city' },
}

/** @param countryHeader the setting: it tells which proxy it is */
export function placeHeadersOf(countryHeader: string): PlaceHeaders {
  const country = countryHeader.toLowerCase()
  const beside = Object.hasOwn(known, country) ? known[country]! : { region: '', regionName: '', city: '' }
  return { country, ...beside }
}

/** Vercel percent-encodes names of cities. */
export function placeText(header: string): string {
  if (!header.includes('%')) return header
  try {
    return decodeURIComponent(header)
  } catch {
    return header
  }
}
