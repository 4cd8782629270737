/**
 * Zod schemas that read as Pydantic's lax mode does, which the contract's query and path parameters and JSON bodies are
 * read by. They only turn into the wanted type what may be turned; what stays as it was fails the schema behind, and
 * `zod-errors.ts` finds from the raw value what to say. Held by test/unit/lax.test.ts.
 */
import { z } from 'zod'

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
  // Adding 0 makes 0 of -0.
  return match ? Number(match[1]!.replaceAll('_', '')) + 0 : value
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

/** An integer that is `fallback` when left out. */
export function laxIntOr(fallback: number, bounds: IntBounds) {
  return z.preprocess(toInteger, boundedInt(bounds).default(fallback))
}

/** The `id` of something that a body may name: null, or left out, is none. */
export function laxIdOrNull(description: string) {
  return z.preprocess(toInteger, z.int().nullable().default(null).meta({ description }))
}

/** An integer that must be there, of any size that JSON carries exactly. */
export const laxInteger = z.preprocess(toInteger, z.int())

function boundedInt({ ge, le, description }: IntBounds) {
  const schema = z.int().min(ge).max(le)
  return description === undefined ? schema : schema.meta({ description })
}

/**
 * The id of a `type` in a path: `12`, or its object id `post_12`. A number that no row can have is 0, which no row has
 * either: the answer is then that of any id that doesn't exist.
 */
export function idInPath(type: string) {
  const prefix = `${type}_`
  return z.preprocess(
    (value) => {
      const text = typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : value
      const id = toInteger(text)
      if (typeof id !== 'number') return id
      return Number.isSafeInteger(id) && id > 0 ? id : 0
    },
    z.int().meta({ description: `The \`id\` of the ${type.replaceAll('_', ' ')}, or its \`object_id\`.` }),
  )
}
