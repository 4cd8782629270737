/** Ingest's routes that take no events: health, metrics, the browser script, preflights, whether a host is a short domain. */
import { compressReply } from '../../runtime/http/compression.ts'
import { type HttpReply, jsonReply, sendReply } from '../../runtime/http/reply.ts'
import { requestIdOf } from '../../runtime/http/request-id.ts'
import type { HttpRequest, HttpResponse } from '../../runtime/http/uws.ts'
import type { Log } from '../../runtime/log.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import type { BrowserScript } from './browser-script.ts'
import { beginRequest, type UnderWay } from './under-way.ts'

export interface OtherRoutesOptions {
  readonly browserScript: BrowserScript
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  readonly health: () => Health | Promise<Health>
  /** By the query of the request. */
  readonly shortDomain: (query: string) => HttpReply
  readonly observeAnswer: (status: number) => void
  readonly log: Log
}

/** The body of the health route and whether events are taken. */
export interface Health {
  readonly isWell: boolean
  readonly body: Record<string, unknown>
}

export type Handler = (response: HttpResponse, request: HttpRequest) => void

export const anyOrigin = { 'Access-Control-Allow-Origin': '*' }
const preflightHeaders = {
  ...anyOrigin,
  'Access-Control-Allow-Methods': 'POST',
  'Access-Control-Allow-Headers': 'Content-Type, X-Request-Id',
  'Access-Control-Max-Age': '86400',
}

export function makeOtherRoutes(
  options: OtherRoutesOptions,
  underWay: UnderWay,
): Record<'preflight' | 'health' | 'metrics' | 'script' | 'shortDomain', Handler> {
  const { browserScript, observeAnswer, log } = options
  const handler = (make: Make) => handlerOf(make, log, underWay)
  return {
    preflight: handler(() => {
      observeAnswer(204)
      return { status: 204, headers: preflightHeaders }
    }),
    health: handler(async () => {
      const { isWell, body } = await options.health()
      const status = isWell ? 200 : 503
      observeAnswer(status)
      return jsonReply(status, body, { ...anyOrigin, ...(isWell ? {} : { 'Retry-After': String(retryAfterSeconds) }) })
    }),
    metrics: handler(async () => ({
      status: 200,
      headers: { 'Content-Type': options.metrics.contentType },
      body: await options.metrics.text(),
    })),
    shortDomain: handler((request) => {
      const reply = options.shortDomain(request.getQuery() ?? '')
      observeAnswer(reply.status)
      return reply
    }),
    script: handler(async (request) => {
      const reply = await browserScript({
        query: request.getQuery() ?? '',
        acceptEncoding: request.getHeader('accept-encoding'),
        ifNoneMatch: request.getHeader('if-none-match'),
      })
      observeAnswer(reply.status)
      return reply
    }),
  }
}

/** The request is to be read before anything is waited for. */
type Make = (request: HttpRequest) => HttpReply | Promise<HttpReply>

function handlerOf(make: Make, log: Log, underWay: UnderWay): Handler {
  return (response, request) => {
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    const headOnly = request.getMethod() === 'head'
    const acceptEncoding = request.getHeader('accept-encoding')
    const once = beginRequest(response, underWay, () => {})
    const made = (async () => compressReply(await make(request), acceptEncoding))().catch((error) => {
      log.error({ err: error, requestId }, 'an answer could not be made')
      return jsonReply(500, { detail: 'Internal Server Error' })
    })
    void made.then((reply) =>
      once(() => sendReply(response, reply, { requestId, headOnly, closes: underWay.isClosing })),
    )
  }
}
