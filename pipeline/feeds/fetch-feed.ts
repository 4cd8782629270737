/**
 * Gets a feed that a customer named: from public addresses alone, within a deadline and a bound on its unpacked size. Redirects
 * are followed, each checked as the first URL. Held by test/integration/feeds.test.ts.
 */
import type { Readable } from 'node:stream'
import { type Dispatcher, request } from 'undici'
import type { Validators } from '../../postgres/tables/posts/feed-looks.ts'
import { within } from '../../runtime/deadline.ts'
import { failureText } from '../../runtime/outbound/failure-text.ts'
import { isPublicHost } from '../../runtime/outbound/public-host.ts'
import { readAtMost } from '../../runtime/outbound/read-at-most.ts'
import { isUnpackingError, unpacked } from '../../runtime/outbound/unpacked.ts'
import {
  feedBytesMax,
  feedHoldMaxMs,
  feedRedirectsMax,
  feedRequestMs,
  feedUrlLengthMax,
  feedValidatorLengthMax,
} from '../../schemas/limits/feed-limits.ts'
import { isWebUrl } from '../../schemas/web-url.ts'

export interface FeedFetching {
  /** From `makeGuardedAgent`. */
  readonly agent: Dispatcher
  readonly allowPrivate: boolean
}

export interface FetchedFeed extends Validators {
  /** After redirects. */
  readonly url: string
  readonly contentType: string
  readonly body: Buffer
}

/** Why a feed can't be read, in words for who named it. */
export class FeedRefused extends Error {
  override name = 'FeedRefused'
  /** How long its server wants to be left alone; 0: it doesn't say. */
  readonly waitMs: number

  constructor(message: string, waitMs = 0) {
    super(message)
    this.waitMs = waitMs
  }
}

const userAgent = 'svc-feeds'
const accept =
  'application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5'

/**
 * @param known validators of the last answer
 * @returns null where the feed is as it was then
 * @throws FeedRefused
 */
export function fetchFeed(
  source: string,
  known: Validators,
  fetching: FeedFetching,
  signal: AbortSignal,
): Promise<FetchedFeed | null> {
  return within(feedRequestMs, signal, async (ending) => {
    try {
      return await follow(source, known, fetching, ending)
    } catch (error) {
      if (error instanceof FeedRefused || signal.aborted) throw error
      throw new FeedRefused(ending.aborted ? 'The host did not answer in time' : failureText(error))
    }
  })
}

async function follow(
  source: string,
  known: Validators,
  { agent, allowPrivate }: FeedFetching,
  signal: AbortSignal,
): Promise<FetchedFeed | null> {
  let url = source
  for (let redirects = 0; redirects <= feedRedirectsMax; redirects++) {
    demandPublic(url, allowPrivate)
    const {
      statusCode: status,
      headers,
      body,
    } = await request(url, {
      dispatcher: agent,
      signal,
      headers: {
        accept,
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': userAgent,
        ...(known.etag !== null && { 'if-none-match': known.etag }),
        ...(known.lastModified !== null && { 'if-modified-since': known.lastModified }),
      },
    })
    const header = (name: string) => [headers[name]].flat()[0]
    if (status === 200) {
      const validator = (name: string) => {
        const value = header(name)
        return value === undefined || value.length > feedValidatorLengthMax ? null : value
      }
      return {
        url,
        contentType: header('content-type') ?? '',
        body: await read(body, header('content-encoding') ?? ''),
        etag: validator('etag'),
        lastModified: validator('last-modified'),
      }
    }
    // A body that nobody reads would hold its connection.
    body.on('error', () => undefined).destroy()
    if (status === 304 && (known.etag !== null || known.lastModified !== null)) return null
    const location = header('location')
    if (![301, 302, 303, 307, 308].includes(status)) {
      throw new FeedRefused(`The feed answered with status ${status}`, waitOf(header('retry-after')))
    }
    if (location === undefined || !URL.canParse(location, url)) throw new FeedRefused('The feed redirects to no URL')
    url = new URL(location, url).href
  }
  throw new FeedRefused(`The feed redirects more than ${feedRedirectsMax} times`)
}

function demandPublic(url: string, allowPrivate: boolean): void {
  if (url.length > feedUrlLengthMax) {
    throw new FeedRefused(`The feed redirects to a URL of more than ${feedUrlLengthMax} characters`)
  }
  if (!isWebUrl(url)) throw new FeedRefused('The feed redirects to no web address, or to one with credentials')
  if (!allowPrivate && !isPublicHost(new URL(url).hostname)) throw new FeedRefused('The host has no public address')
}

/** The bound is on what comes out: a small body may unpack to a very large one. */
async function read(body: Readable, encoding: string): Promise<Buffer> {
  const text = unpacked(body, encoding)
  if (text === undefined) throw new FeedRefused('The feed is compressed in a way that was not asked for')
  const { bytes, isWhole } = await readAtMost(text, feedBytesMax).catch((error: unknown) => {
    throw isUnpackingError(error) ? new FeedRefused('The feed can not be unpacked') : error
  })
  if (!isWhole) throw new FeedRefused(`The feed is larger than ${feedBytesMax / 1024 / 1024} MB`)
  return bytes
}

/** By seconds, or until a date. */
function waitOf(retryAfter = ''): number {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  return ms > 0 ? Math.min(ms, feedHoldMaxMs) : 0
}
