/** Answers requests that Node's parser gives up on: they get a status, a body and an id as all others do. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type RequestHead, splitUrl } from './head.ts'
import { endLingering } from './linger.ts'
import { type Refusal, refusalReply, refusals } from './refusals.ts'
import type { HttpReply } from './reply.ts'
import { requestIdInHead } from './request-id.ts'

type Routed = { readonly reply: HttpReply } | object

export const unparsedRefusals = {
  malformed: { status: 400, detail: 'The request is no HTTP', closes: true },
  headLate: { status: 408, detail: 'The request did not arrive in time', closes: true },
  headTooLarge: { status: 431, detail: 'The headers of the request are too large', closes: true },
} as const satisfies Record<string, Refusal>

/** @param route answers an unknown method, as Node's parser knows no others than those of its list */
export function answerUnparsed(
  error: Error & { code?: string; rawPacket?: Buffer },
  socket: Socket,
  route: (head: RequestHead) => Routed,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const text = error.rawPacket?.toString('latin1') ?? ''
  const found = error.code === 'HPE_INVALID_METHOD' ? routed(text, socket, route) : undefined
  const { status, headers = {}, body = '' } = found ?? refusalReply(refusalOf(error.code))
  const lines = Object.entries({
    Date: new Date().toUTCString(),
    ...headers,
    'X-Request-Id': requestIdInHead(text),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  endLingering(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** A good request line with a method that no route has: 405 or 404. */
function routed(text: string, socket: Socket, route: (head: RequestHead) => Routed): HttpReply | undefined {
  const [, method, url] = /^([!#$%&'*+.^\w`|~-]+) (\/\S*) HTTP\/1\.[01]\r\n/.exec(text) ?? []
  if (method === undefined) return undefined
  const head: RequestHead = {
    method,
    ...splitUrl(url!),
    headers: new Map(),
    requestId: '',
    socketAddress: socket.remoteAddress ?? '',
    bodyLength: undefined,
    fault: undefined,
    isEncoded: false,
  }
  const found = route(head)
  return 'reply' in found ? found.reply : undefined
}

function refusalOf(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return unparsedRefusals.headTooLarge
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return unparsedRefusals.headLate
  return /LENGTH|TRANSFER_ENCODING/.test(code ?? '') ? refusals.badFraming : unparsedRefusals.malformed
}
