/**
 * Validation errors of a 422, in the contract's shape (Pydantic v2's). Each error type has one builder of the same name, so
 * each text is defined once. Members are built in the order `type, loc, msg, input, ctx`.
 */

import { errorInputBytesMax } from '../limits/api-limits.ts'

export type Loc = readonly (string | number)[]

export interface ValidationError {
  readonly type: string
  readonly loc: Loc
  readonly msg: string
  readonly input?: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}

type Ctx = Record<string, unknown>

function error(type: string, loc: Loc, msg: string, input: unknown, ctx?: Ctx): ValidationError {
  return ctx === undefined ? { type, loc, msg, input } : { type, loc, msg, input, ctx }
}

/** The errors with bounded inputs, so that no answer is much longer than its request. */
export function boundedErrors(errors: readonly ValidationError[]): ValidationError[] {
  return errors.map(({ type, loc, msg, input: sent, ...rest }) => {
    const input = boundedInput(sent)
    const place = loc.map((step) => (typeof step === 'string' ? cutText(step) : step))
    return { type, loc: place, msg, ...(input !== undefined && { input }), ...rest }
  })
}

/** Long texts are cut; long objects and lists, and those with a lone surrogate, which no JSON reader has to take, are left out. */
function boundedInput(sent: unknown): unknown {
  if (typeof sent === 'string') return cutText(sent)
  // JSON would show a literal like `1e400` as null.
  if (typeof sent === 'number' && !Number.isFinite(sent)) return String(sent)
  return spareBytes(sent, errorInputBytesMax) < 0 ? undefined : sent
}

/** Lone surrogates can't be written as UTF-8, and are shown as U+FFFD. */
function cutText(text: string): string {
  if (Buffer.byteLength(text) <= errorInputBytesMax) return text.toWellFormed()
  return new TextDecoder().decode(Buffer.from(text).subarray(0, errorInputBytesMax), { stream: true })
}

/** `bytes` minus the approximate length of the value's JSON; negative where it is too long, or a text isn't well-formed. */
function spareBytes(value: unknown, bytes: number): number {
  if (typeof value === 'string') return value.isWellFormed() ? bytes - Buffer.byteLength(value) - 3 : -1
  if (typeof value !== 'object' || value === null) return bytes - 8
  let spare = bytes - 2
  for (const key in value) {
    if (!Array.isArray(value)) spare = spareBytes(key, spare)
    if (spare >= 0) spare = spareBytes((value as Record<string, unknown>)[key], spare)
    if (spare < 0) break
  }
  return spare
}

/** `input` is the parent object for a field of a JSON body, null for a query, header or form field and for a whole body. */
export function missing(loc: Loc, input: unknown): ValidationError {
  return error('missing', loc, 'Field required', input)
}

/** A whole body that is empty or JSON `null`. */
export function missingBody(): ValidationError {
  return missing(['body'], null)
}

// Strings. Lengths are code points.

export function stringType(loc: Loc, input: unknown): ValidationError {
  return error('string_type', loc, 'Input should be a valid string', input)
}

export function stringTooShort(loc: Loc, input: unknown, min: number): ValidationError {
  const msg = `String should have at least ${counted(min, 'character')}`
  return error('string_too_short', loc, msg, input, { min_length: min })
}

export function stringTooLong(loc: Loc, input: unknown, max: number): ValidationError {
  const msg = `String should have at most ${counted(max, 'character')}`
  return error('string_too_long', loc, msg, input, { max_length: max })
}

export function stringPatternMismatch(loc: Loc, input: unknown, pattern: string): ValidationError {
  return error('string_pattern_mismatch', loc, `String should match pattern '${pattern}'`, input, { pattern })
}

/** A lone surrogate, which the input is shown without. */
export function stringUnicode(loc: Loc, input: unknown): ValidationError {
  const shown = typeof input === 'string' ? input.toWellFormed() : input
  const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
  return error('string_unicode', loc, msg, shown)
}

// Numbers.

export function intType(loc: Loc, input: unknown): ValidationError {
  return error('int_type', loc, 'Input should be a valid integer', input)
}

export function intParsing(loc: Loc, input: unknown): ValidationError {
  return error('int_parsing', loc, 'Input should be a valid integer, unable to parse string as an integer', input)
}

export function intFromFloat(loc: Loc, input: unknown): ValidationError {
  return error('int_from_float', loc, 'Input should be a valid integer, got a number with a fractional part', input)
}

export function intParsingSize(loc: Loc, input: unknown): ValidationError {
  const msg = 'Unable to parse input string as an integer, exceeded maximum size'
  return error('int_parsing_size', loc, msg, input)
}

export function floatType(loc: Loc, input: unknown): ValidationError {
  return error('float_type', loc, 'Input should be a valid number', input)
}

export function floatParsing(loc: Loc, input: unknown): ValidationError {
  return error('float_parsing', loc, 'Input should be a valid number, unable to parse string as a number', input)
}

/** A literal like `1e400`, which is no number that can be held. */
export function finiteNumber(loc: Loc, input: unknown): ValidationError {
  return error('finite_number', loc, 'Input should be a finite number', String(input))
}

