/**
 * How long after its 202 an event is in the overview. Single events go into a workspace of their own, at equal
 * distances; its overview is asked again and again. The n-th event counts as visible from the end of the first answer
 * that has n.
 */
import { randomUUID } from 'node:crypto'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { createTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { createWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { sleep } from '../../runtime/retry.ts'
import { scopes } from '../../schemas/scopes.ts'
import { readOverview } from '../data/seeded.ts'
import type { Installation } from '../installation.ts'

export interface Probed {
  /** Milliseconds from 202 to visible, of each event that became visible. */
  readonly lags: readonly number[]
  readonly sent: number
  readonly acknowledged: number
  readonly visible: number
}

const everyMs = 100
/**
 * Answers take time of the core that the load is on, so they are asked for seldom. Each figure includes up to this much
 * from the asking.
 */
export const askEveryMs = 250
/** After the last event, for all to become visible. */
const patienceMs = 120_000

export async function probe(installation: Installation, seconds: number): Promise<Probed> {
  const { trackingKey, apiKey } = await makeWorkspace(installation)
  await untilKnown(installation, trackingKey)
  const acknowledgedAt: number[] = []
  const visibleAt: number[] = []
  let sent = 1
  acknowledgedAt.push(performance.now())
  let isOver = false

  const sending = (async () => {
    const under: Promise<void>[] = []
    const startedAt = performance.now()
    for (let at = 0; at < (seconds * 1000) / everyMs; at++) {
      await sleep(Math.max(1, startedAt + at * everyMs - performance.now()))
      sent++
      under.push(
        send(installation, trackingKey).then((isTaken) => {
          if (isTaken) acknowledgedAt.push(performance.now())
        }),
      )
    }
    await Promise.all(under)
    isOver = true
  })()
  const watching = (async () => {
    for (let overAt: number | undefined; ; await sleep(askEveryMs)) {
      const { events } = await readOverview(installation, apiKey, 2)
      const now = performance.now()
      while (visibleAt.length < events) visibleAt.push(now)
      if (!isOver) continue
      overAt ??= now
      if (visibleAt.length >= acknowledgedAt.length || now - overAt > patienceMs) return
    }
  })()
  await Promise.all([sending, watching])
  // The first was sent before the watch.
  const lags = visibleAt.slice(1).map((at, place) => Math.max(0, at - (acknowledgedAt[place + 1] ?? at)))
  return { lags, sent, acknowledged: acknowledgedAt.length, visible: visibleAt.length }
}

function makeWorkspace({ pg }: Installation): Promise<{ trackingKey: string; apiKey: string }> {
  return pg.transaction(async (tx) => {
    const { workspaceId } = await createWorkspace(tx, { name: 'Probe', timezone: 'UTC', plan: 'growth' })
    const trackingKey = await createTrackingKey(tx, workspaceId)
    const key = await createApiKey(tx, { workspaceId, name: 'probe', scopes })
    return { trackingKey, apiKey: key!.apiKey }
  })
}

/** Ingest hears of a new key within seconds. */
async function untilKnown(installation: Installation, trackingKey: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(100)) {
    if (await send(installation, trackingKey)) return
  }
  throw new Error('ingest does not know the key of the probe')
}

/** @returns whether it was taken */
export async function send(installation: Installation, trackingKey: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${installation.service('ingest').port}/api/v1/growth/track`, {
    method: 'POST',
    body: JSON.stringify({
      tracking_key: trackingKey,
      client_event_id: randomUUID(),
      event_name: 'pageview',
      url: 'https://example.com/probe',
      anonymous_id: randomUUID(),
      session_id: randomUUID(),
    }),
  })
  await response.arrayBuffer()
  return response.status === 202
}
