/**
 * Writes the attempts of a turn down soon after they end, those that end at about the same time with one statement. A
 * Postgres that is away is tried again until the turn's lease is over; then another process sends them again, under the
 * same ids.
 */
import type { Postgres } from '../../postgres/client.ts'
import {
  type AttemptResult,
  type EndpointHealth,
  recordAttempts,
  type Turn,
} from '../../postgres/tables/webhooks/webhook-turns.ts'
import { backoffMs, sleep } from '../../runtime/retry.ts'
import { webhookFailingMaxMs, webhookLeaseMs } from '../../schemas/limits/webhook-limits.ts'

export interface Recorder {
  /** How the endpoint was when attempts were written down last. */
  readonly health: EndpointHealth
  /** Deliveries that aren't written down yet. */
  waitingIds(): number[]
  add(result: AttemptResult): void
  /** Resolves once all is written down. @throws the store's error when it couldn't be */
  written(): Promise<void>
}

/** Results of this time share one statement. After a kill at most these attempts are sent again. */
const gatherMs = 30
const retryFirstMs = 100
const retryMaxMs = 2_000

export function makeRecorder(pg: Postgres, turn: Turn): Recorder {
  const deadline = performance.now() + webhookLeaseMs
  let health: EndpointHealth = turn
  let waiting: AttemptResult[] = []
  let underWay: readonly AttemptResult[] = []
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      await sleep(gatherMs)
      underWay = waiting
      waiting = []
      health = await write(underWay)
      underWay = []
    }
    writing = undefined
  }

  async function write(results: readonly AttemptResult[]): Promise<EndpointHealth> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await recordAttempts(pg, { ...turn, ...health }, results, webhookFailingMaxMs)
      } catch (error) {
        if (performance.now() > deadline) throw error
        await sleep(backoffMs(attempt, retryFirstMs, retryMaxMs))
      }
    }
  }

  return {
    get health() {
      return health
    },
    waitingIds: () => [...underWay, ...waiting].map(({ deliveryId }) => deliveryId),
    add: (result) => {
      waiting.push(result)
      writing ??= writeAll()
      // Said by `written`.
      writing.catch(() => {})
    },
    written: async () => {
      await writing
    },
  }
}
