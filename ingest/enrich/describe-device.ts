import type { Facts, Verdict } from './facts.ts'

/** What the visitor came with. */
export function describeDevice({ agent, row }: Facts): Verdict {
  row.device = agent.device
  row.browser = agent.browser
  row.os = agent.os
  return undefined
}
