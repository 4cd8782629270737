/**
 * A load client that remembers what it was promised. Half of its events carry a `client_event_id` and are sent again
 * until they are answered 202; the others are sent once, and count only when they are.
 */
import { Agent, request } from 'undici'
import { sleep } from '../../runtime/retry.ts'

const connections = 48
const sendDeadlineMs = 5_000

/** Where events go; asked again now and then, because it may change with a restart. */
export type LedgerTarget = () => { readonly trackingUrl: string; readonly trackingKey: string }

export interface Ledger {
  /** Acknowledged client event ids. */
  readonly claimed: Set<string>
  /** Ids answered for events without a client event id. */
  readonly plain: Set<number>
  /** 202s in the present run. */
  readonly acknowledged: number
  /** Answers other than 202, by status; 0: none. */
  readonly failures: Map<number, number>
  /** Sends until `stop`, as fast as answers come; resolves when nothing is under way any more. */
  run(target: LedgerTarget, stop: AbortSignal): Promise<void>
}

let run = 0

export function openLedger(): Ledger {
  const claimed = new Set<string>()
  const plain = new Set<number>()
  const failures = new Map<number, number>()
  let acknowledged = 0
  let next = 0
  run++
  const prefix = `${process.pid}-${run}-${Date.now()}`

  async function send(target: LedgerTarget, agent: Agent, clientEventId: string | null): Promise<number | null> {
    const { trackingUrl, trackingKey } = target()
    const body = {
      tracking_key: trackingKey,
      event_name: 'pageview',
      url: 'https://example.com/pricing?utm_source=news&utm_medium=email',
      anonymous_id: `visitor-${next % 500}`,
      session_id: `session-${next % 500}`,
      ...(clientEventId === null ? {} : { client_event_id: clientEventId }),
    }
    try {
      const answer = await request(`${trackingUrl}/track`, {
        method: 'POST',
        body: JSON.stringify(body),
        dispatcher: agent,
        headersTimeout: sendDeadlineMs,
        bodyTimeout: sendDeadlineMs,
      })
      const content = (await answer.body.json()) as { event_id: number }
      if (answer.statusCode === 202) return content.event_id
      failures.set(answer.statusCode, (failures.get(answer.statusCode) ?? 0) + 1)
    } catch {
      failures.set(0, (failures.get(0) ?? 0) + 1)
    }
    return null
  }

  return {
    claimed,
    plain,
    failures,
    get acknowledged() {
      return acknowledged
    },
    async run(target, stop) {
      const agent = new Agent({ connections, pipelining: 1, connect: { timeout: sendDeadlineMs } })
      const lanes = Array.from({ length: connections }, async (_, lane) => {
        while (!stop.aborted) {
          const clientEventId = lane % 2 === 0 ? `${prefix}-${next++}` : null
          for (;;) {
            const id = await send(target, agent, clientEventId)
            if (id !== null) {
              acknowledged++
              if (clientEventId === null) plain.add(id)
              else claimed.add(clientEventId)
              break
            }
            await sleep(20)
            // Without an id a repeat would be another event; with one it is sent on, after the end of the run as well.
            if (clientEventId === null || stop.aborted) break
          }
        }
      })
      await Promise.all(lanes)
      await agent.destroy()
    },
  }
}

export interface Verdict {
  /** Acknowledged and not in `events`. */
  readonly lost: number
  /** Stored more than once. */
  readonly doubled: number
  readonly rows: number
}

export type StoredEvent = { id: number; client_event_id: string }
export const storedEventsSql = 'SELECT id, client_event_id FROM events'

/** Compares the ledger with what is stored: the rows of `storedEventsSql`. */
export function judge(ledger: Ledger, rows: readonly StoredEvent[]): Verdict {
  const claimed = new Map<string, number>()
  const ids = new Map<number, number>()
  for (const { id, client_event_id } of rows) {
    ids.set(id, (ids.get(id) ?? 0) + 1)
    if (client_event_id !== '') claimed.set(client_event_id, (claimed.get(client_event_id) ?? 0) + 1)
  }
  let lost = 0
  for (const id of ledger.plain) if (!ids.has(id)) lost++
  for (const id of ledger.claimed) if (!claimed.has(id)) lost++
  const doubled = [...ids.values(), ...claimed.values()].filter((count) => count > 1).length
  return { lost, doubled, rows: rows.length }
}
