import { expect, test } from 'vitest'
import { closedText } from '../../web/dashboard/shell/closed-text.ts'

const [rightToLeft, isolate, end] = ['\u202E', '\u2066', '\u2069']

test.each([
  ['a plain text', 'a plain text'],
  [`${rightToLeft}gnp`, `${rightToLeft}gnp`],
  [`a ${isolate}b${end} c`, `a ${isolate}b${end} c`],
  [`${rightToLeft}gnp ${isolate}abc`, `${rightToLeft}gnp ${isolate}abc${end}`],
  [`${end}${rightToLeft}gnp${isolate}${isolate}${end}`, `${rightToLeft}gnp${isolate}${isolate}${end}${end}`],
])('a text closes its own isolates and no others: %j', (text, shown) => {
  expect(closedText(text)).toBe(shown)
})
