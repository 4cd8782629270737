/**
 * Ingest's HTTP face. The tracking routes are the hot path, so they don't go through runtime/http/server.ts: headers are
 * read in one pass into fields, a body that arrives whole is parsed where it lies, one cork an answer. What is refused and
 * how is the same as there.
 *
 * A uWebSockets.js request is valid only before the handler returns, a chunk only within its callback.
 */

import { type Listening, listenAlone } from '../runtime/http/listen.ts'
import { refusals } from '../runtime/http/refusals.ts'
import { requestIdOf } from '../runtime/http/request-id.ts'
import { type HttpRequest, type HttpResponse, uws } from '../runtime/http/uws.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { batchBodyBytesMax, bodyDeadlineMs, retryAfterSeconds, trackBodyBytesMax } from '../schemas/limits.ts'
import type { Answer, Endpoint, Receiver } from './receive.ts'
import { RequestSender } from './request-sender.ts'
import type { TrustedProxies } from './trusted-proxy.ts'

export interface IngestServerOptions {
  readonly receiver: Receiver
  readonly proxies: TrustedProxies
  readonly countryHeader: string
  readonly metrics: Metrics
  /** The body of the health route and whether events are taken. */
  readonly health: () => { isWell: boolean; body: Record<string, unknown> }
  readonly observeAnswer: (status: number) => void
  readonly log: Log
}

const root = '/api/v1/growth'
const bodyBytesMax: Record<Endpoint, number> = {
  track: trackBodyBytesMax,
  batch: batchBodyBytesMax,
  bots: batchBodyBytesMax,
}
const statusLines: Record<number, string> = {
  200: '200 OK',
  202: '202 Accepted',
  204: '204 No Content',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  413: '413 Payload Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Entity',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}
/** Names and values up to the last value, which is the request's id. */
const commonHeaders = 'Access-Control-Allow-Origin: *\r\nContent-Type: application/json\r\nX-Request-Id'
/** Beyond uWebSockets.js's own buffer an answer is written, and the connection closed, at once. */
const cuttingBodyBytes = 16 * 1024 + 1

/** The rest of a refused body up to this length is read and dropped, so that the answer reaches a client still sending. */
const drainedBytesMax = 16 * 1024 * 1024

/** What is read of a request's headers, in one pass. Used again for the next request. */
class Head {
  userAgent = ''
  forwardedFor = ''
  country = ''
  requestId = ''
  length = ''
  isFramed = true
  isEncoded = false
  private hasTransferEncoding = false

  constructor(private readonly countryHeader: string) {}

  read(request: HttpRequest): void {
    this.userAgent = ''
    this.forwardedFor = ''
    this.country = ''
    this.requestId = ''
    this.length = ''
    this.isFramed = true
    this.isEncoded = false
    this.hasTransferEncoding = false
    request.forEach(this.take)
    if (this.length !== '' && (this.hasTransferEncoding || !/^\d{1,15}$/.test(this.length))) this.isFramed = false
  }

  private readonly take = (name: string, value: string): void => {
    switch (name) {
      case 'user-agent':
        this.userAgent = value
        break
      case 'x-forwarded-for':
        this.forwardedFor = this.forwardedFor === '' ? value : `${this.forwardedFor}, ${value}`
        break
      case 'x-request-id':
        this.requestId = value
        break
      case 'content-length':
        // uWebSockets.js takes the first of two and would run the rest as a request of its own.
        if (this.length !== '') this.isFramed = false
        this.length = value === '' ? 'none' : value
        break
      case 'transfer-encoding':
        if (this.hasTransferEncoding || value.toLowerCase() !== 'chunked') this.isFramed = false
        this.hasTransferEncoding = true
        break
      case 'content-encoding':
        this.isEncoded = value.toLowerCase() !== 'identity'
        break
      default:
        if (name === this.countryHeader) this.country = value
    }
  }
}

