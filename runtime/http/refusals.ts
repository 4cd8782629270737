/** The closed list of refusals before any route's own code runs, with the answers. */
import { type HttpReply, jsonReply } from './reply.ts'

export interface Refusal {
  readonly status: number
  readonly detail: string
  /** The rest of the connection's data can't be trusted, or isn't worth reading. */
  readonly closes: boolean
  /** Seconds after which to try again. */
  readonly retryAfter?: number
}

const gatheredBytesMax = 16 * 1024

/**
 * uWebSockets.js gathers small answers and goes on with data that it has already read. It would run the rest of a badly
 * framed body as a request before it closes. An answer larger than its 16 KiB buffer is written, and the connection
 * closed at once. So the body is filled up with blanks, which JSON allows.
 */
export function cuttingBody({ detail }: Refusal): string {
  return JSON.stringify({ detail }).padEnd(gatheredBytesMax + 1)
}

export const refusals = {
  badFraming: { status: 400, detail: 'Invalid Content-Length or Transfer-Encoding', closes: true },
  manyHosts: { status: 400, detail: 'Exactly one Host header is needed', closes: true },
  bodiesFull: { status: 503, detail: 'Too many request bodies are arriving', closes: true, retryAfter: 5 },
  bodyLate: { status: 408, detail: 'The request body did not arrive in time', closes: true },
  bodyTooLarge: { status: 413, detail: 'Request body is too large', closes: true },
  encoding: { status: 415, detail: 'Content-Encoding is not supported: send the body as it is', closes: false },
} as const satisfies Record<string, Refusal>

export function refusalReply({ status, detail, retryAfter }: Refusal): HttpReply {
  return jsonReply(status, { detail }, retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) })
}
