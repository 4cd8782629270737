/**
 * Requests that are ready to be sent but for their ids, which are written in place. A request belongs to one connection
 * from its sending to its answer: until then the socket may still have to read it.
 */
import { batchBody, counterDigits, eventVariants, idsOf, numbersOf, singleBody } from './event-bodies.ts'
import type { LoadPlan } from './load-plan.ts'

export interface PreparedRequest {
  readonly bytes: Buffer
  /** Which of the load's workspaces it goes to. */
  readonly workspace: number
  /** Where the counters of each event's ids stand. */
  readonly events: readonly { readonly event: number; readonly visit: number; readonly visitor: number }[]
}

export class RequestPool {
  private readonly free: PreparedRequest[] = []
  private nextFree = 0
  private eventCount = 0
  /** By workspace. */
  private readonly eventCounts: number[]

  constructor(plan: LoadPlan) {
    this.eventCounts = plan.trackingKeys.map(() => 0)
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
    const { workspace } = request
    for (const places of request.events) {
      const numbers = numbersOf(this.eventCount++, this.eventCounts[workspace]!++, this.eventCounts.length)
      writeCounter(request.bytes, places.event, numbers.event)
      writeCounter(request.bytes, places.visit, numbers.visit)
      writeCounter(request.bytes, places.visitor, numbers.visitor)
    }
    return request
  }

  giveBack(request: PreparedRequest): void {
    this.free.push(request)
  }
}

function prepare(plan: LoadPlan, at: number): PreparedRequest {
  const variant = eventVariants[at % eventVariants.length]!
  const workspace = at % plan.trackingKeys.length
  const trackingKey = plan.trackingKeys[workspace]!
  const placeholders = idsOf(plan.idPrefix, { event: 0, visit: 0, visitor: 0 })
  const body =
    plan.eventsPerRequest === 1
      ? singleBody(trackingKey, variant, placeholders)
      : batchBody(trackingKey, at * plan.eventsPerRequest, plan.eventsPerRequest, placeholders, plan.hasBusyPages)
  const head = [
    `POST ${plan.path} HTTP/1.1`,
    `Host: 127.0.0.1:${plan.port}`,
    `User-Agent: ${variant.userAgent}`,
    'Content-Type: text/plain;charset=UTF-8',
    'Origin: https://example.com',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  const visits = countersOf(bytes, placeholders.session_id)
  const visitors = countersOf(bytes, placeholders.anonymous_id)
  const events = countersOf(bytes, placeholders.client_event_id).map((event, place) => ({
    event,
    visit: visits[place]!,
    visitor: visitors[place]!,
  }))
  return { bytes, workspace, events }
}

/** Where the counters of `placeholder` stand. */
function countersOf(bytes: Buffer, placeholder: string): number[] {
  const found: number[] = []
  for (let from = bytes.indexOf(placeholder); from >= 0; from = bytes.indexOf(placeholder, from + 1)) {
    found.push(from + placeholder.length - counterDigits)
  }
  return found
}

function writeCounter(bytes: Buffer, at: number, counter: number): void {
  let rest = counter
  for (let digit = at + counterDigits - 1; digit >= at; digit--) {
    const value = rest % 16
    bytes[digit] = value < 10 ? 48 + value : 87 + value
    if (rest > 0) rest = Math.floor(rest / 16)
  }
}
