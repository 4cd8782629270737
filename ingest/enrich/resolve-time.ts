import { explainTime, timeOf } from './event-time.ts'
import type { Facts, Verdict } from './facts.ts'

/** Refuses events that are too old, and sets the time of future events to now. */
export function resolveTime({ event, sender, workspace, row }: Facts): Verdict {
  const { receivedAt } = sender
  const time = timeOf(event, receivedAt, workspace.timezone)
  if (Number.isNaN(time)) return explainTime(event, ['body'])
  row.occurred_at = time
  row.received_at = receivedAt
  return undefined
}
