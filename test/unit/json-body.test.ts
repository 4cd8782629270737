import { describe, expect, test } from 'vitest'
import { parseJsonBody } from '../../schemas/json-body.ts'
import { findUnstorableText } from '../../schemas/json-text.ts'

const parse = (text: string) => parseJsonBody(Buffer.from(text))
const taken = (value: unknown) => ({ ok: true, value, hasUnstorableText: false })
const unreadable = { ok: false, status: 400, detail: 'There was an error parsing the body' }

test.each<[string, string | number[]]>([
  ['a byte of no text', [0xff]],
  ['a cut character', [0x22, 0xc3, 0x22]],
  ['a surrogate in bytes', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a character too long', [0xc0, 0x80]],
  ['401 digits', '1'.repeat(401)],
  ['5,000 digits', `{"a":${'9'.repeat(5000)}}`],
  ['digits on both sides of a point', `[1.${'1'.repeat(400)}]`],
  ['digits behind a long text', `["${'x'.repeat(700)}",${'1'.repeat(401)}]`],
])('a body with %s is answered 400', (_, sent) => {
  expect(parseJsonBody(typeof sent === 'string' ? Buffer.from(sent) : Buffer.from(sent))).toEqual(unreadable)
})

test('any number of brackets and digits may stand in its strings', () => {
  const text = JSON.stringify({ brackets: '[{'.repeat(100), digits: '7'.repeat(2000), quoted: '"[['.repeat(70) })
  expect(parse(text)).toEqual(taken(JSON.parse(text)))
})

describe('malformed JSON is told of with the text and position of Python', () => {
  test.each([
    ['{"a":', 5, 'Expecting value'],
    ['nope', 0, 'Expecting value'],
    ['{"a":}', 5, 'Expecting value'],
    ['  ', 2, 'Expecting value'],
    ['[1,]', 3, 'Expecting value'],
    ['{"f":NaN}', 5, 'Expecting value'],
    ['{"f":-Infinity}', 5, 'Expecting value'],
    ["{'a':1}", 1, 'Expecting property name enclosed in double quotes'],
    ['{"a":1,}', 7, 'Expecting property name enclosed in double quotes'],
    ['{', 1, 'Expecting property name enclosed in double quotes'],
    ['{} {}', 3, 'Extra data'],
    ['01', 1, 'Extra data'],
    ['"a\nb"', 2, 'Invalid control character at'],
    ['["x', 1, 'Unterminated string starting at'],
    ['"\\x"', 1, 'Invalid \\escape'],
    ['"\\u12"', 2, 'Invalid \\uXXXX escape'],
    ['{"a" 1}', 5, "Expecting ':' delimiter"],
    ['[1 2]', 3, "Expecting ',' delimiter"],
    ['["😀", nope]', 6, 'Expecting value'],
  ])('%j', (text, at, problem) => {
    const error = {
      type: 'json_invalid',
      loc: ['body', at],
      msg: 'JSON decode error',
      input: {},
      ctx: { error: problem },
    }
    expect(parse(text)).toEqual({ ok: false, status: 422, detail: [error] })
  })
})

describe('texts that can not be stored are told of where they stand', () => {
  /** Findings in the JSON, which is taken all the same. */
  function find(text: string) {
    const body = parse(text)
    if (!body.ok) throw new Error('the body was refused')
    const found = findUnstorableText(['body'], body.value)
    expect(body.hasUnstorableText).toBe(found.length > 0)
    return found
  }

  test.each(['\\ud800', '\\uDfff'])('a lone surrogate: %s', (lone) => {
    const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
    const detail = [{ type: 'string_unicode', loc: ['body', 'a', 1, 'b'], msg, input: 'x\ufffd' }]
    expect(find(`{"a":[1,{"b":"x${lone}"}]}`)).toEqual(detail)
  })

  test('NUL, in values and in keys', () => {
    const msg = 'Value error, NUL characters are not allowed'
    const at = (loc: string[], input: string) => ({ type: 'value_error', loc, msg, input, ctx: { error: {} } })
    expect(find('{"a\\u0000":1,"b":"\\u0000"}')).toEqual([at(['body', 'a\0'], 'a\0'), at(['body', 'b'], '\0')])
  })

  test('with an answer that stays small however many there are', () => {
    expect(find(`[${Array(50_000).fill('"\\u0000"').join()}]`)).toHaveLength(20)
  })

  test('and none is found in pairs and in escaped backslashes', () => {
    expect(find('["\\ud83d\\ude00","\\\\u0000"]')).toEqual([])
  })
})
