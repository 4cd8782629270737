/** Where short links lead, for any destination that is taken: what stays, what is added, what readers of URLs make of it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  destinationProblem,
  type LinkParameters,
  trackingParamsOf,
  trackingUrlOf,
} from '../../schemas/event/tracking-url.ts'

const link: LinkParameters = {
  linkId: 12,
  postId: 34,
  utmSource: 'svc',
  utmMedium: 'social',
  utmCampaign: '',
  utmContent: '',
}
const params = trackingParamsOf(link)
const added = 'utm_source=svc&utm_medium=social&svc_link_id=12&svc_post_id=34'

test.each([
  ['https://example.com', `https://example.com/?${added}`],
  ['https://example.com?', `https://example.com/?${added}`],
  ['https://example.com#top', `https://example.com/?${added}#top`],
  ['https://example.com/a?x=1&x=2#y?z=3', `https://example.com/a?x=1&x=2&${added}#y?z=3`],
  ['https://example.com/a?utm_source=mine&x', `https://example.com/a?x&${added}`],
  ['https://example.com/?utm%5Fsource=mine&UTM_SOURCE=x', `https://example.com/?UTM_SOURCE=x&${added}`],
  ['https://example.com/??utm_source=x', `https://example.com/??utm_source=x&${added}`],
  ['https://example.com/?utm_campaign=kept', `https://example.com/?utm_campaign=kept&${added}`],
  ['https://example.com/?q=a%20b+c%2Fd%zz', `https://example.com/?q=a%20b+c%2Fd%zz&${added}`],
  ["https://example.com/it's?q='x'&&y=", `https://example.com/it's?q='x'&&y=&${added}`],
  ['HTTP://EXAMPLE.com:8080/A', `http://example.com:8080/A?${added}`],
  ['https://bücher.example/straße?ö=ü#ä', `https://xn--bcher-kva.example/stra%C3%9Fe?%C3%B6=%C3%BC&${added}#%C3%A4`],
  ['https://[2001:db8::1]:444/a b', `https://[2001:db8::1]:444/a%20b?${added}`],
  ['http://127.0.0.1/a\\b', `http://127.0.0.1/a\\b?${added}`],
])('%s leads to %s', (destination, expected) => {
  expect(destinationProblem(destination)).toBeNull()
  expect(trackingUrlOf(destination, params)).toBe(expected)
})

test.each([
  ...'ftp://example.com javascript:alert(1) //example.com example.com data:text/html,https://a'.split(' '),
  ...'https:/example.com https:example.com https:// https:///a https://?x=1 https://:80'.split(' '),
  ...'https://user@example.com https://a:b@example.com/ https://example.com:99999'.split(' '),
  ...'https://1.2.3.4.5 https://%00.example https://example.com\\@evil.example/'.split(' '),
  ...['https://exa mple.com', 'https://example.com/\r\nX: y', ' https://example.com', 'https://example.com\t'],
])('%j is no destination', (destination) => {
  expect(destinationProblem(destination)).not.toBeNull()
})

test('parameters of empty values are left out, and so is a post that there isn’t', () => {
  const none = { ...link, postId: null, utmSource: '', utmMedium: '' }
  expect(trackingParamsOf(none)).toEqual({ svc_link_id: '12' })
  expect(trackingParamsOf({ ...link, utmCampaign: 'c', utmContent: 'd' })).toEqual({
    utm_source: 'svc',
    utm_medium: 'social',
    utm_campaign: 'c',
    utm_content: 'd',
    svc_link_id: '12',
    svc_post_id: '34',
  })
})

const anyText = fc.string({ unit: 'grapheme', maxLength: 12 })
const piece = fc.oneof(
  fc.tuple(anyText, anyText).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  fc.stringMatching(/^[!$'()*+,\-./0-9:;=@A-Z[\]^_`a-z{|}~%]{0,12}$/),
  fc.constantFrom(
    'utm_source=x',
    'svc_link_id=99',
    'utm%5Fmedium=y',
    'utm_campaign=z',
    '',
    'svc_post_id',
    'a=1',
    'a=2',
  ),
)
const host = fc.constantFrom('example.com', 'example.com:8443', 'bücher.example', '[::1]:81', 'xn--bcher-kva.example')
const path = fc.oneof(fc.constant(''), fc.webPath(), fc.constant('/a b/ü/%2F'))
const query = fc.option(
  fc.array(piece, { maxLength: 6 }).map((pieces) => `?${pieces.join('&')}`),
  { nil: '' },
)
const fragment = fc.option(fc.stringMatching(/^#[!-~]{0,12}$/), { nil: '' })
const destinations = fc
  .tuple(fc.constantFrom('http', 'https'), host, path, query, fragment)
  .map(([scheme, ...rest]) => ({ text: `${scheme}://${rest.join('')}`, query: rest[2], fragment: rest[3] }))
const utm = fc.string({ unit: 'grapheme', maxLength: 12 })
const links = fc.record({
  linkId: fc.integer({ min: 1, max: 2 ** 40 }),
  postId: fc.option(fc.integer({ min: 1, max: 2 ** 40 })),
  utmSource: utm,
  utmMedium: utm,
  utmCampaign: utm,
  utmContent: utm,
})

describe('of any destination and link', () => {
  test('a reader of URLs finds the link’s parameters once each, and all others of the destination in their order', () => {
    fc.assert(
      fc.property(destinations, links, ({ text }, made) => {
        const own = trackingParamsOf(made)
        const before = [...new URL(text).searchParams].filter(([name]) => !Object.hasOwn(own, name))
        const after = [...new URL(trackingUrlOf(text, own)).searchParams]
        expect(after).toEqual([...before, ...Object.entries(own)])
      }),
    )
  })

  test('host and path are those of the destination, its own parameters stay byte for byte, its fragment is last', () => {
    fc.assert(
      fc.property(destinations, links, (destination, made) => {
        const own = trackingParamsOf(made)
        const url = trackingUrlOf(destination.text, own)
        const [was, is] = [new URL(destination.text), new URL(url)]
        expect([is.origin, is.pathname, is.hash]).toEqual([was.origin, was.pathname, was.hash])
        expect(url.endsWith(destination.fragment)).toBe(true)
        const isOwn = (name: string) => Object.hasOwn(own, name)
        const kept = destination.query
          .slice(1)
          .split('&')
          .filter((each) => !isOwn(decoded(each.split('=', 1)[0]!)))
        expect(url).toContain(`?${kept.join('&')}`)
      }),
    )
  })

  test('the URL can stand in a header: it is printable ASCII', () => {
    fc.assert(
      fc.property(destinations, links, ({ text }, made) => {
        expect(trackingUrlOf(text, trackingParamsOf(made))).toMatch(/^[!-~]+$/)
      }),
    )
  })
})

function decoded(name: string): string {
  return [...new URLSearchParams(`&${name}=`).keys()][0] ?? ''
}
