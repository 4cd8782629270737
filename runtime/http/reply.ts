/** Answers: the values that handlers return, and how one is written in one piece. */
import { STATUS_CODES } from 'node:http'
import type { FileBody } from './file-body.ts'
import type { HttpResponse } from './uws.ts'

export interface HttpReply {
  readonly status: number
  /** Content-Length, Date, Connection and X-Request-Id are added. */
  readonly headers?: Readonly<Record<string, string>>
  /** Each becomes a `Set-Cookie` of its own. */
  readonly cookies?: readonly string[]
  readonly body?: string | Uint8Array
  /** In place of `body`. */
  readonly file?: FileBody
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

/** Writes a reply without a file over uWebSockets.js. The response mustn't have been aborted or answered. */
export function sendReply(
  response: HttpResponse,
  reply: HttpReply,
  { requestId, headOnly, closes }: SendOptions,
): void {
  response.cork(() => {
    writeHead(response, reply, requestId)
    const body = reply.body ?? ''
    if (reply.status === 204 || reply.status === 304) {
      response.endWithoutBody()
    } else if (headOnly) {
      endHead(response, body)
    } else {
      response.end(body, closes)
    }
  })
}

/**
 * Ends the answer to HEAD with the length that GET's body has. `endWithoutBody` mustn't be told the length: the answer then counts
 * as not given, and uWebSockets.js ends the process where nothing listens for an abort.
 */
export function endHead(response: HttpResponse, body: string | Uint8Array): void {
  response.writeHeader('Content-Length', String(Buffer.byteLength(body)))
  response.endWithoutBody()
}

/** Status and headers, save for the length. */
function writeHead(response: HttpResponse, { status, headers = {}, cookies = [] }: HttpReply, requestId: string): void {
  response.writeStatus(statusLines.get(status) ?? String(status))
  response.writeHeader('X-Request-Id', requestId)
  for (const [name, value] of Object.entries(headers)) response.writeHeader(name, value)
  for (const cookie of cookies) response.writeHeader('Set-Cookie', cookie)
}