export interface IngestServer {
  listen(host: string, port: number): Promise<number>
  /** Takes no more connections; answers under way are waited for up to `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
}

export function makeIngestServer(options: IngestServerOptions): IngestServer {
  const { receiver, proxies, observeAnswer } = options
  const head = new Head(options.countryHeader.toLowerCase())
  const app = uws.App()
  let listening: Listening | undefined
  let underWay = 0
  let isClosing = false

  function write(response: HttpResponse, requestId: string, answer: Answer, closes = false, allow = ''): void {
    observeAnswer(answer.status)
    response.cork(() => {
      response.writeStatus(statusLines[answer.status]!)
      // One call for three headers: each call costs as much as writing the bytes. The id has none but safe characters.
      response.writeHeader(commonHeaders, requestId)
      if (answer.retryAfter !== undefined) response.writeHeader('Retry-After', String(answer.retryAfter))
      if (allow !== '') response.writeHeader('Allow', allow)
      if (answer.status !== 202) response.writeHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
      response.end(answer.body, closes || isClosing)
    })
  }

  function detail(status: number, text: string): Answer {
    return { status, body: JSON.stringify({ detail: text }) }
  }

  function handle(endpoint: Endpoint, response: HttpResponse, request: HttpRequest): void {
    head.read(request)
    const requestId = requestIdOf(head.requestId)
    const bytesMax = bodyBytesMax[endpoint]
    let isOver = false
    underWay++
    const answer = (given: Answer, closes = false) => {
      if (isOver) return
      isOver = true
      underWay--
      write(response, requestId, given, closes)
    }
    response.onAborted(() => {
      if (isOver) return
      isOver = true
      underWay--
    })
    if (!head.isFramed) {
      const { status, detail: text } = refusals.badFraming
      return answer({ status, body: JSON.stringify({ detail: text }).padEnd(cuttingBodyBytes) }, true)
    }
    if (head.length !== '' && Number(head.length) > bytesMax) {
      return answer(detail(413, refusals.bodyTooLarge.detail), Number(head.length) > drainedBytesMax)
    }
    if (head.isEncoded) return answer(detail(415, refusals.encoding.detail))
    const sender = new RequestSender(response, proxies, head.userAgent, head.forwardedFor, head.country)
    const receive = (bytes: Buffer) => {
      try {
        receiver.receive(endpoint, bytes, sender, answer)
      } catch (error) {
        options.log.error({ err: error, requestId }, 'an event could not be received')
        answer(detail(500, 'Internal Server Error'))
      }
    }

    let chunks: Buffer[] | undefined
    let length = 0
    let timer: NodeJS.Timeout | undefined
    response.onData((chunk, isLast) => {
      if (isOver) return clearTimeout(timer)
      length += chunk.byteLength
      if (length > bytesMax) {
        clearTimeout(timer)
        chunks = undefined
        return answer(detail(413, refusals.bodyTooLarge.detail), true)
      }
      if (isLast && !chunks) return receive(Buffer.from(chunk))
      chunks ??= []
      // A copy: the chunk's memory is used again after this call.
      chunks.push(Buffer.from(new Uint8Array(chunk)))
      if (isLast) {
        clearTimeout(timer)
        return receive(Buffer.concat(chunks))
      }
      timer ??= setTimeout(() => answer(detail(408, refusals.bodyLate.detail), true), bodyDeadlineMs)
    })
  }

  const routes: Record<string, Endpoint> = { '/track': 'track', '/track/batch': 'batch', '/bots/track': 'bots' }
  for (const [path, endpoint] of Object.entries(routes)) {
    app.post(root + path, (response, request) => handle(endpoint, response, request))
    app.options(root + path, (response, request) => {
      const requestId = requestIdOf(request.getHeader('x-request-id'))
      observeAnswer(204)
      response.cork(() => {
        response.writeStatus(statusLines[204]!)
        response.writeHeader('X-Request-Id', requestId)
        response.writeHeader('Access-Control-Allow-Origin', '*')
        response.writeHeader('Access-Control-Allow-Methods', 'POST')
        response.writeHeader('Access-Control-Allow-Headers', 'Content-Type, X-Request-Id')
        response.writeHeader('Access-Control-Max-Age', '86400')
        response.endWithoutBody()
      })
    })
    app.any(root + path, (response, request) => {
      write(
        response,
        requestIdOf(request.getHeader('x-request-id')),
        detail(405, 'Method Not Allowed'),
        true,
        'OPTIONS, POST',
      )
    })
  }
  app.get(`${root}/health`, (response, request) => {
    const { isWell, body } = options.health()
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    write(response, requestId, {
      status: isWell ? 200 : 503,
      body: JSON.stringify(body),
      ...(isWell ? {} : { retryAfter: retryAfterSeconds }),
    })
  })
  app.head(`${root}/health`, (response, request) => {
    const { isWell, body } = options.health()
    response.writeStatus(statusLines[isWell ? 200 : 503]!)
    response.writeHeader('X-Request-Id', requestIdOf(request.getHeader('x-request-id')))
    response.writeHeader('Content-Type', 'application/json')
    response.writeHeader('Content-Length', String(Buffer.byteLength(JSON.stringify(body))))
    response.endWithoutBody()
  })
  app.get('/metrics', (response, request) => {
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    let isAborted = false
    response.onAborted(() => {
      isAborted = true
    })
    void options.metrics.text().then((text) => {
      if (isAborted) return
      response.cork(() => {
        response.writeHeader('X-Request-Id', requestId)
        response.writeHeader('Content-Type', options.metrics.contentType)
        response.end(text)
      })
    })
  })
  app.any('/*', (response, request) => {
    const path = request.getUrl()
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    const plain = path.replace(/\/+$/, '')
    if (plain !== path && plain.slice(root.length) in routes) {
      const query = request.getQuery()
      response.cork(() => {
        response.writeStatus('307 Temporary Redirect')
        response.writeHeader('X-Request-Id', requestId)
        response.writeHeader('Access-Control-Allow-Origin', '*')
        response.writeHeader('Location', query ? `${plain}?${query}` : plain)
        response.end('', true)
      })
      return
    }
    write(response, requestId, detail(404, 'Not Found'), true)
  })

  return {
    async listen(host, port) {
      listening = await listenAlone(app, host, port)
      return listening.port
    },
    async close(deadlineMs) {
      isClosing = true
      listening?.stop()
      const deadline = Date.now() + deadlineMs
      while (underWay > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
      app.close()
    },
  }
}
