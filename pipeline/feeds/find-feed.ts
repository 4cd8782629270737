/**
 * Finds the feed of an address that somebody pasted: often it is the site's, whose page names its feed. The page and the feed are
 * fetched within the same bounds, from public addresses alone. Held by test/integration/feeds.test.ts.
 */
import { Parser } from 'htmlparser2'
import { feedDepthMax, feedPageLengthMax, feedPageTagsMax } from '../../schemas/limits/feed-limits.ts'
import { isWebUrl } from '../../schemas/web-url.ts'
import { absolute } from './absolute.ts'
import { decodeText } from './decode-text.ts'
import { type FeedFetching, FeedRefused, type FetchedFeed, fetchFeed } from './fetch-feed.ts'
import { type Feed, readFeed } from './read-feed.ts'

export interface FoundFeed {
  /** The address itself, or the one that its page names. */
  readonly url: string
  readonly fetched: FetchedFeed
  readonly feed: Feed
}

/** @throws FeedRefused where the address leads to no feed, and to no page that names one */
export async function findFeed(source: string, fetching: FeedFetching, signal: AbortSignal): Promise<FoundFeed> {
  const first = await fetchAnew(source, fetching, signal)
  try {
    return { url: source, fetched: first, feed: readFeed(first) }
  } catch (error) {
    const url = error instanceof FeedRefused ? feedNamedBy(first) : ''
    if (url === '') throw error
    const fetched = await fetchAnew(url, fetching, signal)
    return { url, fetched, feed: readFeed(fetched) }
  }
}

async function fetchAnew(url: string, fetching: FeedFetching, signal: AbortSignal): Promise<FetchedFeed> {
  const fetched = await fetchFeed(url, { etag: null, lastModified: null }, fetching, signal)
  if (fetched === null) throw new FeedRefused('The feed answered with status 304')
  return fetched
}

/** The first feed in a page's head: others are mostly those of its comments. Empty where the page names none. */
function feedNamedBy({ body, contentType, url }: FetchedFeed): string {
  let base = url
  let found = ''
  let tags = 0
  let depth = 0
  const parser = new Parser({
    onopentag(name, { rel = '', type = '', href = '' }) {
      depth++
      if (name === 'base') base = absolute(href, url) || base
      if (name === 'link' && /(^|\s)alternate(\s|$)/i.test(rel) && feedType.test(type.trim())) {
        const named = absolute(href, base)
        found = isWebUrl(named) ? named : ''
      }
      // The parser's time grows with tags and their depth.
      const isTooMuch = ++tags === feedPageTagsMax || depth === feedDepthMax
      if (found !== '' || name === 'body' || isTooMuch) parser.pause()
    },
    onclosetag(name) {
      depth--
      if (name === 'head') parser.pause()
    },
  })
  parser.write(decodeText(body, contentType).slice(0, feedPageLengthMax))
  parser.end()
  return found.replace(/#.*$/s, '')
}
const feedType = /^application\/((rss|atom)\+xml|feed\+json)(;|$)/i
