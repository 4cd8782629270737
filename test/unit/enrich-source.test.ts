import { describe, expect, test } from 'vitest'
import { type EventLike, rowOf } from '../support/enriching.ts'

const page = 'https://www.example.com/pricing'
const sourceOf = (event: EventLike) => {
  const { source, medium } = rowOf({ url: page, ...event })
  return `${source} / ${medium}`
}

/** Sources by the referrer and the URL alone are in source-cases.txt. */
describe('a visit without a campaign comes from its referrer', () => {
  test.each([
    ...'checkout.stripe.com/c/pay/cs_1 www.paypal.com/ shop.app/ www.mollie.com/checkout/ eu.adyen.link/'.split(' '),
    ...'Accounts.Google.com/ login.microsoftonline.com/ appleid.apple.com/ acme.eu.auth0.com/login'.split(' '),
    'store.lemonsqueezy.com/checkout/',
  ])('but not from a page of payment or sign-in, to which the site had sent it: %s', (place) => {
    const referrer = `https://${place}`
    expect(sourceOf({ referrer })).toBe('direct / none')
    expect(sourceOf({ referrer, source: 'partner' })).toBe('partner / none')
    expect(sourceOf({ referrer, url: `${page}?utm_source=news` })).toBe('news / none')
  })

  test('pages of the same companies that people read are referrals', () => {
    const hosts = 'stripe.com docs.stripe.com auth0.com community.auth0.com developer.paypal.com'.split(' ')
    for (const host of [...hosts, 'www.okta.com', 'github.com', 'paypal.com.evil.example'])
      expect(sourceOf({ referrer: `https://${host}/` })).toBe(`${host.replace('www.', '')} / referral`)
  })
})

describe('the campaign of the URL', () => {
  const google = { referrer: 'https://www.google.com/' }
  const named = { source: 's', medium: 'm', campaign: 'c', content: 'd' }

  test.each<[string, EventLike, string[]]>([
    // Wins over the referrer, by utm_ or bare names.
    ['utm_source=news&utm_medium=email&utm_campaign=may&utm_content=top', google, ['news', 'email', 'may', 'top']],
    ['source=news&medium=email&campaign=may&content=top', google, ['news', 'email', 'may', 'top']],
    ['source=bare&utm_source=utm&medium=m', {}, ['utm', 'm', '', '']],
    // Is decoded and trimmed.
    ['utm_source=a%20b+c%26&utm_medium=%C3%A9&x=1', {}, ['a b c&', 'é', '', '']],
    ['utm_source=%FF&utm_medium=%', {}, ['%FF', '%', '', '']],
    ['utm_source=a%00b&utm_medium=%20%20', {}, ['ab', 'none', '', '']],
    // Is read up to the fragment, and the first of repeated parameters counts.
    ['utm_source=one&utm_source=two#utm_medium=no', {}, ['one', 'none', '', '']],
    ['#?utm_source=no', {}, ['direct', 'none', '', '']],
    ['utm_source=&utm_source=two&&=&a', {}, ['two', 'none', '', '']],
    // Gives way to what the sender names itself.
    ['utm_source=a&utm_medium=b&utm_campaign=c&utm_content=d', named, ['s', 'm', 'c', 'd']],
    ['utm_medium=email', { source: 'partner' }, ['partner', 'email', '', '']],
    ['', { source: 'partner' }, ['partner', 'none', '', '']],
    // That names only a campaign leaves source and medium to the referrer.
    ['utm_campaign=may', { referrer: 'https://www.bing.com/' }, ['bing', 'organic', 'may', '']],
  ])('?%s with %j', (query, event, expected) => {
    const { source, medium, campaign, content } = rowOf({ url: `${page}?${query}`, ...event })
    expect([source, medium, campaign, content]).toEqual(expected)
  })

  test('counts on landings alone: a link within the site may mean anything by its parameters', () => {
    const query = 'source=pricing&medium=m&utm_campaign=c&content=d&gclid=1'
    const from = (referrer: string, more: EventLike = {}) => {
      const { source, medium, campaign, content } = rowOf({ url: `${page}?${query}`, referrer, ...more })
      return [source, medium, campaign, content]
    }
    const landed = ['pricing', 'm', 'c', 'd']
    for (const referrer of ['https://www.google.com/', 'https://shop.example.com/', '']) {
      expect(from(referrer)).toEqual(landed)
    }
    for (const referrer of ['https://www.example.com', 'http://WWW.example.com:8080/list?x=1']) {
      expect(from(referrer)).toEqual(['direct', 'none', '', ''])
      expect(from(referrer, named)).toEqual(['s', 'm', 'c', 'd'])
    }
    // A path tells no host.
    expect(from('https://www.example.com/', { url: null, path: `/pricing?${query}` })).toEqual(landed)
  })

  test('counts, too, where the landing’s own script went on to this page with it, but for bare names', () => {
    const from = (query: string, before: string) => {
      const { source, medium, campaign, content } = rowOf({ url: `${page}?${query}`, referrer: `${home}?${before}` })
      return [source, medium, campaign, content]
    }
    const home = 'https://www.example.com/'
    const query = 'utm_source=news&utm_medium=email&utm_campaign=may&utm_content=a'
    expect(from(`lang=en&${query}`, query)).toEqual(['news', 'email', 'may', 'a'])
    expect(from(query, 'utm_source=news&utm_campaign=june')).toEqual(['news', 'none', '', ''])
    expect(from('gclid=1', 'gclid=1')).toEqual(['google', 'cpc', '', ''])
    expect(from('gclid=1', 'fbclid=1')).toEqual(['direct', 'none', '', ''])
    expect(from('source=nav&content=video&page=2', 'source=nav&content=video')).toEqual(['direct', 'none', '', ''])
  })

  test('is cut to what is stored, and may be in the path, where there is no URL', () => {
    const { source } = rowOf({ url: `${page}?utm_source=${'😀'.repeat(300)}` })
    expect([[...source].length, source.isWellFormed()]).toEqual([254, true])
    expect(rowOf({ path: '/a?utm_source=x' })).toMatchObject({ source: 'x', path: '/a', url: '' })
  })
})

describe('a click id', () => {
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

  test.each(['#/a?b=1&gclid=', '#gclid=', '?gclid=', '?a=1#/b/?c#d?x=y&gclid=', '#gclid=#gclid='])(
    'keeps its name only in a fragment, too, which says nothing else: %s',
    (end) => {
      const sent = page + end.replaceAll('gclid=', 'gclid=SECRET') + (end.includes('#') ? '&utm_source=no' : '')
      const row = rowOf({ url: sent, referrer: sent })
      const kept = page + end + (end.includes('#') ? '&utm_source=no' : '')
      const [route = ''] = /#\/[^?]*/.exec(end) ?? []
      expect([row.url, row.referrer, row.path]).toEqual([kept, kept, `/pricing${route}`])
      expect(rowOf({ url: sent }).source).toBe(end.includes('#') ? 'direct' : 'google')
    },
  )
})
