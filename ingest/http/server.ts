/**
 * Ingest's HTTP server. The tracking routes are the hot path, so they bypass runtime/http/server.ts. Headers are read in
 * one pass into fields, a body that arrives whole is parsed where it lies, and each answer takes one cork. Refusals are
 * the same as there.
 *
 * A uWebSockets.js request is valid only before the handler returns, a chunk only within its callback.
 */

import { ArrivingBodies } from '../../runtime/http/body-bounds.ts'
import { type Listening, listenExclusively, listenShared } from '../../runtime/http/listen.ts'
import { placeHeadersOf } from '../../runtime/http/place-headers.ts'
import { cuttingBody, type Refusal } from '../../runtime/http/refusals.ts'
import { requestIdOf } from '../../runtime/http/request-id.ts'
import { type HttpRequest, type HttpResponse, uws } from '../../runtime/http/uws.ts'
import { sleep } from '../../runtime/retry.ts'
import {
  arrivingBodiesBytesMax,
  batchBodyBytesMax,
  bodyDeadlineMs,
  trackBodyBytesMax,
} from '../../schemas/limits/event-limits.ts'
import { replayBodyBytesMax } from '../../schemas/limits/replay-limits.ts'
import { isLinkKeyShaped, keyInPath } from '../../schemas/link-key.ts'
import { type Handler, makeOtherRoutes, type OtherRoutesOptions } from './other-routes.ts'
import { makePixel, type PixelOptions } from './pixel.ts'
import { readPost } from './read-post.ts'
import type { Answer, Endpoint, Receiver } from './receive.ts'
import { RequestHead } from './request-head.ts'
import { RequestSender } from './request-sender.ts'
import { makeDomainAnswer, makeDomainSwitch, makeLinkRoute, type ShortLinks, sendWithoutSlash } from './short-links.ts'
import { detail, makeWriteAnswer, type WriteAnswer } from './tracking-answer.ts'
import { trackingRefusals } from './tracking-refusals.ts'
import { beginRequest, type UnderWay } from './under-way.ts'

export interface IngestServerOptions extends Omit<OtherRoutesOptions, 'shortDomain'>, Omit<PixelOptions, 'receiver'> {
  readonly receivers: Readonly<Record<Endpoint, Receiver>>
  readonly shortLinks: ShortLinks
}

type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'POST'
type Routes = Readonly<Record<string, Partial<Record<Method, Handler>>>>

const root = '/api/v1/growth'
const bodyBytesMax: Record<Endpoint, number> = {
  track: trackBodyBytesMax,
  batch: batchBodyBytesMax,
  bots: batchBodyBytesMax,
  replay: replayBodyBytesMax,
}

