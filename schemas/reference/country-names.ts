/** English names of countries, from the data of Intl. */
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The name of an ISO 3166-1 alpha-2 code; the code itself where it has none. */
export function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code
  return names.of(code) ?? code
}
