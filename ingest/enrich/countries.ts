/**
 * The country of an address, by a MaxMind DB of address ranges: the installed one or the operator's. It is read once,
 * at the start. Nobody else is asked, and addresses that were looked up are remembered in memory alone. Held by
 * test/unit/countries.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { Reader, type Response } from 'mmdb-lib'
import { SettingError } from '../../runtime/config.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { countryCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { isCountryCode } from '../../schemas/reference/country-zones.ts'

export interface Countries {
  /**
   * ISO alpha-2. `noCountry` for a text that is no address, and for an address that isn't public or isn't in the
   * database.
   */
  of(address: string): string
}

/** Ours has the code at the top, MaxMind's and DB-IP's within `country`. */
type CountryRecord = Response & { readonly country_code?: unknown; readonly country?: { readonly iso_code?: unknown } }

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
  // The records are few, one a country, and each is decoded once.
  const reader = new Reader<CountryRecord>(database, { cache: new Map() })
  const known = new LRUCache<string, string>({ max: countryCacheMax })
  const isIpv4Only = reader.metadata.ipVersion === 4
  let lastAddress = ''
  let last = noCountry

  function lookUp(text: string): string {
    const address = publicAddressOf(text)
    if (address === null || (isIpv4Only && address.includes(':'))) return noCountry
    const record = reader.get(address)
    const code = record?.country_code ?? record?.country?.iso_code
    return typeof code === 'string' && isCountryCode(code) ? code : noCountry
  }

  return {
    of: (address) => {
      // The events of a batch often have one.
      if (address === lastAddress) return last
      let country = known.get(address)
      if (country === undefined) {
        country = lookUp(address)
        known.set(address, country)
      }
      lastAddress = address
      last = country
      return country
    },
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
