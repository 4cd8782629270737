/** Texts of entries as blogs really send them. */
import { expect, test } from 'vitest'
import { readFeed } from '../../pipeline/feeds/read-feed.ts'

function textsOf(title: string, description = '') {
  const item = `<item><title>${title}</title><link>https://a.example/</link><description><![CDATA[${description}]]></description></item>`
  const body = Buffer.from(`<rss><channel>${item}</channel></rss>`)
  return readFeed({ body, contentType: 'text/xml', url: 'https://a.example/feed' }).entries[0]!.texts()
}

test.each([
  ['How to center a &lt;div&gt;', 'How to center a <div>'],
  ['<![CDATA[Use <script> and List<string> safely]]>', 'Use <script> and List<string> safely'],
  ['&lt;b&gt;New&lt;/b&gt;: Tom &amp;amp; Ann&lt;br&gt;here', 'New: Tom & Ann here'],
])('a title %s', (sent, title) => {
  expect(textsOf(sent).title).toBe(title)
})

test.each([
  'Der Beitrag <a>X</a> erschien zuerst auf <a>Y</a>.',
  'L’article <a>X</a> est apparu en premier sur <a>Y</a>.',
  'La entrada <a>X</a> se publicó primero en <a>Y</a>.',
  '投稿 <a>X</a> は <a>Y</a> に最初に表示されました。',
])('WordPress’s line %s is left out', (line) => {
  expect(textsOf('a', `<p>Said [&#8230;]</p>\n<p>${line}</p>\n`).summary).toBe('Said…')
})

test('cells of a table are lines of their own', () => {
  expect(textsOf('a', '<table><tr><td>Price</td><td>10</td></tr></table>').summary).toBe('Price\n10')
})
