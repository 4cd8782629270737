import type { Facts, Step, Verdict } from './facts.ts'
import type { Agent } from './user-agents.ts'

/** Ends the steps for a crawler's event, before any step that is about people. */
export function markBot(userAgents: (text: string) => Agent): Step {
  return (facts: Facts): Verdict => {
    facts.agent = userAgents(facts.event.user_agent || facts.sender.userAgent)
    return facts.agent.bot === null ? undefined : 'bot'
  }
}
