/**
 * Zod schemas with the rules of Pydantic's lax mode, which the contract has for query, path and JSON bodies. They convert a
 * value that may be converted, and leave any other as it is. The schema behind them then refuses it, and `zod-errors.ts`
 * makes the error from the raw value. Held by test/unit/lax.test.ts.
 */
import { z } from 'zod'
import { enumError } from './errors/validation-errors.ts'
import type { Build } from './errors/zod-errors.ts'

// Pydantic takes Unicode's White_Space off both ends, of which U+FEFF is none.
const space = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*'
const integerText = new RegExp(`^${space}([+-]?\\d+(?:_\\d+)*)(?:\\.0+)?${space}$`)
/** Longer texts aren't read as integers by Python either: reading them takes quadratic time. */
export const integerLengthMax = 4300

/** The integer that a text or a boolean means, else `value` as it was. */
function toInteger(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value !== 'string' || value.length > integerLengthMax) return value
  const match = integerText.exec(value)
  if (!match) return value
  const integer = Number(match[1]!.replaceAll('_', ''))
  // It stays an integer, so that the error names the bound it breaks. Adding 0 turns -0 into 0.
  return Math.min(Math.max(integer, -Number.MAX_VALUE), Number.MAX_VALUE) + 0
}

/** Whether a text means an integer. A field that takes no texts then reports the type alone. */
export function isIntegerText(text: string): boolean {
  return typeof toInteger(text) === 'number'
}

/**
 * Whether a number is too large for an integer. From 10^21 on Python reads it as a float, which no 64-bit integer
 * equals.
 */
export function isHuge(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) >= 1e21
}

export interface IntBounds {
  /** The least and the greatest that is taken. */
  readonly ge: number
  readonly le: number
  readonly description?: string
}

/** An integer that may be left out. */
export function laxInt(bounds: IntBounds) {
  return z.preprocess(toInteger, boundedInt(bounds).optional())
}

/** An integer that has to be there. */
export function laxIntRequired(bounds: IntBounds) {
  return z.preprocess(toInteger, boundedInt(bounds))
}

/** An integer that is `fallback` when left out. */
export function laxIntOr(fallback: number, bounds: IntBounds) {
  return z.preprocess(toInteger, boundedInt(bounds).default(fallback))
}

/** Some of a closed set of names, which a query has in one text with commas; may be left out. */
export function namesOf<const Name extends string>(known: readonly Name[], description: string) {
  return z.preprocess(
    (value, context) => {
      if (typeof value !== 'string') return value
      const names = value.split(',').map((name) => name.trim())
      const unknown = names.find((name) => !(known as readonly string[]).includes(name))
      // Without repeats: the bound of the list would speak of a list, where a text was sent.
      if (unknown === undefined) return [...new Set(names)]
      // By its text: the place of a name in a list is no place in what was sent.
      const build: Build = (loc) => enumError(loc, unknown, known)
      context.addIssue({ code: 'custom', params: { build } })
      return z.NEVER
    },
    z.array(z.enum(known)).min(1).max(known.length).optional().meta({ description }),
  )
}

const repeatedSchemas = new WeakSet<object>()

/** Marks a list that a query has as a repeated parameter. */
export function repeated<Schema extends z.ZodType>(list: Schema): Schema {
  repeatedSchemas.add(list)
  return list
}

/** Whether all values of a repeated parameter count; for other parameters the last one does. */
export function isRepeated(schema: z.ZodType | undefined): boolean {
  return schema !== undefined && repeatedSchemas.has(schema)
}

const idSchemas = new WeakSet<object>()

/** Marks an integer that an object id may stand for. */
function id<Schema extends z.ZodType>(integer: Schema): Schema {
  idSchemas.add(integer)
  return integer
}

/** Whether an object id may stand for the integer. */
export function isId(schema: object): boolean {
  return idSchemas.has(schema)
}

/**
 * The id of a `type` in a body: `12`, or its object id `post_12`. An integer beyond what JSON carries exactly is 0, which
 * no row has: the answer is then that of any id that doesn't exist.
 */
export function idInBody(type: string) {
  return z.preprocess((value) => idThatMayBe(type, value), id(z.int()))
}

/** The same where the body need not name one: null, or left out, is none. */
export function idOrNull(type: string, description: string) {
  const schema = id(z.int()).nullable().default(null).meta({ description })
  return z.preprocess((value) => idThatMayBe(type, value), schema)
}

/** An id in a query, which may be left out. One that no row can have is refused. */
export function idInQuery(type: string, description: string) {
  const schema = id(boundedInt({ ge: 1, le: Number.MAX_SAFE_INTEGER, description }))
  return z.preprocess((value) => toInteger(bareId(type, value)), schema.optional())
}

function boundedInt({ ge, le, description }: IntBounds) {
  const schema = z.int().min(ge).max(le)
  return description === undefined ? schema : schema.meta({ description })
}

export const eitherId = 'Its `id` or `object_id`.'

/** The id of a `type` in a path. Negative integers are 0, too: a store may take none. */
export function idInPath(type: string) {
  const schema = id(z.int().meta({ description: eitherId }))
  return z.preprocess((value) => naturalId(type, value), schema)
}

/** The same in a query that looks something up by it, or by something else. */
export function idToLookUp(type: string, description: string) {
  return z.preprocess((value) => naturalId(type, value), id(z.int().meta({ description })).optional())
}

function naturalId(type: string, value: unknown): unknown {
  const id = idThatMayBe(type, value)
  return Number.isInteger(id) && (id as number) <= 0 ? 0 : id
}

function idThatMayBe(type: string, value: unknown): unknown {
  const id = toInteger(bareId(type, value))
  return typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER && !isHuge(value) ? 0 : id
}

/** The text behind `type_` in an object id; any other value as it is. */
function bareId(type: string, value: unknown): unknown {
  const prefix = `${type}_`
  return typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : value
}
