import { noCountry } from '../../schemas/row.ts'
import type { Facts, Verdict } from './facts.ts'

/** What the visitor came with, and from which country. */
export function describeDevice({ event, sender, agent, row }: Facts): Verdict {
  row.device = agent.device
  row.browser = agent.browser
  row.os = agent.os
  // The proxy's word is about the connection: of an address that a server forwards it says nothing.
  row.country = event.ip ? noCountry : sender.country
  return undefined
}