export function greaterThanEqual(loc: Loc, input: unknown, min: number): ValidationError {
  return error('greater_than_equal', loc, `Input should be greater than or equal to ${min}`, input, { ge: min })
}

export function greaterThan(loc: Loc, input: unknown, min: number): ValidationError {
  return error('greater_than', loc, `Input should be greater than ${min}`, input, { gt: min })
}

export function lessThanEqual(loc: Loc, input: unknown, max: number): ValidationError {
  return error('less_than_equal', loc, `Input should be less than or equal to ${max}`, input, { le: max })
}

export function lessThan(loc: Loc, input: unknown, max: number): ValidationError {
  return error('less_than', loc, `Input should be less than ${max}`, input, { lt: max })
}

export function multipleOf(loc: Loc, input: unknown, step: number): ValidationError {
  return error('multiple_of', loc, `Input should be a multiple of ${step}`, input, { multiple_of: step })
}

// Booleans, lists, dictionaries, objects.

export function boolType(loc: Loc, input: unknown): ValidationError {
  return error('bool_type', loc, 'Input should be a valid boolean', input)
}

export function boolParsing(loc: Loc, input: unknown): ValidationError {
  return error('bool_parsing', loc, 'Input should be a valid boolean, unable to interpret input', input)
}

export function listType(loc: Loc, input: unknown): ValidationError {
  return error('list_type', loc, 'Input should be a valid list', input)
}

export function tooShort(loc: Loc, input: unknown, min: number, actual: number): ValidationError {
  const msg = `List should have at least ${counted(min, 'item')} after validation, not ${actual}`
  return error('too_short', loc, msg, input, { field_type: 'List', min_length: min, actual_length: actual })
}

export function tooLong(loc: Loc, input: unknown, max: number, actual: number): ValidationError {
  const msg = `List should have at most ${counted(max, 'item')} after validation, not ${actual}`
  return error('too_long', loc, msg, input, { field_type: 'List', max_length: max, actual_length: actual })
}

/** A free dictionary with too many keys. */
export function dictTooLong(loc: Loc, input: unknown, max: number, actual: number): ValidationError {
  const msg = `Dictionary should have at most ${counted(max, 'item')} after validation, not ${actual}`
  return error('too_long', loc, msg, input, { field_type: 'Dictionary', max_length: max, actual_length: actual })
}

/** The schema expects a free dictionary. */
export function dictType(loc: Loc, input: unknown): ValidationError {
  return error('dict_type', loc, 'Input should be a valid dictionary', input)
}

/** The schema expects an object with fields. Also for a whole body that is a list, a string or a number. */
export function modelAttributesType(loc: Loc, input: unknown): ValidationError {
  const msg = 'Input should be a valid dictionary or object to extract fields from'
  return error('model_attributes_type', loc, msg, input)
}

/** One error per key that isn't allowed: `loc` ends in the key, `input` is its value. */
export function extraForbidden(loc: Loc, input: unknown): ValidationError {
  return error('extra_forbidden', loc, 'Extra inputs are not permitted', input)
}

// Closed sets of values.

export function enumError(loc: Loc, input: unknown, values: readonly unknown[]): ValidationError {
  const expected = alternatives(values)
  return error('enum', loc, `Input should be ${expected}`, input, { expected })
}

export function literalError(loc: Loc, input: unknown, values: readonly unknown[]): ValidationError {
  const expected = alternatives(values)
  return error('literal_error', loc, `Input should be ${expected}`, input, { expected })
}

// Date-times. `problem` is Pydantic's reason, such as `input is too short`.

export function datetimeType(loc: Loc, input: unknown): ValidationError {
  return error('datetime_type', loc, 'Input should be a valid datetime', input)
}

export function datetimeFromDateParsing(loc: Loc, input: unknown, problem: string): ValidationError {
  const msg = `Input should be a valid datetime or date, ${problem}`
  return error('datetime_from_date_parsing', loc, msg, input, { error: problem })
}

export function datetimeParsing(loc: Loc, input: unknown, problem: string): ValidationError {
  return error('datetime_parsing', loc, `Input should be a valid datetime, ${problem}`, input, { error: problem })
}

/** A check of our own, which Pydantic would raise as `ValueError(text)`. */
export function valueError(loc: Loc, input: unknown, text: string): ValidationError {
  return error('value_error', loc, `Value error, ${text}`, input, { error: {} })
}

/** The same with a `ctx` for programs. */
export function codedValueError(loc: Loc, input: unknown, text: string, ctx: Ctx): ValidationError {
  return error('value_error', loc, `Value error, ${text}`, input, { error: {}, ...ctx })
}

/** NUL in a string: PostgreSQL can't hold it, and no text needs it. */
export function nulCharacter(loc: Loc, input: unknown): ValidationError {
  return valueError(loc, input, 'NUL characters are not allowed')
}

/** Malformed JSON: reported alone. `position` counts characters (code points) of the body. */
export function jsonInvalid(position: number, problem: string): ValidationError {
  return error('json_invalid', ['body', position], 'JSON decode error', {}, { error: problem })
}

/** `1 character`, `2 characters`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `'a'`, `'a' or 'b'`, `'a', 'b' or 'c'`; numbers stand without quotes. */
function alternatives(values: readonly unknown[]): string {
  const shown = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`
}
