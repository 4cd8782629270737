/**
 * A turn: for a few seconds one process sends one endpoint's due deliveries, several at a time. A slow receiver delays only
 * its own deliveries. A delivery that fails by an internal error is set aside, and the turn continues.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { setJobAside } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { pauseDelivery } from '../../postgres/tables/webhooks/webhook-deliveries.ts'
import {
  type AttemptResult,
  type DueDelivery,
  failPending,
  listDue,
  type Turn,
} from '../../postgres/tables/webhooks/webhook-turns.ts'
import {
  webhookInFlightFailingMax,
  webhookInFlightMax,
  webhookReadEach,
  webhookTurnMs,
} from '../../schemas/limits/webhook-limits.ts'
import { attemptDelivery } from './attempt.ts'
import { makeRecorder } from './recorder.ts'
import type { SenderOptions } from './sender.ts'

/** Pending deliveries of a disabled endpoint that one statement ends. */
const failedEach = 1_000

export async function runTurn(turn: Turn, options: SenderOptions, signal: AbortSignal): Promise<void> {
  const { pg, agent, clock, metrics } = options
  const endsAt = performance.now() + webhookTurnMs
  const isOver = () => signal.aborted || performance.now() >= endsAt
  // The next turn ends what is left, and only then sends.
  if (turn.state !== 'enabled') while ((await failPending(pg, turn, failedEach)) === failedEach) if (isOver()) return
  if (turn.state === 'deleted') return
  const recorder = makeRecorder(pg, turn)
  const inFlight = new Set<number>()
  let ready: DueDelivery[] = []
  let reading: Promise<void> | undefined
  let isHeld = false
  let key: KeyObject | undefined

  const goesOn = () => !isOver() && !isHeld && recorder.health.state === turn.state

  async function read(): Promise<void> {
    const except = [...inFlight, ...recorder.waitingIds()]
    ready = await listDue(pg, turn, except, webhookReadEach)
    reading = undefined
  }

  async function next(): Promise<DueDelivery | undefined> {
    if (ready.length === 0) {
      reading ??= read()
      await reading
    }
    const delivery = goesOn() ? ready.shift() : undefined
    // At once: whoever reads next leaves it out.
    if (delivery !== undefined) inFlight.add(delivery.id)
    return delivery
  }

  async function send(delivery: DueDelivery): Promise<void> {
    const result = await attempt(delivery)
    if (result === undefined) return
    metrics.webhookAttempted(result.status, result.durationMs / 1000)
    isHeld ||= result.holdMs !== null
    recorder.add(result)
  }

  async function attempt(delivery: DueDelivery): Promise<AttemptResult | undefined> {
    try {
      key ??= signingKey(turn, options)
      return await attemptDelivery({ url: turn.url, key }, delivery, agent, clock)
    } catch (error) {
      await setAside(delivery, error, options)
      return undefined
    }
  }

  async function sendOneByOne(): Promise<void> {
    while (goesOn()) {
      const delivery = await next()
      if (delivery === undefined) return
      await send(delivery).finally(() => inFlight.delete(delivery.id))
    }
  }

  const atOnce = turn.isFailing ? webhookInFlightFailingMax : webhookInFlightMax
  try {
    // All of them, also where one failed: none may go on after the turn.
    const ended = await Promise.allSettled(Array.from({ length: atOnce }, sendOneByOne))
    for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
  } finally {
    await recorder.written()
  }
}

/** @throws Error where the secret can't be read any more: whoever owns the endpoint replaces it */
function signingKey({ secret: sealed }: Turn, { box }: SenderOptions): KeyObject {
  const secret = box.open(sealed)
  if (secret === null) throw new Error('the secret of the endpoint was stored under another SECRET_KEY')
  return createSecretKey(secret.replace('whsec_', ''), 'base64')
}

/** Tried again only when an operator says so: `svc jobs retry`. */
async function setAside(delivery: DueDelivery, error: unknown, { pg, log }: SenderOptions): Promise<void> {
  log.error({ err: error, delivery: delivery.id }, 'a delivery failed by our own fault, and was set aside')
  await pg.transaction(async (tx) => {
    await pauseDelivery(tx, delivery.id)
    await setJobAside(tx, deliverWebhook, `webhook_delivery_${delivery.id}`, String(error))
  })
}

export const deliverWebhook = 'deliver-webhook'
