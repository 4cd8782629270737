/** Feeds made to keep whoever reads them busy: the process that reads them does all else meanwhile. */
import { expect, test } from 'vitest'
import { type Feed, readFeed } from '../../pipeline/feeds/read-feed.ts'

const read = (xml: string): Feed =>
  readFeed({ body: Buffer.from(xml), contentType: 'text/xml', url: 'https://blog.example.com/feed' })
const itemOf = (inner: string) => `<rss><channel><item><guid>1</guid>${inner}</item></channel></rss>`
// By a pattern that is tried again from each place this would take hours.
test('a feed with an author of addresses and brackets is read within its time', { timeout: 60_000 }, () => {
  expect(read(itemOf(`<author>${'@('.repeat(10_000)}</author>`)).entries).toHaveLength(1)
})

test('a base that is too long is none: each address below it would be read with all of it', () => {
  const base = `https://blog.example.com/${'b'.repeat(3_000)}/`
  const { entries } = read(`<feed xml:base="${base}"><entry><id>1</id><title>T</title><link href="a"/></entry></feed>`)
  expect(entries[0]!.texts().link).toBe('https://blog.example.com/a')
})

test('a tag with very many attributes is refused before the parser has gathered them', () => {
  const attributes = Array.from({ length: 2_000 }, (_, at) => `a${at}="1"`).join(' ')
  expect(() => read(itemOf(`<title ${attributes}>T</title>`))).toThrow('A tag of the feed has too many attributes')
})

test('JSON that is nested deeper than any feed is refused before it is parsed', () => {
  const nested = `${'['.repeat(100)}${']'.repeat(100)}`
  const json = `{"version": "https://jsonfeed.org/version/1", "items": [], "_more": ${nested}}`
  expect(() => read(json)).toThrow('The feed is nested too deep')
})

test.each([
  ['ann@example.com (Ann (A.) Example)', 'Ann (A.) Example'],
  ['ann@example.com', ''],
  ['Ann @ home', 'Ann @ home'],
  ['Ann (ann@example.com)', 'Ann (ann@example.com)'],
])('the author %s is %s', (author, name) => {
  expect(read(itemOf(`<author>${author}</author>`)).entries[0]!.texts().author).toBe(name)
})

test('a link that is too long for a caption is none', () => {
  const [entry] = read(itemOf(`<title>T</title><link>/${'x'.repeat(3_000)}</link>`)).entries
  expect(entry!.texts().link).toBe('')
})

test('a feed that says UTF-16 in bytes of ASCII is read', () => {
  expect(read('<?xml version="1.0" encoding="utf-16"?><rss><channel><title>Blog</title></channel></rss>').title).toBe(
    'Blog',
  )
})

test('an entry that is known by its address stays the same where the site moves to https', () => {
  const keyAt = (scheme: string) =>
    read(`<rss><channel><item><guid>${scheme}://blog.example.com/1</guid></item></channel></rss>`).entries[0]!.key
  expect(keyAt('http')).toEqual(keyAt('https'))
})

test.each([
  'Tue, 10 Jun 2025 04:00:00',
  'Tue, 10 Jun 2025 04:00:00 GMT',
  'Tue, 10 Jun 2025 06:00:00 +0200',
  '2025-06-10T04:00:00',
  '2025-06-10 04:00',
  '2025-06-10T06:00:00+02:00',
])('the time %s is the same wherever it is read', (time) => {
  const before = process.env['TZ']
  process.env['TZ'] = 'America/New_York'
  try {
    const json = { version: 'https://jsonfeed.org/version/1', items: [{ id: '1', date_published: time }] }
    const found = [itemOf(`<pubDate>${time}</pubDate>`), JSON.stringify(json)].map((text) => read(text).entries[0])
    expect(found.map((entry) => entry!.publishedAt!.toISOString())).toEqual(Array(2).fill('2025-06-10T04:00:00.000Z'))
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
})
