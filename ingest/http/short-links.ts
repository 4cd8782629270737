/**
 * Where short links stand: under the installation's roots, and at the root of each verified short domain. A short domain has
 * nothing else, except that events are taken at any host: they need a tracking key.
 *
 * Held by test/integration/short-domain-redirects.test.ts.
 */
import { type HttpReply, jsonReply, sendReply } from '../../runtime/http/reply.ts'
import { requestIdOf } from '../../runtime/http/request-id.ts'
import type { HttpRequest, HttpResponse } from '../../runtime/http/uws.ts'
import { problems } from '../../schemas/errors/problems.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { isLinkKeyShaped, keyInPath, linkKeyOfPath } from '../../schemas/link-key.ts'
import { hostOfHeader } from '../../schemas/short-domain.ts'
import type { DomainTable, ShortDomain } from '../tables/short-domains.ts'
import { anyOrigin, type Handler } from './other-routes.ts'
import type { AskedPlace, Redirect } from './redirect.ts'
import { detail, type WriteAnswer } from './tracking-answer.ts'
import { trackingRefusals } from './tracking-refusals.ts'
import type { UnderWay } from './under-way.ts'

export interface ShortLinks {
  readonly redirect: Redirect
  /** How short links begin under the installation's host, without a slash at the end. */
  readonly paths: readonly string[]
  /** @param host the header; undefined where it is no short domain */
  readonly domainOf: DomainTable['ofRequest']
}

/** The key under one of the installation's roots. */
export function makeLinkRoute({ redirect }: ShortLinks, underWay: UnderWay) {
  const place = (request: HttpRequest): AskedPlace => ({ key: keyInPath(request.getParameter(0) ?? ''), domain: null })
  const follow: Handler = (response, request) => redirect.follow(response, request, underWay, place(request))
  const unlock: Handler = (response, request) => redirect.unlock(response, request, underWay, place(request))
  return { GET: follow, HEAD: follow, POST: unlock }
}

/** Makes a function that lets a handler take the requests alone that aren't for a short domain. */
export function makeDomainSwitch({ redirect, domainOf }: ShortLinks, write: WriteAnswer, underWay: UnderWay) {
  function answerAtDomain(domain: ShortDomain, response: HttpResponse, request: HttpRequest): void {
    const key = keyInPath(request.getUrl().slice(1))
    const method = request.getMethod()
    const isRead = method === 'get' || method === 'head'
    const isKey = isLinkKeyShaped(key)
    if (isRead && isKey) return redirect.follow(response, request, underWay, { key, domain })
    if (method === 'post' && isKey) return redirect.unlock(response, request, underWay, { key, domain })
    if (isRead && key.endsWith('/') && linkKeyOfPath(key) !== null) return sendWithoutSlash(response, request)
    if (isRead)
      return redirect.redirectTo(response, request, underWay, key === '' ? domain.rootUrl : domain.notFoundUrl)
    const refused = detail(405, trackingRefusals.method_not_allowed.detail)
    write(response, requestIdOf(request.getHeader('x-request-id')), refused, true, { allow: 'GET, HEAD' })
  }

  return (handler: Handler): Handler =>
    (response, request) => {
      const domain = domainOf(request.getHeader('host'))
      if (domain === undefined) return handler(response, request)
      if (domain === 'unavailable') {
        const isLink = request.getUrl() === '/' || linkKeyOfPath(request.getUrl().slice(1)) !== null
        return isLink ? redirect.answerUnavailable(response, request, underWay) : handler(response, request)
      }
      answerAtDomain(domain, response, request)
    }
}

/** Tells a proxy which hosts it may get a certificate for: 200 for a short domain, which `domain` of the query names. */
export function makeDomainAnswer({ domainOf }: Pick<ShortLinks, 'domainOf'>) {
  return (query: string): HttpReply => {
    const host = new URLSearchParams(query).get('domain') ?? ''
    const domain = domainOf(host)
    if (domain === undefined) return jsonReply(404, { detail: trackingRefusals.not_found.detail })
    if (domain !== 'unavailable') return jsonReply(200, { host: hostOfHeader(host) })
    return jsonReply(503, { detail: problems.store_unavailable.detail }, { 'Retry-After': String(retryAfterSeconds) })
  }
}

/** Leads to the same path without its last slash. */
export function sendWithoutSlash(response: HttpResponse, request: HttpRequest): void {
  const plain = request.getUrl().slice(0, -1)
  const query = request.getQuery()
  const headers = { ...anyOrigin, Location: query ? `${plain}?${query}` : plain }
  const requestId = requestIdOf(request.getHeader('x-request-id'))
  sendReply(response, { status: 307, headers }, { requestId, headOnly: false, closes: true })
}
