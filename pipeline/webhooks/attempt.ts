/**
 * One attempt: a signed POST with a deadline. Little of the answer is read, and redirects aren't followed. Anything
 * that the receiver does is a result; only our own faults throw.
 */
import { createHmac, type KeyObject } from 'node:crypto'
import type { Dispatcher } from 'undici'
import type { AttemptResult, DueDelivery } from '../../postgres/tables/webhooks/webhook-turns.ts'
import type { Clock } from '../../runtime/clock.ts'
import { failureText } from '../../runtime/outbound/failure-text.ts'
import { webhookJitter, webhookRetryAfterMaxMs, webhookRetryDelaysMs } from '../../schemas/limits/webhook-limits.ts'
import { type Answer, sendRequest } from './send-request.ts'

export interface Target {
  readonly url: string
  /** Without its `whsec_`, decoded. */
  readonly key: KeyObject
}

export async function attemptDelivery(
  { url, key }: Target,
  delivery: DueDelivery,
  agent: Dispatcher,
  clock: Clock,
): Promise<AttemptResult> {
  const { createdAt, object } = delivery
  if (createdAt === null || object === null) return resultOf(delivery, 0, 'The event is no longer kept')
  const body = payloadOf(delivery, createdAt, object)
  const headers = { ...signedHeaders(delivery.eventId, body, key, clock.now()), ...fixedHeaders }
  const startedAt = performance.now()
  const ended = () => performance.now() - startedAt
  try {
    const answer = await sendRequest(url, headers, body, agent)
    return resultOf(delivery, ended(), answer, clock.now())
  } catch (error) {
    return resultOf(delivery, ended(), failureText(error))
  }
}

const fixedHeaders = { 'content-type': 'application/json', 'user-agent': 'svc-webhooks' }

/** `object` is JSON already. The same for every attempt on a delivery. */
function payloadOf({ eventId, eventType, workspaceId }: DueDelivery, createdAt: Date, object: string): string {
  const about = { id: eventId, type: eventType, created_at: createdAt.toISOString(), workspace_id: workspaceId }
  return `${JSON.stringify(about).slice(0, -1)},"data":{"object":${object}}}`
}

/** Standard Webhooks, of one secret. */
function signedHeaders(id: string, body: string, key: KeyObject, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

function resultOf(delivery: DueDelivery, durationMs: number, came: Answer | string, now = 0): AttemptResult {
  const about = {
    deliveryId: delivery.id,
    attemptsBefore: delivery.attemptCount,
    retryStep: delivery.retryStep,
    isByHand: delivery.isByHand,
    durationMs,
  }
  if (typeof came === 'string') {
    const isGone = delivery.object === null
    const waitMs = isGone ? null : waitAfter(delivery.retryStep, 0)
    const status = waitMs === null ? 'failed' : 'pending'
    return { ...about, status, responseStatus: null, responseBody: null, error: came, waitMs, holdMs: null }
  }
  const answered = { ...about, responseStatus: came.status, responseBody: came.body }
  if (came.status >= 200 && came.status < 300) {
    return { ...answered, status: 'delivered', error: null, waitMs: null, holdMs: null }
  }
  const error = `The endpoint answered ${came.status}`
  // 410: it wants no more of them.
  if (came.status === 410) return { ...answered, status: 'failed', error, waitMs: null, holdMs: null }
  const holdMs = came.status === 429 || came.status === 503 ? retryAfterMs(came.retryAfter, now) : null
  const waitMs = waitAfter(delivery.retryStep, holdMs ?? 0)
  return { ...answered, status: waitMs === null ? 'failed' : 'pending', error, waitMs, holdMs }
}

/** Null after the last attempt. */
function waitAfter(step: number, leastMs: number): number | null {
  const delayMs = webhookRetryDelaysMs[step]
  return delayMs === undefined ? null : Math.max(leastMs, delayMs) * (1 + Math.random() * webhookJitter)
}

/** Seconds or a date; null where it is neither. */
export function retryAfterMs(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), webhookRetryAfterMaxMs)
}
