/**
 * Sends the outbox to webhooks. Postgres holds all of it: outbox, deliveries, when each is due and which process has an
 * endpoint's turn. So nothing is lost with Redis, and nothing has to be rebuilt.
 *
 *   outbox ─fan out─► deliveries ─due─► a turn of their endpoint (one process at a time) ─► attempts ─► results
 *
 * | killed …                         | afterwards                                                                   |
 * |----------------------------------|------------------------------------------------------------------------------|
 * | in the fan-out                   | all deliveries of an event, or none: one statement                            |
 * | in a turn, before an attempt     | due as before; another process has the turn once the lease is over            |
 * | after an attempt, before its row | sent again, under the same webhook-id                                         |
 * | stalled beyond its lease         | two processes send the same under one id; the first result that is written counts |
 *
 * Held by test/integration/webhook-deliveries.test.ts, webhook-receivers.test.ts and test/crash/kill.test.ts.
 */
import { randomUUID } from 'node:crypto'
import type { Dispatcher } from 'undici'
import type { Postgres } from '../../postgres/client.ts'
import { retryAsked } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { retryPausedDeliveries } from '../../postgres/tables/webhooks/webhook-deliveries.ts'
import { endTurn, fanOut, type Turn, takeTurns } from '../../postgres/tables/webhooks/webhook-turns.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import {
  webhookFanOutMax,
  webhookLeaseMs,
  webhookPollMs,
  webhookTurnsMax,
} from '../../schemas/limits/webhook-limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { deliverWebhook, runTurn } from './turn.ts'

export interface SenderOptions {
  readonly pg: Postgres
  readonly agent: Dispatcher
  readonly box: SecretBox
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
}

export interface Sender {
  /** Begins no more attempts, and waits a bounded time for those under way. */
  close(): Promise<void>
}

/** How often operators' requests for another try are looked for. */
const retriesEveryMs = 2_000
const afterFailureMs = 1_000
/** For attempts under way: within the 20 s of a step of the shutdown. */
const closeDeadlineMs = 16_000

export function startSender(options: SenderOptions): Sender {
  const { pg, log } = options
  const holder = randomUUID()
  const stopping = new AbortController()
  const { signal } = stopping
  const turns = new Set<Promise<void>>()
  let retriesAt = Number.NEGATIVE_INFINITY
  let isWell = true
  let wake = () => {}

  /** @returns whether there may be more to do at once */
  async function round(): Promise<boolean> {
    const events = await fanOut(pg, webhookFanOutMax)
    if (performance.now() - retriesAt > retriesEveryMs) {
      retriesAt = performance.now()
      await retryAsked(pg, deliverWebhook, retryPausedDeliveries)
    }
    const room = webhookTurnsMax - turns.size
    for (const turn of room > 0 ? await takeTurns(pg, holder, webhookLeaseMs, room) : []) begin(turn)
    return events === webhookFanOutMax
  }

  function begin(turn: Turn): void {
    const running = runTurn(turn, options, signal)
      .catch((error) => log.warn({ err: error, endpoint: turn.endpointId }, 'a turn of a webhook endpoint ended early'))
      .then(() => endTurn(pg, turn.endpointId, holder))
      // The lease runs out by itself.
      .catch(() => {})
      .finally(() => {
        turns.delete(running)
        wake()
      })
    turns.add(running)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let pauseMs: number = webhookPollMs
      try {
        if (await round()) pauseMs = 0
        if (!isWell) log.info('webhooks are sent again')
        isWell = true
      } catch (error) {
        if (isWell) log.warn({ err: error }, 'webhooks can not be sent now')
        isWell = false
        pauseMs = afterFailureMs
      }
      if (pauseMs > 0) await pause(pauseMs)
    }
  }

  /** Ends with a turn as well: its endpoint may have more. */
  async function pause(ms: number): Promise<void> {
    if (signal.aborted) return
    const woken = new AbortController()
    wake = () => woken.abort()
    await sleep(ms, woken.signal)
  }

  // Not AbortSignal.any: in Node 20 a signal that lasts keeps a trace of each signal made of it.
  signal.addEventListener('abort', () => wake())
  const running = run()
  return {
    close: async () => {
      stopping.abort(new Error('the pipeline is stopping'))
      const ended = running.then(() => Promise.all(turns))
      await withDeadline(ended, closeDeadlineMs, 'ending the attempts on webhooks').catch((error) =>
        log.warn({ err: error }, 'left attempts on webhooks under way: they are sent again under the same ids'),
      )
      await options.agent.destroy()
    },
  }
}
