/** A few events, as they come to a site that isn't busy. */
import { sleep } from '../../runtime/retry.ts'
import type { EventCounts } from '../bench.ts'
import type { Installation } from '../installation.ts'
import { send } from '../measure/probe.ts'

/** An event a second into each workspace. */
export function startTrickle(
  installation: Installation,
  trackingKeys: readonly string[],
): () => Promise<Pick<EventCounts, 'sent' | 'acknowledged'>> {
  const counts = { sent: 0, acknowledged: 0 }
  const ending = new AbortController()
  const sending = (async () => {
    while (!ending.signal.aborted) {
      const results = await Promise.all(trackingKeys.map((key) => send(installation, key)))
      counts.sent += results.length
      counts.acknowledged += results.filter(Boolean).length
      await sleep(1_000, ending.signal)
    }
  })()
  return async () => {
    ending.abort()
    await sending
    return counts
  }
}
