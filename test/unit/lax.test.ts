import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { idInPath, laxInt, laxIntOr } from '../../schemas/lax.ts'

const unbounded = laxInt({ ge: Number.MIN_SAFE_INTEGER, le: Number.MAX_SAFE_INTEGER })

// Measured on pydantic 2.13.5, lax mode: what an int field makes of a text; null where it refuses.
const measured: [string, number | null][] = [
  ['1', 1],
  ['1.0', 1],
  ['+1', 1],
  ['-1', -1],
  ['- 1', null],
  [' 1 ', 1],
  ['\u00a01', 1],
  ['\ufeff1', null],
  ['1_0', 10],
  ['1__0', null],
  ['_1', null],
  ['1_', null],
  ['1_0.0', 10],
  ['1.0_0', null],
  ['+ 1', null],
  ['++1', null],
  ['+-1', null],
  ['-+1', null],
  ['00012', 12],
  ['-0', 0],
  ['+0', 0],
  ['0_1', 1],
  ['1e3', null],
  ['\u0663', null],
  ['\uff11', null],
  ['0.0', 0],
  ['.0', null],
  ['.', null],
  ['-', null],
  ['+', null],
  ['', null],
  ['1.', null],
  ['1\n', 1],
  ['1\0', null],
  ['\u001c1', null],
  ['\u30001', 1],
  ['1\u0085', 1],
  ['\u200b1', null],
  ['-1.0', -1],
  ['+1.000', 1],
  ['0x1', null],
  ['1,0', null],
  ['1.5', null],
  ['\t-7\r\n', -7],
  ['1 2', null],
  ['NaN', null],
  ['Infinity', null],
  ['-_1', null],
  ['+1_0', 10],
  ['1\u2028', 1],
]

describe('an integer field', () => {
  test.each(measured)('makes of %j %s', (text, expected) => {
    const parsed = unbounded.safeParse(text)
    expect(parsed.success ? parsed.data : null).toBe(expected)
  })

  test.each([
    [true, 1],
    [false, 0],
    [1.0, 1],
  ])('takes %s of JSON as %s', (value, expected) => {
    expect(unbounded.parse(value)).toBe(expected)
  })

  test.each([1.5, null, [], {}, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses %s of JSON', (value) => {
    expect(unbounded.safeParse(value).success).toBe(false)
  })

  test('is bounded on both sides, and left out it is undefined or the default', () => {
    const bounds = { ge: 1, le: 5 }
    expect(['0', '1', '5', '6'].map((text) => laxInt(bounds).safeParse(text).success)).toEqual([
      false,
      true,
      true,
      false,
    ])
    expect(z.object({ n: laxInt(bounds), d: laxIntOr(3, bounds) }).parse({})).toEqual({ d: 3 })
  })

  test('reads a text of a million digits without spending time on it', () => {
    expect(unbounded.safeParse('1'.repeat(1_000_000)).success).toBe(false)
    expect(unbounded.safeParse(`${'1_'.repeat(500_000)}x`).success).toBe(false)
  })
})

describe('an id in a path', () => {
  const id = idInPath('post')

  test.each([
    ['12', 12],
    ['post_12', 12],
    ['+12', 12],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%s is %s', (text, expected) => {
    expect(id.parse(text)).toBe(expected)
  })

  test.each(['post_', 'media_12', 'twelve', '', '1.5', 'post_post_1', '12_post'])('%j is refused', (text) => {
    expect(id.safeParse(text).success).toBe(false)
  })

  test.each(['0', '-1', '9007199254740992', '9007199254740993', '9223372036854775808', '9'.repeat(400)])(
    '%s is no row, never a neighbour',
    (text) => {
      expect(id.parse(text)).toBe(0)
    },
  )
})
