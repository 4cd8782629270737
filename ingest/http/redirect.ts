/**
 * Short links: from a key to where it leads. A redirect waits for no store: the click goes to the log as events do. If
 * the log can't take it, the visitor is redirected all the same, and the loss is counted. Only a key that isn't in the
 * table is looked up first. While that fails the answer is 503, since an existing link must not be told to be gone.
 * A link that has expired leads elsewhere or nowhere, and its requests are no clicks. Until then its targets lead visitors
 * of a device, a country or a share to addresses of their own. A link with a password answers with a form, and a click is
 * the POST with the right one. Programs that make previews get a page in place of the redirect, where the link has a
 * preview. The query of the short URL goes along to where the link leads (pass-query.ts).
 *
 * Held by test/integration/link-redirect.test.ts and link-pages.test.ts there.
 */
import { ArrivingBodies } from '../../runtime/http/body-bounds.ts'
import { placeHeadersOf } from '../../runtime/http/place-headers.ts'
import { cuttingBody, type Refusal, refusalReply } from '../../runtime/http/refusals.ts'
import { type HttpReply, jsonReply, sendReply } from '../../runtime/http/reply.ts'
import { requestIdOf } from '../../runtime/http/request-id.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import type { HttpRequest, HttpResponse } from '../../runtime/http/uws.ts'
import type { Log } from '../../runtime/log.ts'
import type { LinkClickRow } from '../../schemas/event/row.ts'
import { bodyDeadlineMs, linkClickBytesMax } from '../../schemas/limits/event-limits.ts'
import { linkFormBytesMax, linkFormsArrivingBytesMax } from '../../schemas/limits/ingest-limits.ts'
import { type ClickReader, type LinkRequest, referrerOf } from '../enrich/clicks.ts'
import type { LogWriter } from '../log/writer.ts'
import type { LinkTarget, ShownPreview, VisitorTarget } from '../tables/link-target.ts'
import { type LinkTable, linkPlace } from '../tables/links.ts'
import type { ShortDomain } from '../tables/short-domains.ts'
import type { Capacity } from './capacity.ts'
import {
  askReply,
  expiredReply,
  passwordField,
  previewReply,
  referrerField,
  unavailableReply,
  unknownReply,
} from './link-pages.ts'
import type { LinkPasswords } from './link-passwords.ts'
import { passQuery } from './pass-query.ts'
import { isPrefetch } from './prefetch.ts'
import { readPost } from './read-post.ts'
import { RequestHead } from './request-head.ts'
import { RequestSender } from './request-sender.ts'
import { trackingRefusals } from './tracking-refusals.ts'
import { beginRequest, type UnderWay } from './under-way.ts'

/** Outcome of a request for a link: the labels of the metric. */
export type LinkOutcome =
  | 'stored'
  | 'not_stored'
  | 'excluded'
  | 'expired'
  | 'unknown'
  | 'unavailable'
  | 'asked'
  | 'wrong_password'
  | 'not_checked'

export interface RedirectOptions {
  readonly links: Pick<LinkTable, 'find' | 'resolve'>
  readonly clicks: ClickReader
  readonly passwords: LinkPasswords
  readonly writer: Pick<LogWriter<LinkClickRow>, 'hasRoom' | 'append' | 'whenSynced'>
  readonly capacity: Pick<Capacity, 'refusal'>
  readonly proxies: TrustedProxies
  readonly countryHeader: string
  readonly countRequest: (outcome: LinkOutcome) => void
  readonly observeAnswer: (status: number) => void
  readonly log: Log
}

/** The part of a path that may be a key, and the short domain that was asked; null: the installation's root. */
export interface AskedPlace {
  readonly key: string
  readonly domain: ShortDomain | null
}

/** The request, or its head, is read before it returns. */
type Answerer<Place> = (response: HttpResponse, request: HttpRequest, underWay: UnderWay, place: Place) => void

export interface Redirect {
  /** Answers a GET or HEAD. */
  readonly follow: Answerer<AskedPlace>
  /** Answers a POST of the form that asks for a password. */
  readonly unlock: Answerer<AskedPlace>
  /** Redirects to the URL; null: answers with the page for unknown links. */
  readonly redirectTo: Answerer<string | null>
  /** Answers 503: it can't be known yet whether the link exists. */
  readonly answerUnavailable: Answerer<void>
}

