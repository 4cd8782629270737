import { describe, expect, test } from 'vitest'
import { linksIn, replaceLinks } from '../../schemas/reference/links-in-text.ts'

const sale = 'https://shop.de/sale'
/** Texts with a link at the L. */
const around = [
  ...'„L“ “L” «L» ‹L› ‘L’ "L" \'L\' `L` <L> L… **L** _*L*! L。 Lを見る 「L」へ L에서 L的'.split(' '),
  ...'(L). [L] {L}, [Sale](L) L?! L))]'.split(' '),
  '(see L), and',
]
const whole = [
  'https://example.com/Way_(Sun)',
  'https://example.com/a[0]',
  'https://example.com/ä?b=1,2#c',
  'HTTPS://A.example/-',
  "https://example.com/it's",
  'https://web.archive.org/web/*/a.example',
  'https://пример.рф/путь',
  'http://a.b/😀',
]

describe('a link in a text', () => {
  test.each(around)('ends before what is around it: %j', (text) => {
    const [before, after] = text.split('L') as [string, string]
    expect(linksIn(before + sale + after)).toEqual([{ index: before.length, url: sale }])
    expect(replaceLinks(`${before}${sale}${after} ${sale}`, () => 'x')).toBe(`${before}x${after} x`)
  })

  test.each(whole)('is all of %j, also in brackets', (url) => {
    expect(linksIn(`(see ${url})`)).toEqual([{ index: 5, url }])
  })

  test('has something behind its scheme', () => {
    expect(linksIn('http:// https://. https://“a” http://)')).toEqual([])
  })
})
