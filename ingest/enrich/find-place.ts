/**
 * The visitor's country, region and city. The surest answer counts: a trusted proxy's header, else the database's, else
 * the browser's time zone, which tells the country alone. A region and city are kept only beside their own country.
 */

import type { Config } from '../../runtime/config.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { countryOfZone } from '../../schemas/reference/country-zones.ts'
import { type Area, noArea } from '../../schemas/reference/places.ts'
import type { Sender } from '../event-context.ts'
import { type Countries, nowhere, type Place } from './countries.ts'
import type { Facts, Step, Verdict } from './facts.ts'

export type PlaceDetail = Config['placeDetail']

/** @param countries null: no address is looked up */
export function findPlace(countries: Countries | null, detail: PlaceDetail): Step {
  return ({ event, sender, row }: Facts): Verdict => {
    // The proxy's header is about the connection: it says nothing about an address that a server forwards.
    const { country, area } = event.ip ? (countries?.placeOf(event.ip) ?? nowhere) : placeOfSender(sender, countries)
    row.country = countryOrZone(country, event.timezone)
    const kept = keptArea(area, detail)
    row.region = kept.region
    row.region_name = kept.regionName
    row.city = kept.city
    return undefined
  }
}

/** The country of the request's own connection. */
export function countryOfSender(sender: Sender, countries: Countries | null): string {
  const { country } = sender
  return country === noCountry && countries !== null ? countries.of(sender.address) : country
}

/** Where nothing else tells the country, the browser's time zone does. */
export function countryOrZone(country: string, timezone: string | null | undefined): string {
  return country === noCountry && timezone ? (countryOfZone(timezone) ?? noCountry) : country
}

/** The place of the request's own connection. */
export function placeOfSender(sender: Sender, countries: Countries | null): Place {
  const { country, area } = sender
  if (countries === null || area !== noArea) return { country, area }
  const found = countries.placeOf(sender.address)
  return country === noCountry || country === found.country ? found : { country, area: noArea }
}

/** As exactly as the operator wants it stored. */
export function keptArea(area: Area, detail: PlaceDetail): Area {
  if (detail === 'city') return area
  return detail === 'country' || area === noArea ? noArea : { ...area, city: '' }
}
