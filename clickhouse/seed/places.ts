/** Cities of made-up visitors, the most frequent first in each country: region, its name, city. Other countries have none. */
export interface PlaceEntry {
  readonly region: string
  readonly regionName: string
  readonly city: string
}

const lines = `
  US-CA|California|Los Angeles
  US-NY|New York|New York
  US-TX|Texas|Austin
  US-IL|Illinois|Springfield
  US-MO|Missouri|Springfield
  US-WA|Washington|Seattle
  DE-BE|Land Berlin|Berlin
  DE-BY|Bavaria|Munich
  DE-HH|Hamburg|Hamburg
  DE-NW|North Rhine-Westphalia|Cologne
  DE-HE|Hesse|Frankfurt am Main
  GB-ENG|England|London
  GB-SCT|Scotland|Edinburgh
  GB-ENG|England|Manchester
  FR-IDF|Île-de-France|Paris
  FR-ARA|Auvergne-Rhône-Alpes|Lyon
  FR-PAC|Provence-Alpes-Côte d'Azur|Marseille
  IN-KA|Karnataka|Bengaluru
  IN-MH|Maharashtra|Mumbai
  IN-DL|National Capital Territory of Delhi|Delhi
  CA-ON|Ontario|Toronto
  CA-QC|Quebec|Montreal
  BR-SP|São Paulo|São Paulo
  BR-RJ|Rio de Janeiro|Rio de Janeiro
  ES-MD|Madrid|Madrid
  ES-CT|Catalonia|Barcelona
  NL-NH|North Holland|Amsterdam
  NL-ZH|South Holland|Rotterdam
  IT-25|Lombardy|Milan
  IT-62|Lazio|Rome
  JP-13|Tokyo|Tokyo
  JP-27|Osaka|Osaka
  AU-NSW|New South Wales|Sydney
  AU-VIC|Victoria|Melbourne
  PL-14|Mazovia|Warsaw
  AT-9|Vienna|Vienna
  CH-ZH|Zurich|Zurich`

export const places: readonly PlaceEntry[] = lines
  .trim()
  .split('\n')
  .map((line) => line.trim().split('|') as [string, string, string])
  .map(([region, regionName, city]) => ({ region, regionName, city }))

/** @param country ISO alpha-2 */
export function placesOf(country: string): readonly PlaceEntry[] {
  return places.filter(({ region }) => region.startsWith(`${country}-`))
}
