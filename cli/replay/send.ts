/**
 * Sends batches to the public interface, a few at once. A batch that ingest can't take now (429, 503, 5xx, no
 * connection) is sent again after the time that the answer names. Every event has its `client_event_id`, so a repeat
 * isn't counted twice.
 */
import { Agent, request } from 'undici'
import { backoffMs, sleep } from '../../runtime/retry.ts'
import { CommandFailed, type Progress } from '../command.ts'

export interface SendCounts {
  sent: number
  accepted: number
  deduplicated: number
  rejected: number
  /** By rules of the workspace; not there where there are none. */
  excluded?: number
  /** Batches that had to be sent again. */
  retries: number
}

export interface SendTarget {
  /** Root of the public tracking interface. */
  readonly trackingUrl: string
  readonly trackingKey: string
  /** The route below it that takes batches, and the member of its body that holds them. */
  readonly route: { readonly path: string; readonly member: string }
}

export const pageRoute = { path: '/track/batch', member: 'events' } as const
export const botRoute = { path: '/bots/track', member: 'visits' } as const

const inFlightMax = 4
const requestTimeoutMs = 30_000
const retryFirstMs = 250
const retryMaxMs = 10_000
/** Nothing was taken for so long: give up. */
const patienceMs = 5 * 60_000

interface BatchAnswer {
  accepted: number
  deduplicated: number
  rejected: { index: number; detail: { loc?: unknown[]; msg?: string }[] }[]
  excluded?: unknown[]
}

export interface Sender {
  readonly counts: SendCounts
  /** Resolves when there is room for the next batch. */
  send(events: readonly unknown[]): Promise<void>
  /** Resolves when all batches are answered. @throws CommandFailed when one couldn't be delivered */
  finish(): Promise<void>
  close(): Promise<void>
}

export function makeSender(
  { trackingUrl, trackingKey, route }: SendTarget,
  progress: Progress,
  signal: AbortSignal,
): Sender {
  const agent = new Agent({ connections: inFlightMax, pipelining: 1 })
  const url = trackingUrl + route.path
  const counts: SendCounts = { sent: 0, accepted: 0, deduplicated: 0, rejected: 0, retries: 0 }
  const inFlight = new Set<Promise<void>>()
  /** Reasons of rejections that were shown: each once. */
  const shown = new Set<string>()
  let failure: unknown
  /** Aborted when the replay has failed. */
  const given = new AbortController()
  let lastTaken = 0

  async function deliver(events: readonly unknown[]): Promise<void> {
    const body = JSON.stringify({ tracking_key: trackingKey, [route.member]: events })
    const startedAt = performance.now()
    for (let attempt = 0; ; attempt++) {
      // Once a batch has failed for good, the others are not waited for.
      if (signal.aborted || failure !== undefined) throw new CommandFailed('interrupted')
      const outcome = await post(url, body, agent)
      if ('answer' in outcome) {
        lastTaken = performance.now()
        count(events.length, outcome.answer)
        return
      }
      counts.retries++
      if (performance.now() - Math.max(lastTaken, startedAt) > patienceMs)
        throw new CommandFailed(`gave up on ${url}: ${outcome.reason}`)
      if (attempt === 0) progress.running(`waiting: ${outcome.reason}`)
      const wait = Math.max(outcome.waitMs, backoffMs(attempt, retryFirstMs, retryMaxMs))
      await sleep(wait, AbortSignal.any([signal, given.signal]))
    }
  }

  function count(sent: number, { accepted, deduplicated, rejected, excluded }: BatchAnswer): void {
    counts.sent += sent
    counts.accepted += accepted
    counts.deduplicated += deduplicated
    counts.rejected += rejected.length
    if (excluded !== undefined) counts.excluded = (counts.excluded ?? 0) + excluded.length
    for (const { detail } of rejected) {
      const reason = detail.map(({ loc, msg }) => `${loc?.at(-1)}: ${msg}`).join('; ')
      if (shown.has(reason) || shown.size >= 10) continue
      shown.add(reason)
      progress.line(`rejected: ${reason}`)
    }
  }

  function throwFailure(): void {
    if (failure !== undefined) throw failure
  }

  return {
    counts,
    send: async (events) => {
      const delivery: Promise<void> = deliver(events)
        .catch((error) => {
          failure ??= error
          given.abort()
        })
        .finally(() => inFlight.delete(delivery))
      inFlight.add(delivery)
      if (inFlight.size >= inFlightMax) await Promise.race(inFlight)
      throwFailure()
    },
    finish: async () => {
      await Promise.all(inFlight)
      throwFailure()
    },
    close: () => {
      // Batches that are still under way would be sent again for minutes, over an agent that is gone.
      failure ??= new CommandFailed('interrupted')
      given.abort()
      return agent.destroy()
    },
  }
}

/** @throws CommandFailed for what a repeat won't change */
async function post(
  url: string,
  body: string,
  agent: Agent,
): Promise<{ answer: BatchAnswer } | { reason: string; waitMs: number }> {
  let status: number
  let text: string
  let retryAfter: string | string[] | undefined
  try {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      dispatcher: agent,
      headersTimeout: requestTimeoutMs,
      bodyTimeout: requestTimeoutMs,
    })
    status = response.statusCode
    retryAfter = response.headers['retry-after']
    text = await response.body.text()
  } catch (error) {
    return { reason: (error as Error).message || String((error as NodeJS.ErrnoException).code), waitMs: 0 }
  }
  if (status === 202) return { answer: JSON.parse(text) as BatchAnswer }
  const said = `${status} ${text.slice(0, 300)}`
  if (status === 429 || status >= 500) return { reason: said, waitMs: (Number(retryAfter) || 0) * 1000 }
  throw new CommandFailed(`${url} answered ${said}`)
}
