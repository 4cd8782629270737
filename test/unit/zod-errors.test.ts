import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as errors from '../../schemas/errors/validation-errors.ts'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { laxInt } from '../../schemas/lax.ts'
import { validationErrorsMax } from '../../schemas/limits/api-limits.ts'
import { writtenTime } from '../../schemas/time/written-time.ts'

/** The error of a schema of one field `f` for a value there. */
function errorOf(schema: z.ZodType, value: unknown) {
  const parsed = parsePart('body', z.object({ f: schema }), { f: value })
  return parsed.ok ? 'accepted' : parsed.errors
}

/** As it goes out: the order of members counts. */
const text = (value: unknown) => JSON.stringify(value)

const integer = z.int()
const bounded = laxInt({ ge: 1, le: 365 })

const list = z.array(z.string())
const noNumber = 'Input should be a valid integer, unable to parse string as an integer'
const noSize = 'Unable to parse input string as an integer, exceeded maximum size'
const noBoolean = 'Input should be a valid boolean, unable to interpret input'
const pattern = z.string().regex(/^a\/b$/i)
const noItems = { field_type: 'List', min_length: 1, actual_length: 0 }
const manyItems = { field_type: 'List', max_length: 2, actual_length: 3 }

/** The table of the contract: of a schema, for each of the values, type, text and context. */
const rows: [z.ZodType, unknown[], string, string, object?][] = [
  [z.union([z.string().min(1), z.object({ a: z.int() })]), [null, 1], 'string_type', 'Input should be a valid string'],
  [z.string(), [null, 1, true], 'string_type', 'Input should be a valid string'],
  [z.string().min(1), [''], 'string_too_short', 'String should have at least 1 character', { min_length: 1 }],
  [z.string().min(8), ['short'], 'string_too_short', 'String should have at least 8 characters', { min_length: 8 }],
  [z.string().max(3), ['long'], 'string_too_long', 'String should have at most 3 characters', { max_length: 3 }],
  [pattern, ['x'], 'string_pattern_mismatch', "String should match pattern '^a\\/b$'", { pattern: '^a\\/b$' }],
  [bounded, ['x', '', '1.5', '0x1', '1_', '１', '1e3'], 'int_parsing', noNumber],
  [bounded, [1.5], 'int_from_float', 'Input should be a valid integer, got a number with a fractional part'],
  [bounded, [null, [], {}], 'int_type', 'Input should be a valid integer'],
  [integer, ['1', ' 1.0 ', '1_000', true], 'int_type', 'Input should be a valid integer'],
  [bounded, [1e300, -1e300, '9'.repeat(4301)], 'int_parsing_size', noSize],
  [bounded, [0], 'greater_than_equal', 'Input should be greater than or equal to 1', { ge: 1 }],
  [integer.gt(0), [0], 'greater_than', 'Input should be greater than 0', { gt: 0 }],
  [bounded, [366], 'less_than_equal', 'Input should be less than or equal to 365', { le: 365 }],
  [integer.lt(5), [5], 'less_than', 'Input should be less than 5', { lt: 5 }],
  [integer.multipleOf(5), [3], 'multiple_of', 'Input should be a multiple of 5', { multiple_of: 5 }],
  [z.number(), ['x'], 'float_parsing', 'Input should be a valid number, unable to parse string as a number'],
  [z.number(), [null, [], {}], 'float_type', 'Input should be a valid number'],
  [z.boolean(), ['x', '', 2], 'bool_parsing', noBoolean],
  [z.boolean(), [[], {}, 0.5], 'bool_type', 'Input should be a valid boolean'],
  [list, [null], 'list_type', 'Input should be a valid list'],
  [list.min(1), [[]], 'too_short', 'List should have at least 1 item after validation, not 0', noItems],
  [list.max(2), [['a', 'b', 'c']], 'too_long', 'List should have at most 2 items after validation, not 3', manyItems],
  [z.record(z.string(), z.string()), [[]], 'dict_type', 'Input should be a valid dictionary'],
  [z.object({}), ['x'], 'model_attributes_type', 'Input should be a valid dictionary or object to extract fields from'],
  [z.enum(['a', 'b', 'c']), ['x'], 'enum', "Input should be 'a', 'b' or 'c'", { expected: "'a', 'b' or 'c'" }],
  [z.literal('only'), ['x'], 'literal_error', "Input should be 'only'", { expected: "'only'" }],
  [z.literal(['a', 'b']), [1], 'literal_error', "Input should be 'a' or 'b'", { expected: "'a' or 'b'" }],
  [z.string().refine(() => false, 'no such thing'), ['x'], 'value_error', 'Value error, no such thing', { error: {} }],
  [writtenTime, [[], true], 'datetime_type', 'Input should be a valid datetime'],
]

