/** Feeds of JSON, version 1.0 and 1.1. */
import { exceedsJsonLimits } from '../../schemas/json-body.ts'
import { isObject } from '../../schemas/json-object.ts'
import { feedEntriesMax, feedFieldLengthMax } from '../../schemas/limits/feed-limits.ts'
import { absolute } from './absolute.ts'
import { FeedRefused } from './fetch-feed.ts'
import type { SentEntry, SentFeed } from './read-feed.ts'
import { sentTime } from './sent-time.ts'

/** @returns null where it is none. @throws FeedRefused */
export function readJsonFeed(text: string, url: string): SentFeed | null {
  if (exceedsJsonLimits(text)) throw new FeedRefused('The feed is nested too deep, or has a number that is too long')
  let feed: unknown
  try {
    feed = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(feed) || !textOf(feed['version']).startsWith('https://jsonfeed.org/version/1')) return null
  const items = Array.isArray(feed['items']) ? feed['items'] : []
  const author = authorOf(feed)
  return {
    title: { text: textOf(feed['title']), isHtml: false },
    entries: items
      .slice(0, feedEntriesMax)
      .filter(isObject)
      .map((item) => entryOf(item, url, author)),
  }
}

function entryOf(item: Json, url: string, author: string): SentEntry {
  const summary = textOf(item['summary']) || textOf(item['content_text'])
  return {
    id: typeof item['id'] === 'number' ? String(item['id']) : textOf(item['id']),
    link: absolute(textOf(item['url']), url),
    title: { text: textOf(item['title']), isHtml: false },
    summary: summary === '' ? { text: textOf(item['content_html']), isHtml: true } : { text: summary, isHtml: false },
    author: authorOf(item) || author,
    publishedAt: sentTime(textOf(item['date_published']).trim()),
  }
}

type Json = Readonly<Record<string, unknown>>

/** Version 1.0 has one author, 1.1 several. */
function authorOf({ author, authors }: Json): string {
  const [first] = Array.isArray(authors) ? authors : [author]
  return isObject(first) ? textOf(first['name']) : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, feedFieldLengthMax) : ''
}
