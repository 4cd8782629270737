/**
 * Gets a page that a customer named. It comes from public addresses alone, within a deadline and a bound on its size,
 * and only where robots.txt allows it (RFC 9309). At most three redirects are followed, each checked as the first URL.
 */
import { type Dispatcher, request } from 'undici'
import { within } from '../../runtime/deadline.ts'
import { failureText } from '../../runtime/outbound/failure-text.ts'
import { isPublicHost } from '../../runtime/outbound/public-host.ts'
import { readAtMost } from '../../runtime/outbound/read-at-most.ts'
import { isUnpackingError, unpacked } from '../../runtime/outbound/unpacked.ts'
import {
  profilePageBytesMax,
  profileRedirectsMax,
  profileRequestMs,
  profileStyleBytesMax,
  profileUrlLengthMax,
  robotsBytesMax,
  robotsRedirectsMax,
} from '../../schemas/limits/profile-limits.ts'
import { linkCardPictureBytesMax } from '../../schemas/limits/publish-limits.ts'
import { isAllowed } from './robots-rules.ts'

/** The name by which sites and their robots.txt know this reader of companies' pages. */
const profileUserAgent = 'svc-profile'

export interface Fetched {
  /** After redirects. */
  readonly url: string
  readonly text: string
}

interface Kind {
  readonly accept: string
  readonly contentType: RegExp
  readonly refusal: string
  readonly bytesMax: number
}

const page: Kind = {
  accept: 'text/html',
  contentType: /^(text\/html|application\/xhtml\+xml)\b/i,
  refusal: 'The page is no HTML',
  bytesMax: profilePageBytesMax,
}
const styleSheet: Kind = {
  accept: 'text/css',
  contentType: /^text\/css\b/i,
  refusal: 'The style sheet is no CSS',
  bytesMax: profileStyleBytesMax,
}
const picture: Kind = {
  accept: 'image/jpeg, image/png, image/webp, image/gif',
  contentType: /^image\/(jpe?g|png|webp|gif)\b/i,
  refusal: 'The picture is no JPG, PNG, WebP or GIF',
  bytesMax: linkCardPictureBytesMax,
}
const robotsText = { accept: 'text/plain', bytesMax: robotsBytesMax, isCut: true }

/** Why a page can't be had, in words for who named it. */
export class PageRefused extends Error {
  override name = 'PageRefused'
}

export interface Fetching {
  /** From `makeGuardedAgent`. */
  readonly agent: Dispatcher
  readonly allowPrivate: boolean
  /** Ends all fetching. */
  readonly signal: AbortSignal
  /** Undefined: the one for companies' profiles. */
  readonly userAgent?: string
}

/** @throws PageRefused */
export function fetchPage(source: string, fetching: Fetching): Promise<Fetched> {
  return fetchText(source, page, fetching)
}

/** Bounded and guarded as a page is. @throws PageRefused */
export function fetchStyleSheet(source: string, fetching: Fetching): Promise<Fetched> {
  return fetchText(source, styleSheet, fetching)
}

export interface FetchedPicture {
  readonly contentType: string
  readonly bytes: Buffer
}

/** The picture of a link's card, bounded and guarded as a page is. @throws PageRefused */
export async function fetchPicture(source: string, fetching: Fetching): Promise<FetchedPicture> {
  const { answer } = await fetchFile(source, picture, fetching)
  const contentType = answer.contentType.split(';')[0]!.trim().toLowerCase()
  // Many servers send `image/jpg`, which no platform accepts.
  return { contentType: contentType === 'image/jpg' ? 'image/jpeg' : contentType, bytes: answer.body }
}

async function fetchText(source: string, kind: Kind, fetching: Fetching): Promise<Fetched> {
  const { url, answer } = await fetchFile(source, kind, fetching)
  return { url, text: decode(answer.body, answer.contentType) }
}

async function fetchFile(source: string, kind: Kind, fetching: Fetching): Promise<{ url: string; answer: Answer }> {
  let url = source
  for (let redirects = 0; redirects <= profileRedirectsMax; redirects++) {
    demandPublic(url, fetching)
    await demandAllowed(url, fetching)
    const answer = await get(url, kind, fetching)
    if (answer.location !== undefined) {
      if (!URL.canParse(answer.location, url)) throw new PageRefused('The page redirects to no URL')
      url = new URL(answer.location, url).href
      continue
    }
    if (answer.status !== 200) throw new PageRefused(`The page answered with status ${answer.status}`)
    if (!kind.contentType.test(answer.contentType)) throw new PageRefused(kind.refusal)
    return { url, answer }
  }
  throw new PageRefused(`The page redirects more than ${profileRedirectsMax} times`)
}

