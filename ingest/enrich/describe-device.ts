import type { Facts, Verdict } from './facts.ts'

/** Names the visitor's browser, system and device. */
export function describeDevice({ agent, row }: Facts): Verdict {
  row.device = agent.device
  row.browser = agent.browser
  row.os = agent.os
  return undefined
}
