/**
 * Requests that are ready to be sent but for their ids, which are written in place. A request belongs to one connection
 * from its sending to its answer: until then the socket may still have to read it.
 */
import { batchBody, counterDigits, eventId, eventVariants, singleBody } from './event-bodies.ts'
import type { LoadPlan } from './load-plan.ts'

export interface PreparedRequest {
  readonly bytes: Buffer
  /** Where the counters of its events' ids stand. */
  readonly counters: readonly number[]
}

export class RequestPool {
  private readonly free: PreparedRequest[] = []
  private nextFree = 0
  private eventCount = 0

  constructor(plan: LoadPlan) {
    // All variants at least once, and some to spare, so that one comes round only after the others.
    const count = Math.max(plan.eventsPerRequest === 1 ? eventVariants.length : 64, plan.connections) + 64
    for (let at = 0; at < count; at++) this.free.push(prepare(plan, at))
  }

  /** The next request, with ids that no other had. Give it back when it is answered. */
  take(): PreparedRequest {
    const request = this.free[this.nextFree++]!
    if (this.nextFree > 1024) {
      this.free.splice(0, this.nextFree)
      this.nextFree = 0
    }
    for (const at of request.counters) writeCounter(request.bytes, at, this.eventCount++)
    return request
  }

  giveBack(request: PreparedRequest): void {
    this.free.push(request)
  }
}

function prepare(plan: LoadPlan, at: number): PreparedRequest {
  const variant = eventVariants[at % eventVariants.length]!
  const placeholder = eventId(plan.idPrefix, 0)
  const body =
    plan.eventsPerRequest === 1
      ? singleBody(plan.trackingKey, variant, placeholder)
      : batchBody(plan.trackingKey, at * plan.eventsPerRequest, Array(plan.eventsPerRequest).fill(placeholder))
  const head = [
    `POST ${plan.path} HTTP/1.1`,
    `Host: 127.0.0.1:${plan.port}`,
    `User-Agent: ${variant.userAgent}`,
    'Content-Type: text/plain;charset=UTF-8',
    'Origin: https://example.com',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  const counters: number[] = []
  for (let from = bytes.indexOf(placeholder); from >= 0; from = bytes.indexOf(placeholder, from + 1)) {
    counters.push(from + placeholder.length - counterDigits)
  }
  return { bytes, counters }
}

function writeCounter(bytes: Buffer, at: number, counter: number): void {
  let rest = counter
  for (let digit = at + counterDigits - 1; digit >= at; digit--) {
    const value = rest % 16
    bytes[digit] = value < 10 ? 48 + value : 87 + value
    if (rest > 0) rest = Math.floor(rest / 16)
  }
}
