/**
 * Reads a feed of RSS 0.9 to 2.0, Atom or JSON. XML is read in one pass, however well it is formed, and never builds a tree. Only
 * the five entities of XML and numbers are expanded: a DTD defines none. Entries keep their texts as they are sent, and are made
 * plain where a post is made of them. Held by test/integration/feeds.test.ts.
 */
import { createHash } from 'node:crypto'
import { feedSummaryLengthMax, feedTitleLengthMax } from '../../schemas/limits/feed-limits.ts'
import { decodeText } from './decode-text.ts'
import { FeedRefused, type FetchedFeed } from './fetch-feed.ts'
import { cut, oneLine, textOfHtml, tidyLines } from './plain-text.ts'
import { readJsonFeed } from './read-json-feed.ts'
import { readXmlFeed } from './read-xml-feed.ts'

/** A text as it was sent. */
export interface SentText {
  readonly text: string
  readonly isHtml: boolean
}

export interface SentEntry {
  /** As the feed names it; empty where it doesn't. */
  readonly id: string
  /** Absolute, or empty. */
  readonly link: string
  readonly title: SentText
  readonly summary: SentText
  readonly author: string
  readonly publishedAt: Date | null
}

export interface SentFeed {
  readonly title: SentText
  /** As they stand in the feed. */
  readonly entries: readonly SentEntry[]
}

export interface FeedEntry {
  /** Hash of its id, or else of its link or title. By it a changed entry is known again. */
  readonly key: Buffer
  readonly publishedAt: Date | null
  /** Plain, and short enough for a caption each; of several lines in the summary alone. */
  texts(): EntryTexts
}

export interface EntryTexts {
  readonly title: string
  readonly link: string
  readonly summary: string
  readonly author: string
}

export interface Feed {
  readonly title: string
  /** Oldest first, each once; without those that have no id, link or title. */
  readonly entries: readonly FeedEntry[]
}

/** @throws FeedRefused where it is none */
export function readFeed({ body, contentType, url }: Pick<FetchedFeed, 'body' | 'contentType' | 'url'>): Feed {
  const text = decodeText(body, contentType).trimStart()
  const feed = text.startsWith('{') ? readJsonFeed(text, url) : readXmlFeed(text, url)
  if (feed === null) {
    const isPage = /<html[\s>]/i.test(text.slice(0, 2_000))
    throw new FeedRefused(isPage ? 'The address leads to a web page, not to a feed' : 'The address leads to no feed')
  }
  const entries = new Map<string, FeedEntry>()
  for (const sent of feed.entries) {
    const name = sent.id || sent.link || sent.title.text
    if (name === '') continue
    // Often it is the entry's address: a site that moves to https has the same entries.
    const key = createHash('sha256')
      .update(name.replace(/^https?:/i, ''))
      .digest()
    const known = key.toString('hex')
    if (!entries.has(known)) entries.set(known, { key, publishedAt: sent.publishedAt, texts: () => textsOf(sent) })
  }
  return { title: cut(oneLine(plain(feed.title)), feedTitleLengthMax), entries: oldestFirst([...entries.values()]) }
}

/** By their times where all have one; else the first one of the feed counts as the newest. */
function oldestFirst(entries: FeedEntry[]): FeedEntry[] {
  const reversed = entries.reverse()
  if (reversed.some(({ publishedAt }) => publishedAt === null)) return reversed
  return reversed.sort((one, other) => one.publishedAt!.getTime() - other.publishedAt!.getTime())
}

function textsOf({ title, link, summary, author }: SentEntry): EntryTexts {
  return {
    title: cut(oneLine(plain(asTitle(title))), feedTitleLengthMax),
    link: oneLine(link),
    summary: cut(
      tidyLines(plain(summary))
        .replace(wordPressEnd, '')
        .replace(/\s*\[(…|\.\.\.)\]/g, '…'),
      feedSummaryLengthMax,
    ),
    author: cut(oneLine(author), feedTitleLengthMax),
  }
}

/** The line that Yoast, a WordPress plugin, adds below each summary in the site's language. */
const wordPressEnd = new RegExp(
  [
    '\\n?The post .{1,400} appeared first on .{1,400}\\.$',
    ...[
      'Der Beitrag .{1,400} erschien zuerst auf .{1,400}\\.',
      "L[’']article .{1,400} est apparu en premier sur .{1,400}\\.",
      'La entrada .{1,400} (?:se publicó|aparece) primero en .{1,400}\\.',
      'O post .{1,400} apareceu primeiro em .{1,400}\\.',
      "L[’']articolo .{1,400} proviene da .{1,400}\\.",
      'Het bericht .{1,400} verscheen eerst op .{1,400}\\.',
      '投稿 .{1,400} は .{1,400} に最初に表示されました。',
    ].map((line) => `(?:^|\\n)${line}$`),
  ].join('|'),
)

/** Many titles are plain text, such as `How to center a <div>`. So a tag counts as markup only if the title also closes it. */
function asTitle({ text, isHtml }: SentText): SentText {
  const closed = new Set([...text.matchAll(/<\/([a-z][\w-]*)/gi)].map(([, name]) => name!.toLowerCase()))
  const isMarkup = (name: string) => closed.has(name) || ['br', 'img', 'wbr'].includes(name)
  const kept = text.replace(/<([a-z][\w-]*)/gi, (tag, name: string) =>
    isMarkup(name.toLowerCase()) ? tag : `&lt;${name}`,
  )
  return { text: isHtml ? kept : text, isHtml }
}

function plain({ text, isHtml }: SentText): string {
  return isHtml ? textOfHtml(text) : text
}
