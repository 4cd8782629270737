/**
 * What a request says before its body. A uWebSockets.js request is gone after the first await, so all of it is copied at
 * once. Here is also judged how the body is framed: uWebSockets.js takes the first of two Content-Length headers and
 * would run the rest of the body as a request of its own, and it takes any Transfer-Encoding for `chunked`.
 */
import { requestIdOf } from './request-id.ts'
import type { HttpResponse, HttpRequest as UwsRequest } from './uws.ts'

export interface RequestHead {
  /** Upper case. */
  readonly method: string
  /** As sent, from the first slash to the question mark. */
  readonly path: string
  /** What follows the question mark, as sent. */
  readonly query: string
  /** Names in lower case; a repeated one has its values joined by `, `. */
  readonly headers: ReadonlyMap<string, string>
  readonly requestId: string
  /** The connection's own: mostly a balancer's. */
  readonly socketAddress: string
  /** Content-Length; undefined when the body is chunked or there is none. */
  readonly bodyLength: number | undefined
  /** False when where the body ends can't be trusted. */
  readonly isFramed: boolean
  /** The body is compressed, which no route takes. */
  readonly isEncoded: boolean
}

const lengthPattern = /^\d{1,15}$/

export function copyHead(request: UwsRequest, response: HttpResponse): RequestHead {
  const headers = new Map<string, string>()
  let isLengthRepeated = false
  request.forEach((name, value) => {
    const before = headers.get(name)
    if (before === undefined) {
      headers.set(name, value)
    } else {
      isLengthRepeated ||= name === 'content-length' || name === 'transfer-encoding'
      headers.set(name, `${before}, ${value}`)
    }
  })
  const length = headers.get('content-length')
  return {
    method: request.getMethod().toUpperCase(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers,
    requestId: requestIdOf(headers.get('x-request-id') ?? ''),
    socketAddress: Buffer.from(response.getRemoteAddressAsText()).toString('latin1'),
    bodyLength: length === undefined ? undefined : Number(length),
    isFramed: !isLengthRepeated && isFramed(length, headers.get('transfer-encoding')),
    isEncoded: (headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity',
  }
}

function isFramed(length: string | undefined, transfer: string | undefined): boolean {
  if (transfer !== undefined) return length === undefined && transfer.toLowerCase() === 'chunked'
  return length === undefined || lengthPattern.test(length)
}
