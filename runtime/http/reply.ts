/** Answers: what a handler returns, and how it is written in one piece. */
import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from './uws.ts'

export interface HttpReply {
  readonly status: number
  /** Content-Length, Date, Connection and X-Request-Id are added. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const statusLines = new Map(Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]))

/** A JSON body as it is always sent. */
export function jsonReply(status: number, body: unknown, headers?: Readonly<Record<string, string>>): HttpReply {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

export interface SendOptions {
  readonly requestId: string
  /** The answer to HEAD: all headers of GET, and no body. */
  readonly headOnly: boolean
  /** Ends the connection after this answer. */
  readonly closes: boolean
}

/** Writes the reply at once. The response mustn't have been aborted or answered. */
export function sendReply(
  response: HttpResponse,
  reply: HttpReply,
  { requestId, headOnly, closes }: SendOptions,
): void {
  response.cork(() => {
    response.writeStatus(statusLines.get(reply.status) ?? String(reply.status))
    response.writeHeader('X-Request-Id', requestId)
    for (const [name, value] of Object.entries(reply.headers ?? {})) response.writeHeader(name, value)
    const body = reply.body ?? ''
    if (reply.status === 204 || reply.status === 304) {
      response.endWithoutBody()
    } else if (headOnly) {
      // endWithoutBody's own reported length leaves the connection waiting for a body that never comes.
      response.writeHeader('Content-Length', String(Buffer.byteLength(body)))
      response.endWithoutBody()
    } else {
      response.end(body, closes)
    }
  })
}