const cells = rows.flatMap(([schema, inputs, type, msg, ctx]) =>
  inputs.map((input) => ({ input, schema, type, msg, ctx })),
)
test.each(cells)('every row of the error table, exactly: $type of $input', ({ input, schema, type, msg, ctx }) => {
  const expected = { type, loc: ['body', 'f'], msg, input, ...(ctx && { ctx }) }
  expect(text(errorOf(schema, input))).toBe(text([expected]))
})

const errorsOf = (part: 'body' | 'query', schema: z.ZodType, sent: unknown) => {
  const parsed = parsePart(part, schema, sent)
  return parsed.ok ? [] : parsed.errors
}

describe('missing', () => {
  const schema = z.object({ a: z.string(), b: z.object({ c: z.int() }) })

  test('has the parent object as sent as its input, in a body', () => {
    const body = { b: { x: 1 } }
    expect(errorsOf('body', schema, body)).toEqual([
      { type: 'missing', loc: ['body', 'a'], msg: 'Field required', input: body },
      { type: 'missing', loc: ['body', 'b', 'c'], msg: 'Field required', input: { x: 1 } },
    ])
  })

  test('has null as its input in a query, and for a whole body that is empty or null; a body of another kind has none', () => {
    const query = z.object({ q: z.string(), e: z.enum(['a']) })
    const missing = ['q', 'e'].map((name) => ({ type: 'missing', loc: ['query', name], input: null }))
    expect(errorsOf('query', query, {})).toMatchObject(missing)
    for (const nothing of [undefined, null]) expect(errorsOf('body', schema, nothing)).toEqual([errors.missingBody()])
    for (const whole of ['a text', [1], 7])
      expect(errorsOf('body', schema, whole)).toEqual([errors.modelAttributesType(['body'], whole)])
  })
})

describe('order', () => {
  const schema = z.strictObject({
    b: z.string(),
    a: z.int(),
    list: z.array(z.string().min(2)).min(2).max(3).optional(),
  })
  const typesAt = (body: unknown) =>
    errorsOf('body', schema, body).map(({ type, loc }) => `${loc.slice(1).join('.')} ${type}`)

  test('is that of the declaration, not of the input, with unknown keys at the end in theirs', () => {
    const expected = ['b string_type', 'a int_parsing', 'z extra_forbidden', 'y extra_forbidden']
    expect(typesAt({ z: 1, a: 'x', y: 2, b: 1 })).toEqual(expected)
  })

  test('an unknown key shows its value, whatever it is called', () => {
    const body = JSON.parse('{"a":1,"b":"","__proto__":{"x":1},"toString":2,"constructor":3}')
    const unknown: [string, unknown][] = [['__proto__', { x: 1 }], ...Object.entries({ toString: 2, constructor: 3 })]
    const expected = unknown.map(([name, value]) => errors.extraForbidden(['body', name], value))
    expect(errorsOf('body', schema, body)).toEqual(expected)
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test('one error a value: its type before its bounds, the first bound only', () => {
    expect(errorOf(z.string().min(3).regex(/^a/), 'b')).toMatchObject([{ type: 'string_too_short' }])
    expect(errorOf(z.number().min(10).pipe(z.int()), 1.5)).toHaveLength(1)
    expect(errorOf(z.number().min(10).int(), 1.5)).toMatchObject([{ type: 'int_from_float' }])
    expect(errorOf(z.int().min(1).multipleOf(5), -3)).toMatchObject([{ type: 'multiple_of' }])
  })

  test('of a list: too long alone, its items before too short, each at its place', () => {
    const typesIn = (...list: string[]) => typesAt({ a: 1, b: '', list })
    expect([typesIn('x', 'y', 'z', 'w'), typesIn('x'), typesIn('xx')].flat()).toEqual([
      'list too_long',
      'list.0 string_too_short',
      'list too_short',
    ])
    const eleven = { l: Array.from({ length: 11 }, () => 'x') }
    const places = errorsOf('body', z.object({ l: z.array(z.int()) }), eleven).map(({ loc }) => loc[2])
    expect(places).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })
})

test('of a body with more faults the first thousand are listed', () => {
  const keys = Array.from({ length: validationErrorsMax + 1 }, (_, at) => `k${at}`)
  const told = errorsOf('body', z.strictObject({}), Object.fromEntries(keys.map((key) => [key, 1])))
  expect(told.map(({ loc }) => loc[1])).toEqual(keys.slice(0, validationErrorsMax))
})

test('lengths count code points: 180 emoji fit in 180, 181 do not', () => {
  const title = z.string().min(1).max(180)
  expect(errorOf(title, '😀'.repeat(180))).toBe('accepted')
  expect(errorOf(title, '😀'.repeat(181))).toMatchObject([{ type: 'string_too_long', ctx: { max_length: 180 } }])
  expect(errorOf(z.string().min(2), '😀')).toMatchObject([{ type: 'string_too_short' }])
})
