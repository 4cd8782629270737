/** Campaign parameters in a destination: read from it and written into it, and nothing else of it changes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ownUtm, paramOf, withParam } from '../../schemas/reference/campaign-query.ts'
import { seed } from '../support/short-form.ts'

test.each([
  ['https://a.de', 'news', 'https://a.de?utm_source=news'],
  ['https://a.de/?b=%20c&d#e?utm_source=f', 'a b&c', 'https://a.de/?b=%20c&d&utm_source=a%20b%26c#e?utm_source=f'],
  ['https://a.de/?x=1&utm%5Fsource=old&y=2&utm_source=older', 'new', 'https://a.de/?x=1&utm_source=new&y=2'],
  ['https://a.de/?utm_source=old#top', '', 'https://a.de/#top'],
  ['https://a.de/?', 'x', 'https://a.de/?utm_source=x'],
])('writes into %s', (url, value, written) => {
  expect(withParam(url, 'utm_source', value)).toBe(written)
})

test('a value that was written is read again, and gone once it is empty', () => {
  const query = fc.array(fc.constantFrom('a=1', 'b', '', 'utm_source=x', 'utm+source=y', '%zz=1', '?utm_source=z'))
  fc.assert(
    fc.property(query, fc.string({ unit: 'grapheme', minLength: 1 }), (pieces, value) => {
      const url = `https://a.de/b?${pieces.join('&')}#utm_source=c`
      const written = withParam(url, 'utm_source', value)
      expect(paramOf(written, 'utm_source')).toBe(value)
      const kept = withParam(written, 'utm_source', '')
      expect(paramOf(kept, 'utm_source')).toBeUndefined()
      expect(kept.endsWith('#utm_source=c')).toBe(true)
    }),
    { seed },
  )
})

test('a destination’s own source and medium stay, also those that a link can not have', () => {
  const own = (query: string) => ownUtm(`https://example.com/?${query}#utm_source=no`)
  expect(own('utm_source=&utm_source=mail&utm_campaign=x')).toEqual({ utm_source: 'mail' })
  expect(own('utm_medium=a+b&x=%zz')).toEqual({ utm_medium: 'a b' })
  for (const odd of ['M%E4rz', 'a%00b', 'a'.repeat(121)])
    expect([odd, own(`utm_source=${odd}`)]).toEqual([odd, { utm_source: '' }])
  expect(own('')).toEqual({})
})
