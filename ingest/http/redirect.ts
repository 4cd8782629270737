/**
 * Short links: from a key to where it leads. A redirect waits for no store: the click goes to the log as events do. If
 * the log can't take it, the visitor is redirected all the same, and the loss is counted. Only a key that isn't in the
 * table is looked up first. While that fails the answer is 503, since an existing link must not be told to be gone.
 * A link that has expired leads elsewhere or nowhere, and its requests are no clicks. Until then its targets lead visitors
 * of a device or a country to addresses of their own.
 *
 * Held by test/integration/link-redirect.test.ts.
 */
import { type HttpReply, sendReply } from '../../runtime/http/reply.ts'
import { requestIdOf } from '../../runtime/http/request-id.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import type { HttpRequest, HttpResponse } from '../../runtime/http/uws.ts'
import type { Log } from '../../runtime/log.ts'
import type { LinkClickRow } from '../../schemas/event/row.ts'
import { linkClickBytesMax } from '../../schemas/limits/event-limits.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import type { ClickReader, LinkRequest } from '../enrich/clicks.ts'
import type { LogWriter } from '../log/writer.ts'
import type { LinkTable, LinkTarget } from '../tables/links.ts'
import type { Capacity } from './capacity.ts'
import { RequestHead } from './request-head.ts'
import { RequestSender } from './request-sender.ts'

/** Outcome of a request for a link: the labels of the metric. */
export type LinkOutcome = 'stored' | 'not_stored' | 'expired' | 'unknown' | 'unavailable'

export interface RedirectOptions {
  readonly links: Pick<LinkTable, 'find' | 'resolve'>
  readonly clicks: ClickReader
  readonly writer: Pick<LogWriter<LinkClickRow>, 'hasRoom' | 'append' | 'whenSynced'>
  readonly capacity: Pick<Capacity, 'refusal'>
  readonly proxies: TrustedProxies
  readonly countryHeader: string
  readonly countRequest: (outcome: LinkOutcome) => void
  readonly observeAnswer: (status: number) => void
  readonly log: Log
}

/** Answers a GET or HEAD. The request is read before it returns. */
type Answerer = (response: HttpResponse, request: HttpRequest, isClosing: () => boolean) => void

export interface Redirect {
  /** The first parameter is the key. */
  readonly follow: Answerer
  /** For a path on which no link can be. */
  readonly refuse: Answerer
}

export function makeRedirect(options: RedirectOptions): Redirect {
  const { links, clicks, writer, capacity, proxies, countRequest, observeAnswer, log } = options
  const head = new RequestHead(options.countryHeader.toLowerCase())

  /** The row is filled from the request, so this comes before the answer. */
  function store(link: LinkTarget, asked: LinkRequest): void {
    try {
      if (capacity.refusal() !== null || !writer.hasRoom(1, linkClickBytesMax)) return countRequest('not_stored')
      writer.append(clicks.read(link, asked), null, null)
      writer.whenSynced((isDurable) => countRequest(isDurable ? 'stored' : 'not_stored'))
    } catch (error) {
      log.error({ err: error }, 'a click could not be stored')
      countRequest('not_stored')
    }
  }

  function replyTo(found: LinkTarget | 'unknown' | 'unavailable', asked: LinkRequest): HttpReply {
    if (typeof found === 'object') {
      if (found.expiresAt !== null && found.expiresAt <= asked.sender.receivedAt) return replyAfter(found)
      store(found, asked)
      return { status: 302, headers: { Location: clicks.urlFor(found, asked.sender), ...redirectHeaders } }
    }
    countRequest(found)
    return found === 'unknown' ? unknownReply : unavailableReply
  }

  function replyAfter({ expiredUrl }: LinkTarget): HttpReply {
    countRequest('expired')
    if (expiredUrl === null) return expiredReply
    return { status: 307, headers: { Location: expiredUrl, ...redirectHeaders } }
  }

  const follow: Answerer = (response, request, isClosing) => {
    const key = request.getParameter(0) ?? ''
    // All lines of a repeated header, as for events.
    head.read(request)
    const requestId = requestIdOf(head.requestId)
    const isHead = request.getMethod() === 'head'
    const header = (name: string) => request.getHeader(name)
    const sender = new RequestSender(response, proxies, head.userAgent, head.forwardedFor, head.country)
    const asked = { isHead, isPrefetch: prefetchHeaders.some(isAhead), referrer: header('referer'), sender }
    function isAhead(name: string): boolean {
      return /prefetch|prerender|preview/i.test(header(name))
    }
    const answer = (reply: HttpReply) => {
      observeAnswer(reply.status)
      sendReply(response, reply, { requestId, headOnly: isHead, closes: isClosing() })
    }
    const known = links.find(key)
    if (known !== undefined) return answer(replyTo(known, asked))
    // Looked up now: later the connection may be gone.
    void sender.address
    let isAborted = false
    response.onAborted(() => {
      isAborted = true
    })
    void links.resolve(key).then((found) => {
      if (!isAborted) answer(replyTo(found, asked))
    })
  }
  const refuse: Answerer = (response, request, isClosing) => {
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    observeAnswer(unknownReply.status)
    sendReply(response, unknownReply, {
      requestId,
      headOnly: request.getMethod() === 'head',
      closes: isClosing(),
    })
  }
  return { follow, refuse }
}

/** `Sec-Purpose` is today's; the others are older browsers'. */
const prefetchHeaders = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

/** Each click comes here, and the destination learns the whole address that it came by. */
const redirectHeaders = { 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'unsafe-url' }

const unknownReply = pageReply(404, 'Link not found', 'There is no such link, or it was mistyped.')
const expiredReply = pageReply(410, 'Link expired', 'This link has expired.')
const unavailableReply = pageReply(503, 'Not now', 'This link can’t be looked up at the moment. Please try again.', {
  'Retry-After': String(retryAfterSeconds),
})

function pageReply(status: number, title: string, text: string, headers: Record<string, string> = {}): HttpReply {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">`
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
    body: `<!doctype html><html lang="en"><head>${head}<title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`,
  }
}
