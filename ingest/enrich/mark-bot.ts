import { type Facts, isBot, type Step, type Verdict } from './facts.ts'
import type { Agent } from './user-agents.ts'

/** Ends the way of a crawler's event here, before anything of a person is looked for. */
export function markBot(userAgents: (text: string) => Agent): Step {
  return (facts: Facts): Verdict => {
    facts.agent = userAgents(facts.event.user_agent || facts.sender.userAgent)
    return facts.agent.bot === null ? undefined : isBot
  }
}