/** A URL that a customer names is bounded before: only redirects and style sheets can lead to a longer one. */
const urlTooLong = `The page redirects to a URL of more than ${profileUrlLengthMax} characters`

function demandPublic(url: string, { allowPrivate }: Fetching): void {
  if (url.length > profileUrlLengthMax) throw new PageRefused(urlTooLong)
  const { protocol, username, password, hostname } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw new PageRefused('The page redirects to no web page')
  if (username !== '' || password !== '') throw new PageRefused('The URL has credentials')
  if (!allowPrivate && !isPublicHost(hostname)) throw new PageRefused('The host has no public address')
}

/**
 * Checks the robots.txt that the URL's host has, or redirects to. A missing file allows everything; an unreadable one
 * allows nothing.
 */
async function demandAllowed(url: string, fetching: Fetching): Promise<void> {
  const robotsUrl = new URL('/robots.txt', url).href
  const { status, body } = await getRobots(robotsUrl, fetching)
  if (status >= 500 || (status >= 300 && status < 400)) throw new PageRefused(robotsUnreadable)
  if (status !== 200) return
  const allowed = isAllowed(url, { url: robotsUrl, text: body.toString('utf8') }, userAgentOf(fetching))
  if (allowed === undefined) throw new PageRefused('robots.txt of the host has too many rules')
  if (!allowed) throw new PageRefused('robots.txt of the host forbids it')
}

const robotsUnreadable = 'robots.txt of the host can not be read'

async function getRobots(robotsUrl: string, fetching: Fetching): Promise<Answer> {
  let url = robotsUrl
  for (let redirects = 0; redirects <= robotsRedirectsMax; redirects++) {
    demandPublic(url, fetching)
    const answer = await get(url, robotsText, fetching)
    if (answer.location === undefined) return answer
    if (!URL.canParse(answer.location, url)) break
    url = new URL(answer.location, url).href
  }
  throw new PageRefused(robotsUnreadable)
}

interface Answer {
  readonly status: number
  readonly contentType: string
  /** Set for a redirect. */
  readonly location: string | undefined
  readonly body: Buffer
}

function userAgentOf({ userAgent = profileUserAgent }: Fetching): string {
  return userAgent
}

async function get(
  url: string,
  { accept, bytesMax, isCut = false }: Pick<Kind, 'accept' | 'bytesMax'> & { readonly isCut?: boolean },
  fetching: Fetching,
): Promise<Answer> {
  return within(profileRequestMs, fetching.signal, async (deadline) => {
    try {
      const response = await request(url, {
        dispatcher: fetching.agent,
        headers: { accept, 'accept-encoding': 'identity', 'user-agent': userAgentOf(fetching) },
        signal: deadline,
      })
      const header = (name: string) => [response.headers[name]].flat()[0]
      const status = response.statusCode
      const isRedirect = [301, 302, 303, 307, 308].includes(status)
      if (status !== 200) {
        // A body that nobody reads would hold its connection.
        response.body.on('error', () => undefined).destroy()
        return { status, contentType: '', location: isRedirect ? header('location') : undefined, body: Buffer.alloc(0) }
      }
      const body = unpacked(response.body, header('content-encoding') ?? '')
      if (body === undefined) throw new PageRefused('The page is compressed in a way that was not asked for')
      return {
        status,
        contentType: header('content-type') ?? '',
        location: undefined,
        body: await readBody(body, bytesMax, isCut),
      }
    } catch (error) {
      if (error instanceof PageRefused) throw error
      if (isUnpackingError(error)) throw new PageRefused('The page can not be unpacked')
      throw new PageRefused(deadline.aborted ? 'The host did not answer in time' : failureText(error))
    }
  })
}

/** @param isCut a text that is too large ends with the last whole line within the bound, as RFC 9309 asks */
async function readBody(body: AsyncIterable<Buffer>, bytesMax: number, isCut: boolean): Promise<Buffer> {
  const { bytes, isWhole } = await readAtMost(body, bytesMax)
  if (isWhole) return bytes
  if (isCut) return bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
  const size = bytesMax >= mebibyte ? `${Math.round(bytesMax / mebibyte)} MB` : `${Math.round(bytesMax / 1024)} KB`
  throw new PageRefused(`The page is larger than ${size}`)
}

const mebibyte = 1024 * 1024

/** By the charset of the header, else of the page's head. */
function decode(body: Buffer, contentType: string): string {
  const head = body.subarray(0, 2_048).toString('latin1')
  const label = /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1]
  try {
    return new TextDecoder(label ?? 'utf-8').decode(body)
  } catch {
    return body.toString('utf8')
  }
}
