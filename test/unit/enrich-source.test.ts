import { describe, expect, test } from 'vitest'
import { type EventLike, rowOf } from '../support/enriching.ts'

const page = 'https://www.example.com/pricing'
const sourceOf = (event: EventLike) => {
  const { source, medium } = rowOf({ url: page, ...event })
  return `${source} / ${medium}`
}
const from = (referrer: string) => sourceOf({ referrer })

describe('a visit without a campaign comes from its referrer', () => {
  test.each([
    ['https://www.some-blog.org/post', 'some-blog.org / referral'],
    ['https://Docs.Google.com/document', 'docs.google.com / referral'],
    ['https://news.google.com/', 'news.google.com / referral'],
    ['https://google.evil.example/', 'google.evil.example / referral'],
    ['https://notgoogle.com/', 'notgoogle.com / referral'],
    ['https://constructor/', 'constructor / referral'],
    ['http://192.0.2.7:8080/x', '192.0.2.7 / referral'],
    ['http://user:secret@other.example:81/', 'other.example / referral'],
  ])('which, when it is nobody known, is named itself: %s', (referrer, expected) => {
    expect(from(referrer)).toBe(expected)
  })

  test.each([
    'https://www.example.com/other',
    'https://example.com/',
    'http://shop.example.com:8080/x',
    'https://WWW.EXAMPLE.COM/',
    '',
    'not a url',
    '/local?u=https://google.com/',
    'https://',
    'https://exa mple.com/',
    'about:blank',
  ])('unless it is of the same site, or no site at all: %j', (referrer) => {
    expect(from(referrer)).toBe('direct / none')
  })

  test('and two sites under one hosting suffix are two', () => {
    expect(sourceOf({ url: 'https://one.github.io/', referrer: 'https://two.github.io/' })).toBe(
      'two.github.io / referral',
    )
    expect(sourceOf({ url: 'https://one.co.uk/', referrer: 'https://two.co.uk/' })).toBe('two.co.uk / referral')
  })

  test('and without any it is direct', () => {
    expect(sourceOf({})).toBe('direct / none')
    expect(sourceOf({ url: null, path: '/x' })).toBe('direct / none')
  })
})

describe('the campaign of the URL', () => {
  const campaignOf = (query: string, event: EventLike = {}) => {
    const { source, medium, campaign, content } = rowOf({ url: `${page}?${query}`, ...event })
    return [source, medium, campaign, content]
  }

  test('wins over the referrer, by utm_ or bare names', () => {
    const referrer = 'https://www.google.com/'
    expect(campaignOf('utm_source=news&utm_medium=email&utm_campaign=may&utm_content=top', { referrer })).toEqual([
      'news',
      'email',
      'may',
      'top',
    ])
    expect(campaignOf('source=news&medium=email&campaign=may&content=top', { referrer })).toEqual([
      'news',
      'email',
      'may',
      'top',
    ])
    expect(campaignOf('source=bare&utm_source=utm&medium=m')).toEqual(['utm', 'm', '', ''])
  })

  test('is decoded, trimmed, and cut to what is stored', () => {
    expect(campaignOf('utm_source=a%20b+c%26&utm_medium=%C3%A9&x=1')).toEqual(['a b c&', 'é', '', ''])
    expect(campaignOf('utm_source=%FF&utm_medium=%')).toEqual(['%FF', '%', '', ''])
    expect(campaignOf('utm_source=a%00b&utm_medium=%20%20')).toEqual(['ab', 'none', '', ''])
    const long = campaignOf(`utm_source=${'😀'.repeat(300)}`)[0]!
    expect([...long]).toHaveLength(254)
    expect(long.isWellFormed()).toBe(true)
  })

  test('is read up to the fragment, and the first of repeated parameters counts', () => {
    expect(campaignOf('utm_source=one&utm_source=two#utm_medium=no')).toEqual(['one', 'none', '', ''])
    expect(rowOf({ url: `${page}#?utm_source=no` }).source).toBe('direct')
    expect(campaignOf('utm_source=&utm_source=two&&=&a')).toEqual(['two', 'none', '', ''])
  })

  test('may be in the path, where there is no URL', () => {
    expect(rowOf({ path: '/a?utm_source=x' })).toMatchObject({ source: 'x', path: '/a', url: '' })
  })

  test('gives way to what the sender names itself', () => {
    const named = { source: 's', medium: 'm', campaign: 'c', content: 'd' }
    expect(campaignOf('utm_source=a&utm_medium=b&utm_campaign=c&utm_content=d', named)).toEqual(['s', 'm', 'c', 'd'])
    expect(campaignOf('utm_medium=email', { source: 'partner' })).toEqual(['partner', 'email', '', ''])
    expect(campaignOf('', { source: 'partner' })).toEqual(['partner', 'none', '', ''])
  })

  test('that names only a campaign leaves source and medium to the referrer', () => {
    expect(campaignOf('utm_campaign=may', { referrer: 'https://www.bing.com/' })).toEqual([
      'bing',
      'organic',
      'may',
      '',
    ])
  })
})

describe('a click id', () => {
  const withId = (query: string, referrer: string | null = null) => sourceOf({ url: `${page}?${query}`, referrer })

  test('gives a campaign without a medium its paid one', () => {
    expect(withId('utm_source=google&gclid=x')).toBe('google / cpc')
    expect(withId('utm_source=google&utm_medium=ad&gclid=x')).toBe('google / ad')
    expect(withId('utm_source=news&fbclid=x')).toBe('news / none')
  })

  test('keeps its name only: its value is stored nowhere', () => {
    const secret = 'CjwKSECRETvalue'
    const row = rowOf({
      url: `${page}?a=1&gclid=${secret}&b=2&fbclid=${secret}#top`,
      path: `/pricing?gclid=${secret}`,
      referrer: `https://other.example/?msclkid=${secret}`,
    })
    expect(row.url).toBe(`${page}?a=1&gclid=&b=2&fbclid=#top`)
    expect(row.referrer).toBe('https://other.example/?msclkid=')
    expect(JSON.stringify(row)).not.toContain(secret)
  })
})