export interface IngestServer {
  /** @param isShared with other threads */
  listen(host: string, port: number, isShared: boolean): Promise<number>
  /** Takes no more connections; answers under way are waited for up to `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
}

export function makeIngestServer(options: IngestServerOptions): IngestServer {
  const { shortLinks, observeAnswer } = options
  const app = uws.App()
  const underWay: UnderWay = { requests: 0, isClosing: false }
  const write = makeWriteAnswer(observeAnswer)
  const handle = makeTrackingHandler(options, write, underWay)
  const others = { ...options, shortDomain: makeDomainAnswer(shortLinks) }
  const { preflight, health, metrics, script, shortDomain } = makeOtherRoutes(others, underWay)
  const pixel = makePixel({ ...options, receiver: options.receivers.track }, underWay)
  const receiving = (endpoint: Endpoint) => ({
    POST: (response: HttpResponse, request: HttpRequest) => handle(endpoint, response, request),
    OPTIONS: preflight,
  })
  const link = makeLinkRoute(shortLinks, underWay)
  const routes: Routes = {
    [`${root}/track`]: receiving('track'),
    [`${root}/track/batch`]: receiving('batch'),
    [`${root}/bots/track`]: receiving('bots'),
    [`${root}/replay`]: receiving('replay'),
    [`${root}/pixel`]: { GET: pixel, HEAD: pixel, OPTIONS: preflight },
    [`${root}/health`]: { GET: health, HEAD: health },
    [`${root}/short-domain`]: { GET: shortDomain, HEAD: shortDomain },
    '/metrics': { GET: metrics, HEAD: metrics },
    '/svc.js': { GET: script, HEAD: script },
    ...Object.fromEntries(shortLinks.paths.map((path) => [`${path}/:key`, link])),
  }
  const unlessAtDomain = makeDomainSwitch(shortLinks, write, underWay)
  mount(app, write, routes, unlessAtDomain)
  mountRest(app, write, routes, { ...shortLinks, underWay, unlessAtDomain })
  let listening: Listening | undefined

  return {
    async listen(host, port, isShared) {
      listening = await (isShared ? listenShared : listenExclusively)(app, host, port)
      return listening.port
    },
    async close(deadlineMs) {
      underWay.isClosing = true
      listening?.stop()
      const deadline = performance.now() + deadlineMs
      while (underWay.requests > 0 && performance.now() < deadline) await sleep(10)
      app.close()
    },
  }
}

type TrackingHandler = (endpoint: Endpoint, response: HttpResponse, request: HttpRequest) => void

function makeTrackingHandler(options: IngestServerOptions, write: WriteAnswer, underWay: UnderWay): TrackingHandler {
  const { receivers, proxies, log } = options
  const head = new RequestHead(placeHeadersOf(options.countryHeader))
  const arriving = new ArrivingBodies(arrivingBodiesBytesMax)
  return (endpoint, response, request) => {
    head.read(request)
    const requestId = requestIdOf(head.requestId)
    const bytesMax = bodyBytesMax[endpoint]
    let dropBody = () => {}
    const once = beginRequest(response, underWay, () => dropBody())
    const answer = (given: Answer, closes = false) =>
      once(() => write(response, requestId, given, closes || underWay.isClosing))
    const refuse = (refusal: Refusal, isCut: boolean) => {
      const { status, detail: text, closes, retryAfter } = refusal
      const refused = isCut ? { status, body: cuttingBody(refusal) } : detail(status, text)
      answer(retryAfter === undefined ? refused : { ...refused, retryAfter }, closes)
    }
    const sender = new RequestSender(response, proxies, head)
    const receive = (bytes: Buffer) => {
      try {
        receivers[endpoint].receive(endpoint, bytes, sender, answer)
      } catch (error) {
        log.error({ err: error, requestId }, 'an event could not be received')
        answer(detail(500, trackingRefusals.internal.detail))
      }
    }
    dropBody = readPost(response, head, { bytesMax, deadlineMs: bodyDeadlineMs, arriving }, { refuse, receive })
  }
}

type DomainSwitch = ReturnType<typeof makeDomainSwitch>

/** Serves the routes, and refuses other methods. Those that take events are the same at any host. */
function mount(
  app: ReturnType<typeof uws.App>,
  write: WriteAnswer,
  routes: Routes,
  unlessAtDomain: DomainSwitch,
): void {
  for (const [path, methods] of Object.entries(routes)) {
    const takesEvents = 'OPTIONS' in methods
    for (const [method, handler] of Object.entries(methods)) {
      app[method.toLowerCase() as Lowercase<Method>](path, takesEvents ? handler : unlessAtDomain(handler))
    }
    const allow = Object.keys(methods).sort().join(', ')
    const refuse: Handler = (response, request) => {
      const requestId = requestIdOf(request.getHeader('x-request-id'))
      const headOnly = request.getMethod() === 'head'
      write(response, requestId, detail(405, trackingRefusals.method_not_allowed.detail), true, { allow, headOnly })
    }
    app.any(path, takesEvents ? refuse : unlessAtDomain(refuse))
  }
}

interface RestOptions extends ShortLinks {
  readonly underWay: UnderWay
  readonly unlessAtDomain: DomainSwitch
}

/**
 * Answers paths without a route. Without its last slash a path may have one, and visitors of short links get a page.
 */
function mountRest(
  app: ReturnType<typeof uws.App>,
  write: WriteAnswer,
  routes: Routes,
  { redirect, paths, underWay, unlessAtDomain }: RestOptions,
): void {
  // Only to routes of the table, or to a key: a path may look like another host's address.
  const isRoute = (path: string) =>
    Object.hasOwn(routes, path) ||
    paths.some((root) => path.startsWith(`${root}/`) && isLinkKeyShaped(keyInPath(path.slice(root.length + 1))))
  const isBelowLinks = (path: string) =>
    paths.some((root) => path === root || path === `${root}/` || (root !== '' && path.startsWith(`${root}/`)))
  const answer: Handler = (response, request) => {
    const path = request.getUrl()
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    const plain = path.slice(0, -1)
    if (path.endsWith('/') && isRoute(plain)) return sendWithoutSlash(response, request)
    const isRead = request.getMethod() === 'get' || request.getMethod() === 'head'
    if (isRead && isBelowLinks(path)) return redirect.redirectTo(response, request, underWay, null)
    const headOnly = request.getMethod() === 'head'
    write(response, requestId, detail(404, trackingRefusals.not_found.detail), true, { headOnly })
  }
  app.any('/*', unlessAtDomain(answer))
}
