/** How much of a page is read for a company profile: one that is made to take long is read up to a bound. */
import { expect, test } from 'vitest'
import { describePosture } from '../../pipeline/profile/describe-looks.ts'
import { readPage } from '../../pipeline/profile/read-page.ts'
import {
  pageAttributesMax,
  pageDataLengthMax,
  pageDepthMax,
  pageTagsMax,
  pageTextsMax,
} from '../../schemas/limits/profile-limits.ts'

const read = (body: string) => readPage('https://example.com/', `<h1>First</h1>${body}<h2>Last</h2>`)
const headings = (body: string) => read(body).headings.map(({ text }) => text)

test.each([
  ['nested as deep as it may be', '<b>'.repeat(pageDepthMax - 1)],
  ['many tags', '<i></i>'.repeat(pageTagsMax / 2 - 4)],
  ['many attributes', '<i a b c></i>'.repeat(pageTagsMax / 4)],
])('a page with %s is read to its end', (_, body) => {
  expect(headings(body)).toEqual(['First', 'Last'])
})

test.each([
  ['nested too deep', '<b>'.repeat(pageDepthMax)],
  ['too many tags', '<i></i>'.repeat(pageTagsMax / 2)],
  ['too many closing tags of nothing', '</i>'.repeat(pageTagsMax)],
  ['too many attributes', `<i ${Array.from({ length: pageAttributesMax + 1 }, (_, at) => `a${at}`).join(' ')}></i>`],
])('a page with %s is read up to there', (_, body) => {
  expect(headings(body)).toEqual(['First'])
})

test('a text that is open where reading stops counts', () => {
  const { actions, paragraphs } = read(`<button>Buy</button><p>Said ${'<b>'.repeat(pageDepthMax)}<button>Sell</button>`)
  expect([actions, paragraphs]).toEqual([['Buy'], ['Said']])
})

test('texts in each other all say what stands in them, on one line and cut', () => {
  const { headings } = read(`<h2>one <a>two\n <br> three</a> ${'long &amp; '.repeat(100)}</h2>`)
  expect(headings[1]?.text).toMatch(/^one two three long & long & .*…$/)
  const { actions } = read(`<button>Buy  <a role="button">\n${' '.repeat(5_000)}plants</a></button>`)
  expect(actions).toEqual(['plants', 'Buy plants'])
})

test('relative addresses are those of the base that the page names', () => {
  const body = '<link rel="stylesheet" href="a.css"><a href="b">B</a><img class="logo" src="c.png">'
  const pathsBelow = (base: string) => {
    const { styleSheets, links, logo } = read(base + body)
    return [...styleSheets, ...links, logo].map((address) => new URL(address!).pathname)
  }
  expect(pathsBelow('<base target="_top"><base href="/app/"><base href="/other/">')).toEqual([
    '/app/a.css',
    '/app/b',
    '/app/c.png',
  ])
  expect(pathsBelow('<base href="javascript:x">')).toEqual(['/a.css', '/b', '/c.png'])
})

test('structured data is read up to a bound, however many scripts it is in', () => {
  const script = (name: string, length: number) =>
    `<script type="application/ld+json">${JSON.stringify({ name }).padEnd(length)}</script>`
  const half = pageDataLengthMax / 2
  const { data } = read(script('a', half) + script('b', half) + script('c', 0))
  expect(data).toEqual([{ name: 'a' }, { name: 'b' }])
  expect(read(script('a', pageDataLengthMax + 1)).data).toEqual([])
  expect(read('<script type="application/ld+json">{</script>'.repeat(pageTextsMax) + script('a', 0)).data).toEqual([])
})

test('structured data that is nested deeper than any site’s is not parsed', () => {
  const nested = (depth: number) =>
    `<script type="application/ld+json">{"a":${'['.repeat(depth)}${']'.repeat(depth)}}</script>`
  expect(read(nested(10)).data).toHaveLength(1)
  expect(read(nested(100)).data).toEqual([])
})

test('links to social networks name them; a host that is called as a member of every object is none', () => {
  const hosts = ['constructor', '__proto__', 'www.tostring', 'www.youtube.com', 'www.threads.com', 'www.pinterest.com']
  const page = readPage('https://example.com/', hosts.map((host) => `<a href="http://${host}/a">${host}</a>`).join(''))
  const published = {
    platforms: [],
    posts: 0,
    postPlatforms: [],
    caption: '',
    tags: [],
    links: [],
    images: 0,
    videos: 0,
  }
  const { platforms } = describePosture([page], published, [])
  expect([page.links.length, platforms]).toEqual([hosts.length, ['pinterest', 'threads', 'youtube']])
})

test('a page that is one form is read, as ASP.NET makes it; a form within is not', () => {
  const { headings, paragraphs } = readPage(
    'https://example.com/',
    '<html><body><form><h1>We build</h1><div><form><p>Your mail</p></form></div><p>Said</p></form></body></html>',
  )
  expect([headings.map(({ text }) => text), paragraphs]).toEqual([['We build'], ['Said']])
})

test('blocks without a blank between them are words of their own', () => {
  const { headings } = read(
    '<h2>Features</h2><ul><li><b>F</b>ast<p>Loads soon</p></li><li><div>Safe</div>By design</li></ul>',
  )
  expect(headings[1]?.items).toEqual(['Fast Loads soon', 'Safe By design'])
})

test('addresses in meta tags are whole, and the footer is reached behind hundreds of links', () => {
  const image = `https://example.com/og?title=${'%E3%81%82'.repeat(60)}`
  const links = Array.from({ length: pageTextsMax + 1 }, (_, at) => `<a href="/${at}">${at}</a>`).join('')
  const page = read(
    `<meta property="og:image" content="${image}">${links}<a href="https://de.linkedin.com/company/a">In</a>`,
  )
  expect([page.meta.get('og:image'), page.links]).toEqual([
    image,
    ['https://example.com/0', 'https://de.linkedin.com/company/a'],
  ])
})

test('fonts are named by their style sheet, in its older form and escaped too', () => {
  const address = 'https://fonts.googleapis.com/css'
  const { fonts } = read(
    [
      '?family=Libre+Franklin%3A300%2C400%7COpen+Sans&#038;subset=latin',
      '?family=Lato|Roboto:400',
      '2?family=Inter:wght@400;700&family=Fira+Code',
    ]
      .map((query) => `<link rel="stylesheet" href="${address}${query}">`)
      .join(''),
  )
  expect([...fonts.keys()]).toEqual(['Libre Franklin', 'Open Sans', 'Lato', 'Roboto', 'Inter', 'Fira Code'])
})
