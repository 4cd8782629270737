/**
 * Ingest's HTTP face. The tracking routes are the hot path, so they don't go through runtime/http/server.ts: headers are
 * read in one pass into fields, a body that arrives whole is parsed where it lies, one cork an answer. What is refused and
 * how is the same as there.
 *
 * A uWebSockets.js request is valid only before the handler returns, a chunk only within its callback.
 */

import { ArrivingBodies, readBody } from '../runtime/http/body.ts'
import { type Listening, listenAlone, listenBeside } from '../runtime/http/listen.ts'
import { cuttingBody, drainedBytesMax, type Refusal, refusals } from '../runtime/http/refusals.ts'
import { type HttpReply, jsonReply, sendReply } from '../runtime/http/reply.ts'
import { requestIdOf } from '../runtime/http/request-id.ts'
import type { TrustedProxies } from '../runtime/http/trusted-proxy.ts'
import { type HttpRequest, type HttpResponse, uws } from '../runtime/http/uws.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import {
  arrivingBodiesBytesMax,
  batchBodyBytesMax,
  bodyDeadlineMs,
  retryAfterSeconds,
  trackBodyBytesMax,
} from '../schemas/limits.ts'
import type { BrowserScript } from './browser-script.ts'
import type { Answer, Endpoint, Receiver } from './receive.ts'
import type { Redirect } from './redirect.ts'
import { RequestHead } from './request-head.ts'
import { RequestSender } from './request-sender.ts'

export interface IngestServerOptions {
  readonly receiver: Receiver
  /** `paths`: what short links begin with, without a slash at the end. */
  readonly shortLinks: { readonly redirect: Redirect; readonly paths: readonly string[] }
  readonly browserScript: BrowserScript
  readonly proxies: TrustedProxies
  readonly countryHeader: string
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  readonly health: () => Health | Promise<Health>
  readonly observeAnswer: (status: number) => void
  readonly log: Log
}

/** The body of the health route and whether events are taken. */
export interface Health {
  readonly isWell: boolean
  readonly body: Record<string, unknown>
}

type Handler = (response: HttpResponse, request: HttpRequest) => void
type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'POST'