type Found = LinkTarget | 'unknown' | 'unavailable'

export function makeRedirect(options: RedirectOptions): Redirect {
  const { links, clicks, passwords, writer, capacity, proxies, countRequest, observeAnswer, log } = options
  const head = new RequestHead(placeHeadersOf(options.countryHeader))
  const arriving = new ArrivingBodies(linkFormsArrivingBytesMax)
  const formBounds = { bytesMax: linkFormBytesMax, deadlineMs: bodyDeadlineMs, arriving }

  /** The row is filled from the request, so this comes before the answer. */
  function store(link: LinkTarget, asked: LinkRequest, target: VisitorTarget | null): void {
    try {
      if (clicks.isExcluded(link, asked)) return countRequest('excluded')
      if (capacity.refusal() !== null || !writer.hasRoom(1, linkClickBytesMax)) return countRequest('not_stored')
      writer.append(clicks.read(link, asked, target), null, null)
      writer.whenSynced((isDurable) => countRequest(isDurable ? 'stored' : 'not_stored'))
    } catch (error) {
      log.error({ err: error }, 'a click could not be stored')
      countRequest('not_stored')
    }
  }

  function replyTo(found: Found, asked: LinkRequest, domain: ShortDomain | null): HttpReply {
    if (typeof found !== 'object' || isExpired(found, asked)) return replyWithoutClick(found, 307, domain)
    if (found.preview !== null && clicks.isPreview(asked)) return preview(found, found.preview, asked)
    if (found.passwordHash === null) return redirect(found, asked, 302)
    // Programs count as they do at any link. A person hasn't clicked before the password is right.
    if (clicks.isClick(asked)) countRequest('asked')
    else store(found, asked, null)
    return askReply(200, referrerOf(asked))
  }

  function redirect(link: LinkTarget, asked: LinkRequest, status: number): HttpReply {
    const target = clicks.targetFor(link, asked.sender)
    store(link, asked, target)
    return { status, headers: { Location: passQuery((target ?? link).url, asked.query), ...redirectHeaders } }
  }

  /** A link with a password doesn't tell there where it leads. */
  function preview(link: LinkTarget, shown: ShownPreview, asked: LinkRequest): HttpReply {
    const target = link.passwordHash === null ? clicks.targetFor(link, asked.sender) : null
    store(link, asked, target)
    return previewReply(shown, link.passwordHash === null ? passQuery((target ?? link).url, asked.query) : null)
  }

  /** For a link that has expired or doesn't exist, or while that can't be known. */
  function replyWithoutClick(found: Found, status: number, domain: ShortDomain | null): HttpReply {
    countRequest(typeof found === 'object' ? 'expired' : found)
    if (found === 'unknown') return redirectOrUnknown(domain?.notFoundUrl ?? null, status)
    if (found === 'unavailable') return unavailableReply
    if (found.expiredUrl === null) return expiredReply
    return { status, headers: { Location: found.expiredUrl, ...redirectHeaders } }
  }

  /** After a form, a browser asks with GET wherever it is led (303). With 307 it would send the password there. */
  async function replyToForm(
    found: Found,
    asked: LinkRequest,
    form: URLSearchParams,
    domain: ShortDomain | null,
  ): Promise<HttpReply> {
    if (typeof found !== 'object' || isExpired(found, asked)) return replyWithoutClick(found, 303, domain)
    const password = form.get(passwordField)
    const clicked = { ...asked, referrer: form.get(referrerField) ?? asked.referrer }
    const { id: linkId, passwordHash } = found
    // The password may have been taken away since the form was shown.
    if (passwordHash === null) return password === null ? notAllowedReply : redirect(found, clicked, 303)
    const { address } = asked.sender
    const outcome = await passwords.check({ linkId, passwordHash, password: password ?? '', address })
    if (outcome === 'right') return redirect(found, clicked, 303)
    countRequest(outcome === 'wrong' ? 'wrong_password' : 'not_checked')
    const from = referrerOf(clicked)
    if (outcome === 'wrong') return askReply(403, from)
    return outcome === 'busy' ? askReply(503, from, busyRetryMs) : askReply(429, from, outcome.limitedMs)
  }

  /** Reads the request's head, which is gone after the first await. */
  function readHead(response: HttpResponse, request: HttpRequest, underWay: UnderWay) {
    // All lines of a repeated header, as for events.
    head.read(request)
    const requestId = requestIdOf(head.requestId)
    const isHead = request.getMethod() === 'head'
    const sender = new RequestSender(response, proxies, head)
    const asked = {
      isHead,
      isPrefetch: isPrefetch(request),
      referrer: request.getHeader('referer'),
      query: request.getQuery() ?? '',
      sender,
    }
    const answer = (reply: HttpReply, closes = false) => {
      observeAnswer(reply.status)
      sendReply(response, reply, { requestId, headOnly: isHead, closes: closes || underWay.isClosing })
    }
    return { asked, answer, requestId }
  }

  const follow: Redirect['follow'] = (response, request, underWay, { key, domain }) => {
    const { asked, answer } = readHead(response, request, underWay)
    const place = linkPlace(key, domain?.id ?? null)
    const known = links.find(place)
    if (known !== undefined) return answer(replyTo(known, asked, domain))
    // Looked up now: later the connection may be gone.
    void asked.sender.address
    const once = beginRequest(response, underWay, () => {})
    void links.resolve(place).then((found) => once(() => answer(replyTo(found, asked, domain))))
  }
  const unlock: Redirect['unlock'] = (response, request, underWay, { key, domain }) => {
    const place = linkPlace(key, domain?.id ?? null)
    const { asked, answer, requestId } = readHead(response, request, underWay)
    void asked.sender.address
    let dropBody = () => {}
    const once = beginRequest(response, underWay, () => dropBody())
    const receive = async (form: URLSearchParams) => {
      const found = links.find(place) ?? (await links.resolve(place))
      const reply = await replyToForm(found, asked, form, domain).catch((error) => {
        log.error({ err: error, requestId }, 'a password could not be checked')
        countRequest('not_checked')
        return askReply(503, '', busyRetryMs)
      })
      once(() => answer(reply))
    }
    dropBody = readPost(response, head, formBounds, {
      refuse: (refusal: Refusal, isCut) => {
        const reply = refusalReply(refusal)
        once(() => answer(isCut ? { ...reply, body: cuttingBody(refusal) } : reply, refusal.closes))
      },
      receive: (body) => void receive(new URLSearchParams(body.toString())),
    })
  }
  function send(response: HttpResponse, request: HttpRequest, underWay: UnderWay, reply: HttpReply): void {
    const requestId = requestIdOf(request.getHeader('x-request-id'))
    observeAnswer(reply.status)
    sendReply(response, reply, {
      requestId,
      headOnly: request.getMethod() === 'head',
      // The body of a form isn't read.
      closes: underWay.isClosing || request.getMethod() === 'post',
    })
  }
  const redirectTo: Redirect['redirectTo'] = (response, request, underWay, url) =>
    send(response, request, underWay, redirectOrUnknown(url, 307))
  const answerUnavailable: Redirect['answerUnavailable'] = (response, request, underWay) => {
    countRequest('unavailable')
    send(response, request, underWay, unavailableReply)
  }
  return { follow, unlock, redirectTo, answerUnavailable }
}

/** @param url null: the page for unknown links */
function redirectOrUnknown(url: string | null, status: number): HttpReply {
  return url === null ? unknownReply : { status, headers: { Location: url, ...redirectHeaders } }
}

function isExpired({ expiresAt }: LinkTarget, { sender }: LinkRequest): boolean {
  return expiresAt !== null && expiresAt <= sender.receivedAt
}

/** A moment later another comparison is over. */
const busyRetryMs = 1_000

const notAllowedReply = jsonReply(405, { detail: trackingRefusals.method_not_allowed.detail }, { Allow: 'GET, HEAD' })

/** Each click comes here, and the destination learns the whole address that it came by. */
const redirectHeaders = { 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'unsafe-url' }
