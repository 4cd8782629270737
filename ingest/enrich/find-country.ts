/**
 * The visitor's country. The surest answer counts: first a trusted proxy's header, then the database's for the address,
 * then the browser's time zone.
 */

import { noCountry } from '../../schemas/event/row.ts'
import { countryOfZone } from '../../schemas/reference/country-zones.ts'
import type { Sender } from '../event-context.ts'
import type { Countries } from './countries.ts'
import type { Facts, Step, Verdict } from './facts.ts'

/** @param countries null: no address is looked up */
export function findCountry(countries: Countries | null): Step {
  return ({ event, sender, row }: Facts): Verdict => {
    // The proxy's header is about the connection: it says nothing about an address that a server forwards.
    const byAddress = event.ip ? (countries?.of(event.ip) ?? noCountry) : countryOfSender(sender, countries)
    row.country = byAddress === noCountry && event.timezone ? (countryOfZone(event.timezone) ?? noCountry) : byAddress
    return undefined
  }
}

/** The country of the request's own connection. */
export function countryOfSender(sender: Sender, countries: Countries | null): string {
  const { country } = sender
  return country === noCountry && countries !== null ? countries.of(sender.address) : country
}
