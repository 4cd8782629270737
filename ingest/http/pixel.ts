/**
 * The tracking pixel: an event in the query of an image, for places without scripts. The query becomes the body of
 * `POST /api/v1/growth/track` and is judged, stored and counted as that. The answer is the same image whatever became
 * of the event, so that no page shows a broken one. It comes once the event is synced.
 *
 * Held by test/integration/pixel.test.ts.
 */
import { placeHeadersOf } from '../../runtime/http/place-headers.ts'
import { type HttpReply, sendReply } from '../../runtime/http/reply.ts'
import { requestIdOf } from '../../runtime/http/request-id.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import type { HttpRequest } from '../../runtime/http/uws.ts'
import type { Log } from '../../runtime/log.ts'
import { pixelQueryBytesMax, urlLengthMax } from '../../schemas/limits/event-limits.ts'
import { isWebUrl } from '../../schemas/web-url.ts'
import { anyOrigin, type Handler } from './other-routes.ts'
import { isPrefetch } from './prefetch.ts'
import type { Receiver, RefusalReason } from './receive.ts'
import { RequestHead } from './request-head.ts'
import { RequestSender } from './request-sender.ts'
import { beginRequest, type UnderWay } from './under-way.ts'

export interface PixelOptions {
  readonly receiver: Pick<Receiver, 'receive'>
  readonly proxies: TrustedProxies
  readonly countryHeader: string
  readonly countRefused: (reason: RefusalReason, events: number) => void
  readonly observeAnswer: (status: number) => void
  readonly log: Log
}

/** Answers a GET, and a HEAD without counting it. */
export function makePixel(options: PixelOptions, underWay: UnderWay): Handler {
  const { receiver, proxies, countRefused, observeAnswer, log } = options
  const head = new RequestHead(placeHeadersOf(options.countryHeader))
  return (response, request) => {
    head.read(request)
    const requestId = requestIdOf(head.requestId)
    const headOnly = request.getMethod() === 'head'
    const once = beginRequest(response, underWay, () => {})
    const send = () => {
      observeAnswer(pixelReply.status)
      sendReply(response, pixelReply, { requestId, headOnly, closes: underWay.isClosing })
    }
    const answer = () => once(send)
    if (headOnly || isPrefetch(request)) return answer()
    const query = request.getQuery() ?? ''
    if (query.length > pixelQueryBytesMax) {
      countRefused('malformed', 1)
      return answer()
    }
    const params = new URLSearchParams(query)
    if (isObjectedTo(request) && params.get('respect_gpc') !== 'false') return answer()
    const event = eventOf(params, request.getHeader('referer'))
    const sender = new RequestSender(response, proxies, head)
    try {
      receiver.receive('track', Buffer.from(JSON.stringify(event)), sender, answer)
    } catch (error) {
      log.error({ err: error, requestId }, 'an event could not be received')
      countRefused('failed', 1)
      answer()
    }
  }
}

/** Global Privacy Control or Do Not Track: the visitor hasn't consented then, as with the browser script. */
function isObjectedTo(request: HttpRequest): boolean {
  return ['sec-gpc', 'dnt'].some((name) => request.getHeader(name) === '1')
}

/** The members of an event that a pixel may name. No person is named: addresses of images stand in many logs. */
const textFields = ['tracking_key', 'event_name', 'referrer', 'title', 'anonymous_id', 'client_event_id']
const propertyPrefix = 'p_'

/** The body that says the same. The first of equal names counts. */
function eventOf(query: URLSearchParams, referer: string): Record<string, unknown> {
  const sent = new Map([...query].reverse())
  const texts = textFields.filter((name) => sent.has(name)).map((name) => [name, sent.get(name)])
  const properties = [...sent]
    .filter(([name]) => name.startsWith(propertyPrefix))
    .map(([name, text]) => [name.slice(propertyPrefix.length), text])
    .reverse()
  return {
    event_name: 'pageview',
    ...Object.fromEntries(texts),
    url: sent.get('url') || pageOf(referer),
    properties: Object.fromEntries(properties),
  }
}

/** The page that shows the image, as far as its browser says so. The browser script cuts addresses likewise. */
function pageOf(referer: string): string | null {
  const page = referer.slice(0, urlLengthMax)
  return isWebUrl(page) ? page : null
}

/** GIF of one transparent pixel. */
const image = Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

const pixelReply: HttpReply = {
  status: 200,
  headers: {
    'Content-Type': 'image/gif',
    'Cache-Control': 'no-store',
    // Pages that take resources of other origins only by consent get it, too.
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ...anyOrigin,
  },
  body: image,
}
