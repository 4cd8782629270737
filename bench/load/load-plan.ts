/** The request to a load child, and its answer. */

export interface LoadPlan {
  readonly port: number
  readonly path: string
  /** Requests take turns at them. */
  readonly trackingKeys: readonly string[]
  /** Eight hexadecimal digits, another for each load: every `client_event_id` begins with them. */
  readonly idPrefix: string
  /** Each has one request under way: uWebSockets.js closes a connection that sends another before an answer that waits. */
  readonly connections: number
  readonly requests: number
  /** 1: single events; more: batches. */
  readonly eventsPerRequest: number
  /** Requests a second, at equal distances whatever the answers do; undefined: as fast as they are answered. */
  readonly rate?: number
  /** Leaves the core to others between requests, which are sent up to a millisecond late. */
  readonly isSparing?: boolean
  /** In batches a few pages get most visits; undefined: all as often. */
  readonly hasBusyPages?: boolean
  /** After so long what is unanswered is given up. */
  readonly withinSeconds: number
}

export interface Question {
  readonly path: string
  /** Secret key of the API. */
  readonly apiKey: string
  /** With one, JSON, it is a POST, each under an Idempotency-Key of its own. */
  readonly body?: string
}

/** Requests, of which only status and latency are looked at. */
export interface AskPlan {
  readonly port: number
  /** Asked in turn. */
  readonly questions: readonly Question[]
  /** Opened as they are needed, each with one request under way. */
  readonly connections: number
  readonly requests: number
  /** As in `LoadPlan`: requests are due at fixed times, and wait for a connection when all are in use. */
  readonly rate?: number
  readonly withinSeconds: number
}

export interface LoadOutcome {
  readonly sent: number
  /** Answers by status. */
  readonly answers: Readonly<Record<string, number>>
  /** Sent, but the connection broke or time ran out. */
  readonly unanswered: number
  /** From the first request to the last answer. */
  readonly seconds: number
  /** Milliseconds; of a rated load from the moment when the request was due, so that a stall counts for all it delays. */
  readonly latency: Latency
  /** Answers 202 whose body says that not all events were taken. */
  readonly partial: number
}

export interface Latency {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** Parent → child: the plan, then `go` when everything else is in place. */
export type ToLoad<Plan = LoadPlan> = { type: 'plan'; plan: Plan } | { type: 'go' }
/** Child → parent. `ended` is told at once, so that what comes after the load isn't measured with it. */
export type FromLoad =
  | { type: 'ready' }
  | { type: 'ended' }
  | { type: 'done'; outcome: LoadOutcome }
  | { type: 'failed'; why: string }
