/**
 * Answers requests that Node's parser refuses, before there is a request that a handler could see. They get an answer
 * with a body and an id like any other, and their connection ends with it.
 */
import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { endLingering } from '../../runtime/http/linger.ts'
import { requestIdInHead } from '../../runtime/http/request-id.ts'
import { unparsedRefusals } from '../../runtime/http/unparsed.ts'

/** An answer that is written without a response of Node's. */
export interface WrittenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

const askWithinMs = 5_000

const refusals: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, unparsedRefusals.headLate.detail],
  HPE_HEADER_OVERFLOW: [431, unparsedRefusals.headTooLarge.detail],
}
const malformed = [400, unparsedRefusals.malformed.detail] as const

/** @param answerUnknownMethod answers a method that Node doesn't know with the methods that the path takes */
export function answerRefused(
  server: Server,
  answerUnknownMethod: (path: string, requestId: string) => Promise<WrittenAnswer>,
): void {
  const current = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse; before?: ServerResponse }>()
  const refused = new WeakSet<Socket>()
  server.on('request', (request, response) => {
    const before = current.get(request.socket)?.response
    current.set(request.socket, { request, response, ...(before && { before }) })
  })
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const last = current.get(socket)
    // The error is in the body of the last request, or behind it.
    if (last && !last.request.complete && last.response.headersSent) return void socket.destroy()
    const before = last?.request.complete ? last.response : last?.before
    void refusalOf(error, answerUnknownMethod).then((reply) => {
      if (before === undefined || before.writableFinished) end(socket, reply)
      // Ahead of others that wait for it: so a request with a bad body doesn't begin.
      else before.prependOnceListener('close', () => end(socket, reply))
    })
  })
}

/** The answer of the service on `port` to a method that no route takes, for a path: one that Node can send. */
export async function askMethods(port: number, path: string, requestId: string): Promise<WrittenAnswer> {
  const headers = { 'X-Request-Id': requestId }
  const signal = AbortSignal.timeout(askWithinMs)
  const asked = sendRequest({ host: '127.0.0.1', port, path, method: 'TRACE', headers, agent: false, signal }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const body = (await answer.toArray()).join('')
  const {
    connection: _c,
    'content-length': _l,
    'transfer-encoding': _t,
    date: _d,
    'keep-alive': _k,
    ...kept
  } = answer.headers
  const shown = Object.entries(kept).map(([name, value]) => [name, String(value)] as const)
  return { status: answer.statusCode!, headers: Object.fromEntries(shown), body }
}

async function refusalOf(
  error: ParserError,
  answerUnknownMethod: (path: string, requestId: string) => Promise<WrittenAnswer>,
): Promise<WrittenAnswer> {
  const head = headAt(error)
  const requestId = requestIdInHead(head)
  const [, path] = /^[!#$%&'*+.^`|~\w-]+ (\/[^\s?]*)(?:\?\S*)? HTTP\/1\.[01]\r?\n/.exec(head) ?? []
  if (error.code === 'HPE_INVALID_METHOD' && path !== undefined) return answerUnknownMethod(path, requestId)
  const [status, detail] = refusals[error.code ?? ''] ?? malformed
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': requestId }
  return { status, headers, body: JSON.stringify({ detail }) }
}

/** The head of the request that the parser stopped in, as far as its last packet has it. */
function headAt({ rawPacket, bytesParsed = 0, code }: ParserError): string {
  const text = rawPacket?.toString('latin1') ?? ''
  // A bad method is the first word of its request's first line; anything else stands behind the request before.
  const [mark, skipped] = code === 'HPE_INVALID_METHOD' ? ['\n', 1] : ['\r\n\r\n', 4]
  const before = bytesParsed === 0 ? -1 : text.lastIndexOf(mark, bytesParsed - 1)
  const head = before < 0 ? text : text.slice(before + skipped)
  const end = head.search(/\r?\n\r?\n/)
  return end < 0 ? head : head.slice(0, end + 2)
}

function end(socket: Socket, { status, headers, body }: WrittenAnswer): void {
  if (!socket.writable) return void socket.destroy()
  const lines = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  endLingering(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`)
}
