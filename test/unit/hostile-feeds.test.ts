/** Feeds made to keep whoever reads them busy: the process that reads them does all else meanwhile. */
import { expect, test } from 'vitest'
import { captionsOf } from '../../pipeline/feeds/entry-caption.ts'
import { type Feed, readFeed } from '../../pipeline/feeds/read-feed.ts'

const read = (xml: string): Feed =>
  readFeed({ body: Buffer.from(xml), contentType: 'text/xml', url: 'https://blog.example.com/feed' })
const itemOf = (inner: string) => `<rss><channel><item><guid>1</guid>${inner}</item></channel></rss>`
const longBase = `https://blog.example.com/${'a'.repeat(2_000_000)}/`

test.each([
  ['an author of marks of addresses', itemOf(`<author>${'@'.repeat(20_000)} x</author>`)],
  ['an author of addresses and brackets', itemOf(`<author>${'@('.repeat(10_000)}</author>`)],
  ['a very long base', `<rss xml:base="${longBase}"><channel>${'<a xml:base="x"/>'.repeat(1_000)}</channel></rss>`],
  [
    'many links below a very long base',
    `<feed xml:base="${longBase}"><entry><id>1</id>${'<link href="x:1"/>'.repeat(1_000)}</entry></feed>`,
  ],
])('a feed with %s is read at once', { timeout: 60_000 }, (_, xml) => {
  const startedAt = performance.now()
  read(xml)
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})

test('a template of very many blanks is filled at once', () => {
  const [entry] = read(
    itemOf(`<title>${'ab '.repeat(1_000)}</title><description>${'ab '.repeat(3_000)}</description>`),
  ).entries
  const fillMs = (mark: string) => {
    const template = `${mark.repeat(2_100)}{title} {summary} {author} x`
    const times = Array.from({ length: 3 }, () => {
      const startedAt = performance.now()
      captionsOf(template, entry!.texts(), [])
      return performance.now() - startedAt
    })
    return Math.min(...times)
  }
  expect(fillMs(' ') / fillMs('x')).toBeLessThan(4)
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
