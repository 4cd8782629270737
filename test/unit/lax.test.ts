import { describe, expect, test } from 'vitest'
import { idInBody, idInPath, idOrNull, laxInt, namesOf } from '../../schemas/lax.ts'

const unbounded = laxInt({ ge: Number.MIN_SAFE_INTEGER, le: Number.MAX_SAFE_INTEGER })

// Measured on pydantic 2.13.5, lax mode: the texts of which an int field makes an integer, and those it refuses.
const taken: [number, string[]][] = [
  [-1, ['-1', '-1.0']],
  [0, ['-0', '+0', '0.0']],
  [1, ['1', '1.0', '+1', ' 1 ', '\u00a01', '0_1', '1\n', '\u30001', '1\u0085', '+1.000', '1\u2028']],
  [10, ['1_0', '1_0.0', '+1_0']],
  [12, ['00012']],
  [-7, ['\t-7\r\n']],
]
const refused = [
  ...'++1 +-1 -+1 - + -_1 1__0 _1 1_ 1.0_0 .0 . 1. 1.5 1e3 0x1 1,0 NaN Infinity'.split(' '),
  ...['', '- 1', '+ 1', '1 2', '\ufeff1', '\u0663', '\uff11', '1\0', '\u001c1', '\u200b1'],
]

describe('an integer field', () => {
  test.each(taken.flatMap(([value, texts]) => texts.map((text) => [text, value] as const)))(
    'makes of %j %i',
    (text, value) => expect(unbounded.parse(text)).toBe(value),
  )

  test.each(refused)('refuses %j', (text) => {
    expect(unbounded.safeParse(text).success).toBe(false)
  })

  test('takes whole numbers and booleans of JSON, and nothing else of it', () => {
    expect([true, false, 1.0].map((value) => unbounded.parse(value))).toEqual([1, 0, 1])
    for (const odd of [1.5, null, [], {}, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect([odd, unbounded.safeParse(odd).success]).toEqual([odd, false])
  })

  test('takes a text that no number holds as an integer beyond its bounds', () => {
    for (const text of ['9'.repeat(308), '9'.repeat(309), `-${'9'.repeat(4_299)}`])
      expect(unbounded.safeParse(text).error?.issues[0]?.code).toBe(text[0] === '-' ? 'too_small' : 'too_big')
  })
})

test('names in one text count once', () => {
  expect(namesOf(['a', 'b'], '').parse('b, a,b,b')).toEqual(['b', 'a'])
})

test('an id in a path may be written with its type; what no row can have is no row, never a neighbour', () => {
  const id = idInPath('post')
  expect(['12', 'post_12', '+12', '9007199254740991'].map((text) => id.parse(text))).toEqual([
    12,
    12,
    12,
    Number.MAX_SAFE_INTEGER,
  ])
  for (const text of ['post_', 'media_12', 'twelve', '', '1.5', 'post_post_1', '12_post'])
    expect([text, id.safeParse(text).success]).toEqual([text, false])
  for (const text of ['0', '-1', '9007199254740992', '9007199254740993', '9223372036854775808', '9'.repeat(400)])
    expect([text, id.parse(text)]).toEqual([text, 0])
  // MCP has the arguments of a path as JSON.
  expect([12, -1, 2 ** 53].map((value) => id.parse(value))).toEqual([12, 0, 0])
  for (const value of [1.5, -1.5, null]) expect([value, id.safeParse(value).success]).toEqual([value, false])
})

test.each([idInBody('post'), idOrNull('post', '')])(
  'an id in a body that JSON can’t carry exactly is no row either, and a fraction is none',
  (id) => {
    expect([12, 'post_12', -1, Number.MAX_SAFE_INTEGER].map((value) => id.parse(value))).toEqual([
      12,
      12,
      -1,
      Number.MAX_SAFE_INTEGER,
    ])
    for (const value of [2 ** 53, -(2 ** 53), 1e20, '9007199254740993', `post_${'9'.repeat(400)}`])
      expect([value, id.parse(value)]).toEqual([value, 0])
    for (const value of [1.5, '1.5', 1e21, Number.POSITIVE_INFINITY, 'media_12', [], {}])
      expect([value, id.safeParse(value).success]).toEqual([value, false])
  },
)
