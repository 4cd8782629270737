/**
 * The visitor's country, the surest first: what a trusted proxy says of the connection, what the database says of the
 * address, and else the browser's time zone.
 */

import { noCountry } from '../../schemas/event/row.ts'
import { countryOfZone } from '../../schemas/reference/country-zones.ts'
import type { Sender } from '../outcome.ts'
import type { Countries } from './countries.ts'
import type { Facts, Step, Verdict } from './facts.ts'

/** @param countries null: no address is looked up */
export function findCountry(countries: Countries | null): Step {
  return ({ event, sender, row }: Facts): Verdict => {
    // The proxy's word is about the connection: of an address that a server forwards it says nothing.
    const byAddress = event.ip ? (countries?.of(event.ip) ?? noCountry) : countryOfSender(sender, countries)
    row.country = byAddress === noCountry && event.timezone ? (countryOfZone(event.timezone) ?? noCountry) : byAddress
    return undefined
  }
}

/** Of whoever the request itself comes from. */
export function countryOfSender(sender: Sender, countries: Countries | null): string {
  const { country } = sender
  return country === noCountry && countries !== null ? countries.of(sender.address) : country
}
