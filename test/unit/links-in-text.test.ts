import { describe, expect, test } from 'vitest'
import { linksIn, replaceLinks } from '../../schemas/reference/links-in-text.ts'

const sale = 'https://shop.de/sale'
/** A text with a link between the parts. */
const around = [
  ['„', '“'],
  ['“', '”'],
  ['«', '»'],
  ['‹', '›'],
  ['‘', '’'],
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['<', '>'],
  ['', '…'],
  ['**', '**'],
  ['_*', '*!'],
  ['', '。'],
  ['', 'を見る'],
  ['「', '」へ'],
  ['', '에서'],
  ['', '的'],
  ['(', ').'],
  ['[', ']'],
  ['{', '},'],
  ['[Sale](', ')'],
  ['(see ', '), and'],
  ['', '?!'],
  ['', '))]'],
] as const
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
  test.each(around)('ends before what is around it: %j %j', (before, after) => {
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
