/** The query of a short URL adds parameters to where the link leads, and does nothing else. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { passQuery } from '../../ingest/http/pass-query.ts'
import { trackingParamsOf, trackingUrlOf } from '../../schemas/event/tracking-url.ts'
import { trackingUrlBytesMax } from '../../schemas/limits/api-limits.ts'
import { passedParametersMax, passedQueryBytesMax } from '../../schemas/limits/ingest-limits.ts'
import { isLong } from '../support/short-form.ts'

const params = trackingParamsOf({
  linkId: 12,
  postId: 34,
  utmSource: 'svc',
  utmMedium: 'social',
  utmCampaign: '',
  utmContent: '',
})
const there = 'https://example.com/sale?size=m&a[]=1&utm_source=svc&svc_link_id=12#top'

test.each([
  ['', ''],
  ['ref=bio&gclid=Cj0-K_q.~', '&ref=bio&gclid=Cj0-K_q.~'],
  ['utm_campaign=theirs&flag&x=1&x=2&y=', '&utm_campaign=theirs&flag&x=1&x=2&y='],
  ['utm_source=theirs&size=xl&svc_post_id=9&svc_j=1.2&svc_', ''],
  ['SIZE=xl&utm%5Fsource=x&utm.source=x&+utm+source=x&s%76c_post_id=9&svc[post_id=9&%20svc_j=1&svc_j%00=1', ''],
  ['a=2&a[]=2&b[]=3&&=x&c', '&c'],
  ['q=a%20b+c%2Fd&bad=%zz&half=%4', '&q=a%20b+c%2Fd&bad=%25zz&half=%254'],
  ['x=1;svc_j=2&y=a?svc_j=3&z=\\@evil.example', '&x=1%3Bsvc_j=2&y=a%3Fsvc_j=3&z=%5C@evil.example'],
  [`ö='ü"<`, '&%C3%B6=%27%C3%BC%22%3C'],
  ['x=\ud800', '&x=%EF%BF%BD'],
  ['x=1#svc_j=2', '&x=1%23svc_j=2'],
])('%j adds %j', (query, added) => {
  expect(passQuery(there, query)).toBe(there.replace('#', `${added}#`))
})

test.each(['b', 'c', 'Y', 'd'])('%s has a value for readers that divide at a semicolon or question mark', (name) => {
  const url = 'https://example.com/a?size=m&y=a;b=1?c=2;d#f'
  expect(passQuery(url, `${name}=2`)).toBe(url)
})

test('the first parameters within the bounds are passed on, and a destination without room gets none', () => {
  const many = (count: number, of = 'p') => Array.from({ length: count }, (_, at) => `${of}${at}=1`)
  const passed = (query: string, url = there) => passQuery(url, query).slice(url.length - '#top'.length, -'#top'.length)
  expect(passed(many(passedParametersMax + 1).join('&'))).toBe(`&${many(passedParametersMax).join('&')}`)
  const long = 'x'.repeat(passedQueryBytesMax - 3)
  expect(passed(`a1=${'y'.repeat(passedQueryBytesMax - 4)}`)).toHaveLength(passedQueryBytesMax)
  expect(passed(`a1=${long}y`)).toBe('')
  expect(passed(`k=1&a1=${long}`)).toBe('&k=1')
  expect(passed(`svc_j=${long}&k=${'y'.repeat(100)}`)).toBe(`&k=${'y'.repeat(100)}`)
  const full = `https://example.com/?a=${'z'.repeat(trackingUrlBytesMax - 40)}#top`
  expect(passQuery(full, `b=${'1'.repeat(30)}`)).toBe(full)
})

const character = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...'&=%+;?#/\\@:[]._ \'"<>\0\r\n'.split('')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('svc_', 'svc', 'utm_source', 'size', '%73', '%26', '%23', '%3D', '%zz', 'ref', 'b', 'y'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }) },
)
const queries = fc.array(character, { maxLength: 40 }).map((parts) => parts.join(''))
const destinations = fc.constantFrom(
  'https://example.com',
  'https://example.com/a?size=m&y=a;b=c#f?x=1',
  'http://[::1]:81/?a[]=1&Ref=2',
  'https://bücher.example/ü?ö#ä',
)

/** How some readers divide a query; names as PHP and those that ignore case know them. */
const namesOf = (query: string, marks: RegExp) =>
  query.split(marks).map((piece) => {
    const [name = ''] = [...new URLSearchParams(`&${piece}`)][0] ?? []
    return name
      .trim()
      .replace(/[\s.[]/g, '_')
      .toLowerCase()
  })

test('host, path, fragment and all that was there stay byte for byte, and no reader finds another value of a name that was there, or one of ours', () => {
  fc.assert(
    fc.property(destinations, queries, (destination, query) => {
      const url = trackingUrlOf(destination, params)
      const passed = passQuery(url, query)
      const [before, fragment] = [url.split('#', 1)[0]!, new URL(url).hash]
      expect([passed.startsWith(before), passed.endsWith(fragment)]).toEqual([true, true])
      const added = passed.slice(before.length, passed.length - fragment.length)
      expect(added).toMatch(/^(&[\w\-.~%+=*!(),/:@$]+)*$/)
      expect(added.length).toBeLessThanOrEqual(passedQueryBytesMax)
      const [was, is] = [new URL(url), new URL(passed)]
      expect([is.origin, is.pathname, is.hash, is.username]).toEqual([was.origin, was.pathname, was.hash, ''])
      for (const marks of [/&/, /[&;]/, /[&;?]/]) {
        const own = new Set(namesOf(was.search.slice(1), marks))
        const new_ = added === '' ? [] : namesOf(added.slice(1), marks)
        expect(new_.filter((name) => own.has(name) || name.startsWith('svc_'))).toEqual([])
      }
      // Ours reads addresses as text.
      expect(added).not.toMatch(/[?&]svc_/)
    }),
    { numRuns: isLong ? 20_000 : 500 },
  )
})

test('a parameter with another name is passed on as readers of URLs know it', () => {
  const name = fc.stringMatching(/^[a-rt-z][\w\-~]{0,10}$/).filter((text) => !(text in params))
  fc.assert(
    fc.property(name, fc.string({ unit: 'grapheme', maxLength: 20 }), (name, value) => {
      const url = trackingUrlOf('https://example.com', params)
      const passed = new URL(passQuery(url, `${name}=${encodeURIComponent(value)}`)).searchParams
      expect([...passed]).toEqual([...new URL(url).searchParams, [name, value]])
    }),
  )
})
