/** Events that come late, as phones send them that were without a network: spread over the last three days. */
import { randomUUID } from 'node:crypto'
import { sleep } from '../../runtime/retry.ts'
import type { EventCounts } from '../bench.ts'
import type { Installation } from '../installation.ts'

/** Below the 72 hours within which ingest takes an event. */
const latestMs = 71 * 3_600_000

const batchEvents = 10

/** So many a second, in turn into each workspace: each is of another visitor. */
export function startLateEvents(
  installation: Installation,
  trackingKeys: readonly string[],
  perSecond: number,
): () => Promise<Pick<EventCounts, 'sent' | 'acknowledged'>> {
  const counts = { sent: 0, acknowledged: 0 }
  const ending = new AbortController()
  const sending = (async () => {
    for (let batch = 0; !ending.signal.aborted; ) {
      for (let left = perSecond; left > 0; left -= batchEvents) {
        const size = Math.min(left, batchEvents)
        counts.acknowledged += await sendBatch(installation, trackingKeys[batch++ % trackingKeys.length]!, size)
        counts.sent += size
      }
      await sleep(1_000, ending.signal)
    }
  })()
  return async () => {
    ending.abort()
    await sending
    return counts
  }
}

async function sendBatch(installation: Installation, trackingKey: string, count: number): Promise<number> {
  const events = Array.from({ length: count }, (_, nth) => ({
    client_event_id: randomUUID(),
    anonymous_id: randomUUID(),
    event_name: 'pageview',
    url: `https://example.com/late/${nth % 20}`,
    occurred_at: new Date(Date.now() - ((nth + Math.random()) / count) * latestMs).toISOString(),
  }))
  const response = await fetch(`http://127.0.0.1:${installation.service('ingest').port}/api/v1/growth/track/batch`, {
    method: 'POST',
    body: JSON.stringify({ tracking_key: trackingKey, events }),
  })
  await response.arrayBuffer()
  return response.status === 202 ? count : 0
}
