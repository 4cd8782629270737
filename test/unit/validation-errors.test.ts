import { expect, test } from 'vitest'
import * as errors from '../../schemas/validation-errors.ts'

const loc = ['body', 'f']
const at = (type: string, msg: string, input: unknown, ctx?: object) =>
  ctx === undefined ? { type, loc, msg, input } : { type, loc, msg, input, ctx }

/** One row of the contract's error table each: type, text, ctx. */
test.each([
  [errors.missing(loc, {}), at('missing', 'Field required', {})],
  [errors.stringType(loc, 1), at('string_type', 'Input should be a valid string', 1)],
  [
    errors.stringTooShort(loc, '', 1),
    at('string_too_short', 'String should have at least 1 character', '', { min_length: 1 }),
  ],
  [
    errors.stringTooShort(loc, 'a', 8),
    at('string_too_short', 'String should have at least 8 characters', 'a', { min_length: 8 }),
  ],
  [
    errors.stringTooLong(loc, 'abc', 2),
    at('string_too_long', 'String should have at most 2 characters', 'abc', { max_length: 2 }),
  ],
  [
    errors.stringPatternMismatch(loc, 'x', '^a$'),
    at('string_pattern_mismatch', "String should match pattern '^a$'", 'x', { pattern: '^a$' }),
  ],
  [
    errors.intParsing(loc, 'x'),
    at('int_parsing', 'Input should be a valid integer, unable to parse string as an integer', 'x'),
  ],
  [
    errors.intFromFloat(loc, 1.5),
    at('int_from_float', 'Input should be a valid integer, got a number with a fractional part', 1.5),
  ],
  [errors.intType(loc, null), at('int_type', 'Input should be a valid integer', null)],
  [
    errors.intParsingSize(loc, 1e300),
    at('int_parsing_size', 'Unable to parse input string as an integer, exceeded maximum size', 1e300),
  ],
  [
    errors.greaterThanEqual(loc, 0, 1),
    at('greater_than_equal', 'Input should be greater than or equal to 1', 0, { ge: 1 }),
  ],
  [errors.greaterThan(loc, 0, 0), at('greater_than', 'Input should be greater than 0', 0, { gt: 0 })],
  [
    errors.lessThanEqual(loc, 201, 200),
    at('less_than_equal', 'Input should be less than or equal to 200', 201, { le: 200 }),
  ],
  [errors.lessThan(loc, 5, 5), at('less_than', 'Input should be less than 5', 5, { lt: 5 })],
  [errors.multipleOf(loc, 3, 2), at('multiple_of', 'Input should be a multiple of 2', 3, { multiple_of: 2 })],
  [
    errors.floatParsing(loc, 'x'),
    at('float_parsing', 'Input should be a valid number, unable to parse string as a number', 'x'),
  ],
  [errors.floatType(loc, []), at('float_type', 'Input should be a valid number', [])],
  [errors.boolParsing(loc, 2), at('bool_parsing', 'Input should be a valid boolean, unable to interpret input', 2)],
  [errors.boolType(loc, 0.5), at('bool_type', 'Input should be a valid boolean', 0.5)],
  [errors.listType(loc, {}), at('list_type', 'Input should be a valid list', {})],
  [
    errors.tooShort(loc, [], 1, 0),
    at('too_short', 'List should have at least 1 item after validation, not 0', [], {
      field_type: 'List',
      min_length: 1,
      actual_length: 0,
    }),
  ],
  [
    errors.tooLong(loc, [1, 2, 3], 2, 3),
    at('too_long', 'List should have at most 2 items after validation, not 3', [1, 2, 3], {
      field_type: 'List',
      max_length: 2,
      actual_length: 3,
    }),
  ],
  [errors.dictType(loc, []), at('dict_type', 'Input should be a valid dictionary', [])],
  [
    errors.modelAttributesType(loc, 'x'),
    at('model_attributes_type', 'Input should be a valid dictionary or object to extract fields from', 'x'),
  ],
  [errors.extraForbidden(loc, 1), at('extra_forbidden', 'Extra inputs are not permitted', 1)],
  [
    errors.enumError(loc, 'x', ['a', 'b', 'c']),
    at('enum', "Input should be 'a', 'b' or 'c'", 'x', { expected: "'a', 'b' or 'c'" }),
  ],
  [
    errors.literalError(loc, 'x', ['a', 'b']),
    at('literal_error', "Input should be 'a' or 'b'", 'x', { expected: "'a' or 'b'" }),
  ],
  [errors.literalError(loc, 'x', ['only']), at('literal_error', "Input should be 'only'", 'x', { expected: "'only'" })],
  [errors.datetimeType(loc, []), at('datetime_type', 'Input should be a valid datetime', [])],
  [
    errors.datetimeFromDateParsing(loc, 'x', 'input is too short'),
    at('datetime_from_date_parsing', 'Input should be a valid datetime or date, input is too short', 'x', {
      error: 'input is too short',
    }),
  ],
  [
    errors.datetimeParsing(loc, 'x', 'year 0 is out of range'),
    at('datetime_parsing', 'Input should be a valid datetime, year 0 is out of range', 'x', {
      error: 'year 0 is out of range',
    }),
  ],
  [errors.valueError(loc, 1, 'T'), at('value_error', 'Value error, T', 1, { error: {} })],
  [
    errors.stringUnicode(loc, 'a'),
    at('string_unicode', 'Input should be a valid string, unable to parse raw data as a unicode string', 'a'),
  ],
])('has the type, text and members of the contract: $type', (built, expected) => {
  expect(built).toEqual(expected)
  expect(Object.keys(built)).toEqual(Object.keys(expected))
})

test('malformed JSON and a missing body have a place and an input of their own', () => {
  expect(errors.jsonInvalid(5, 'Expecting value')).toEqual({
    type: 'json_invalid',
    loc: ['body', 5],
    msg: 'JSON decode error',
    input: {},
    ctx: { error: 'Expecting value' },
  })
  expect(errors.missingBody()).toEqual({ type: 'missing', loc: ['body'], msg: 'Field required', input: null })
})