const root = '/api/v1/growth'
const bodyBytesMax: Record<Endpoint, number> = {
  track: trackBodyBytesMax,
  batch: batchBodyBytesMax,
  bots: batchBodyBytesMax,
}
const statusLines: Record<number, string> = {
  202: '202 Accepted',
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
const anyOrigin = { 'Access-Control-Allow-Origin': '*' }
const preflightHeaders = {
  ...anyOrigin,
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers': 'Content-Type, X-Request-Id',
  'Access-Control-Max-Age': '86400',
}

export interface IngestServer {
  /** @param isShared with other threads */
  listen(host: string, port: number, isShared: boolean): Promise<number>
  /** Takes no more connections; answers under way are waited for up to `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
}

export function makeIngestServer(options: IngestServerOptions): IngestServer {
  const { receiver, proxies, observeAnswer } = options
  const head = new RequestHead(options.countryHeader.toLowerCase())
  const app = uws.App()
  const arriving = new ArrivingBodies(arrivingBodiesBytesMax)
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
    let dropBody = () => {}
    underWay++
    const answer = (given: Answer, closes = false) => {
      if (isOver) return
      isOver = true
      underWay--
      write(response, requestId, given, closes)
    }
    const refuse = ({ status, detail: text, closes, retryAfter }: Refusal) => {
      const refusal = detail(status, text)
      answer(retryAfter === undefined ? refusal : { ...refusal, retryAfter }, closes)
    }
    response.onAborted(() => {
      dropBody()
      if (isOver) return
      isOver = true
      underWay--
    })
    if (!head.isFramed) {
      const { badFraming } = refusals
      return answer({ status: badFraming.status, body: cuttingBody(badFraming) }, true)
    }
    if (head.length !== '' && Number(head.length) > bytesMax) {
      return answer(detail(413, refusals.bodyTooLarge.detail), Number(head.length) > drainedBytesMax)
    }
    if (head.isEncoded) return refuse(refusals.encoding)
    const sender = new RequestSender(response, proxies, head.userAgent, head.forwardedFor, head.country)
    const receive = (bytes: Buffer) => {
      try {
        receiver.receive(endpoint, bytes, sender, answer)
      } catch (error) {
        options.log.error({ err: error, requestId }, 'an event could not be received')
        answer(detail(500, 'Internal Server Error'))
      }
    }

    dropBody = readBody(response, { bytesMax, deadlineMs: bodyDeadlineMs, arriving }, (body, rest) => {
      if (Buffer.isBuffer(body)) receive(body)
      // Who was late has had the time.
      else if (body === refusals.bodyLate) refuse(body)
      else void rest!.end().then(() => refuse(body))
    })
  }

  /** Answers from what is at hand. The request is to be read before anything is waited for. */
  function page(make: (request: HttpRequest) => HttpReply | Promise<HttpReply>): Handler {
    return (response, request) => {
      const requestId = requestIdOf(request.getHeader('x-request-id'))
      const headOnly = request.getMethod() === 'head'
      let isAborted = false
      response.onAborted(() => {
        isAborted = true
      })
      const made = (async () => make(request))().catch((error) => {
        options.log.error({ err: error, requestId }, 'a page could not be made')
        return jsonReply(500, { detail: 'Internal Server Error' })
      })
      void made.then((reply) => {
        if (!isAborted) sendReply(response, reply, { requestId, headOnly, closes: isClosing })
      })
    }
  }

  const preflight = page(() => {
    observeAnswer(204)
    return { status: 204, headers: preflightHeaders }
  })
  const health = page(async () => {
    const { isWell, body } = await options.health()
    const status = isWell ? 200 : 503
    observeAnswer(status)
    return jsonReply(status, body, { ...anyOrigin, ...(isWell ? {} : { 'Retry-After': String(retryAfterSeconds) }) })
  })
  const metrics = page(async () => ({
    status: 200,
    headers: { 'Content-Type': options.metrics.contentType },
    body: await options.metrics.text(),
  }))
  const script = page(async (request) => {
    const reply = await options.browserScript({
      query: request.getQuery() ?? '',
      acceptEncoding: request.getHeader('accept-encoding'),
      ifNoneMatch: request.getHeader('if-none-match'),
    })
    observeAnswer(reply.status)
    return reply
  })
  const receiving = (endpoint: Endpoint) => ({
    POST: (response: HttpResponse, request: HttpRequest) => handle(endpoint, response, request),
    OPTIONS: preflight,
  })
  const follow: Handler = (response, request) => options.shortLinks.redirect(response, request, () => isClosing)
  const routes: Record<string, Partial<Record<Method, Handler>>> = {
    [`${root}/track`]: receiving('track'),
    [`${root}/track/batch`]: receiving('batch'),
    [`${root}/bots/track`]: receiving('bots'),
    [`${root}/health`]: { GET: health, HEAD: health },
    '/metrics': { GET: metrics, HEAD: metrics },
    '/svc.js': { GET: script, HEAD: script },
    ...Object.fromEntries(options.shortLinks.paths.map((path) => [`${path}/:key`, { GET: follow, HEAD: follow }])),
  }
  for (const [path, methods] of Object.entries(routes)) {
    for (const [method, handler] of Object.entries(methods)) {
      app[method.toLowerCase() as Lowercase<Method>](path, handler)
    }
    const allow = Object.keys(methods).sort().join(', ')
    app.any(path, (response, request) => {
      const requestId = requestIdOf(request.getHeader('x-request-id'))
      write(response, requestId, detail(405, 'Method Not Allowed'), true, allow)
    })
  }
  app.any('/*', (response, request) => {
    const path = request.getUrl()
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    const plain = path.slice(0, -1)
    // Only to what stands in the table: a path may look like another host's address.
    if (!path.endsWith('/') || !Object.hasOwn(routes, plain)) {
      return write(response, requestId, detail(404, 'Not Found'), true)
    }
    const query = request.getQuery()
    const headers = { ...anyOrigin, Location: query ? `${plain}?${query}` : plain }
    sendReply(response, { status: 307, headers }, { requestId, headOnly: false, closes: true })
  })

  return {
    async listen(host, port, isShared) {
      listening = await (isShared ? listenBeside : listenAlone)(app, host, port)
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
