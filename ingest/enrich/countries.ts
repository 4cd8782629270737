/**
 * Looks up the country of an address in a MaxMind DB, the installed one or the operator's. A database of cities gives
 * region and city, too. It is read once, at the start. Nobody else is asked, and addresses that were looked up are
 * remembered in memory alone. Held by test/unit/countries.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { Reader, type Response } from 'mmdb-lib'
import { SettingError } from '../../runtime/config.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { countryCacheMax, placeRecordCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { isCountryCode } from '../../schemas/reference/country-zones.ts'
import { type Area, areaOf, type NamedArea, noArea } from '../../schemas/reference/places.ts'

export interface Place {
  /** ISO alpha-2, or `noCountry`. */
  readonly country: string
  readonly area: Area
}

/** For a text that is no address, and for an address that isn't public or isn't in the database. */
export const nowhere: Place = { country: noCountry, area: noArea }

export interface Countries {
  /** The country alone: ISO alpha-2, or `noCountry`. */
  of(address: string): string
  placeOf(address: string): Place
}

/** Ours has the codes at the top, with the names of a city's database beside them; MaxMind's and DB-IP's have records. */
interface PlaceRecord {
  readonly country_code?: unknown
  readonly country?: { readonly iso_code?: unknown }
  readonly state1?: unknown
  /** From the largest to the smallest. */
  readonly subdivisions?: readonly Named[]
  readonly city?: unknown
}
interface Named {
  readonly iso_code?: unknown
  readonly names?: { readonly en?: unknown }
}

/**
 * @param database the setting: a file, `off`, or, where it is empty, the database that is installed with us
 * @returns null where it is off
 * @throws SettingError for a file that can't be read or is no such database
 */
export async function openCountries(database: string): Promise<Countries | null> {
  if (database === 'off') return null
  const file = database === '' ? installedDatabase() : database
  try {
    return makeCountries(await readFile(file))
  } catch (error) {
    throw new SettingError(`COUNTRY_DATABASE can't be used: ${(error as Error).message}`)
  }
}

function makeCountries(database: Buffer): Countries {
  const reader = new Reader<Response>(database, {
    cache: new LRUCache<string | number, object>({ max: placeRecordCacheMax }),
  })
  const known = new LRUCache<string, Place>({ max: countryCacheMax })
  /** Addresses of one record share its place. */
  const places = new WeakMap<PlaceRecord, Place>()
  const isIpv4Only = reader.metadata.ipVersion === 4
  let lastAddress = ''
  let last = nowhere

  function lookUp(text: string): Place {
    const address = publicAddressOf(text)
    if (address === null || (isIpv4Only && address.includes(':'))) return nowhere
    const record = reader.get(address) as PlaceRecord | null
    // The operator's file may have anything in it.
    if (record === null || typeof record !== 'object') return nowhere
    let place = places.get(record)
    if (place === undefined) {
      place = readPlace(record)
      places.set(record, place)
    }
    return place
  }

  function placeOf(address: string): Place {
    // The events of a batch often have one.
    if (address === lastAddress) return last
    let place = known.get(address)
    if (place === undefined) {
      place = lookUp(address)
      known.set(address, place)
    }
    lastAddress = address
    last = place
    return place
  }

  return { of: (address) => placeOf(address).country, placeOf }
}

function readPlace(record: PlaceRecord): Place {
  const country = record.country_code ?? record.country?.iso_code
  if (typeof country !== 'string' || !isCountryCode(country)) return nowhere
  return { country, area: areaOf(country, readArea(record)) }
}

function readArea({ subdivisions, state1, city }: PlaceRecord): NamedArea {
  const region = Array.isArray(subdivisions) ? (subdivisions[0] as Named | undefined) : undefined
  return {
    region: region?.iso_code,
    regionName: region?.names?.en ?? state1,
    city: typeof city === 'string' ? city : (city as Named | undefined)?.names?.en,
  }
}

/**
 * In the form that the database is asked in; null for a text that is no address, or one of a private or reserved range.
 */
function publicAddressOf(text: string): string | null {
  const family = isIP(text)
  if (family === 0) return null
  const address = family === 4 ? ipaddr.IPv4.parse(text) : ipaddr.process(text)
  return address.range() === 'unicast' ? address.toString() : null
}

function installedDatabase(): string {
  return createRequire(import.meta.url).resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb')
}
