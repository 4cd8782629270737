/** Validates an operation's input: turns what a transport collected into the handler's arguments. */
import { z } from 'zod'
import { invalid, Problem } from '../../schemas/errors/problems.ts'
import type { ValidationError } from '../../schemas/errors/validation-errors.ts'
import { locOf, type Part, parsePart, valueAt } from '../../schemas/errors/zod-errors.ts'
import { isEmptyOrMissing } from '../../schemas/json-object.ts'
import { findUnstorableText } from '../../schemas/json-text.ts'
import { idempotencyKeyLengthMax } from '../../schemas/limits/api-limits.ts'
import type { Operation } from './define.ts'

/** As sent, by a transport: path and query (by HTTP texts), a parsed body (undefined when there was none). */
export interface RawInput {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  /** For a form: its fields. */
  readonly body: unknown
  /** Makes a mutation's retry the same call. */
  readonly idempotencyKey?: unknown
  /** The argument that the key came in; left out: it came in a header. */
  readonly keyArgument?: string
  /** A retry must equal this, where that isn't the body itself: for an upload, its hash. */
  readonly fingerprint?: unknown
}

export const idempotencyKeySchema = z
  .string()
  .min(1)
  .max(idempotencyKeyLengthMax)
  .regex(/^[\x20-\x7e]*$/)

export interface ValidInput {
  readonly idempotencyKey: string | undefined
  readonly path: unknown
  readonly query: unknown
  readonly body: unknown
}

type ValidatedOperation = Pick<Operation, 'input' | 'effect' | 'takesSecret' | 'needsNoBody'>

/**
 * Checks all parts, path first, and reports everything that is wrong together.
 * @throws Problem validation_failed
 */
export function validateInput(operation: ValidatedOperation, raw: RawInput): ValidInput {
  const { input, effect, takesSecret, needsNoBody } = operation
  const errors: ValidationError[] = []
  function parse(part: Part, schema: z.ZodObject | undefined, value: unknown): unknown {
    if (schema === undefined) return undefined
    const parsed = parsePart(part, schema, value)
    errors.push(...withUnstorableTexts(part, schema, value, parsed.ok ? [] : parsed.errors))
    return parsed.ok ? parsed.value : undefined
  }
  const path = parse('path', input.path, raw.path)
  const query = parse('query', input.query, raw.query)
  const { idempotencyKey: key, keyArgument } = raw
  if (effect !== 'read' && key !== undefined && !idempotencyKeySchema.safeParse(key).success) {
    const name = keyArgument ?? 'idempotency-key'
    parse(keyArgument === undefined ? 'header' : 'body', z.object({ [name]: idempotencyKeySchema }), { [name]: key })
  }
  const sent = needsNoBody && isEmptyOrMissing(raw.body) ? {} : raw.body
  const body = input.form ? parse('form', input.form, sent) : parse('body', input.body, sent)
  if (errors.length > 0) throw invalid(takesSecret ? errors.map(withoutInput) : errors)
  return { path, query, body, idempotencyKey: key as string | undefined }
}

function withoutInput({ input: _, ...error }: ValidationError): ValidationError {
  return error
}

/** Runs the work of an operation. @throws its error, where it is a Problem with the members of the body as they were sent */
export async function withSentInputs<Result>(
  operation: Pick<Operation, 'input' | 'takesSecret'>,
  raw: RawInput,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw sayingWhatWasSent(error, operation, raw)
  }
}

/** Handlers know what was made of a body: of a long id 0, of `post_12` 12. Their errors show what was sent. */
function sayingWhatWasSent(
  error: unknown,
  { input, takesSecret }: Pick<Operation, 'input' | 'takesSecret'>,
  { body }: RawInput,
): unknown {
  if (!(error instanceof Problem) || typeof error.detail === 'string' || input.body === undefined) return error
  if (takesSecret) return invalid(error.detail.map(withoutInput))
  return invalid(
    error.detail.map((one) => {
      const [part, ...path] = one.loc
      const sent = part === 'body' && path.length > 0 ? valueAt(body, path) : undefined
      return sent === undefined ? one : { ...one, input: sent }
    }),
  )
}

/**
 * Adds errors for fields with NUL or a lone surrogate, neither of which PostgreSQL takes, in the order of the fields.
 * Unknown members are ignored, whatever they hold.
 */
function withUnstorableTexts(
  part: Part,
  { shape }: z.ZodObject,
  sent: unknown,
  found: readonly ValidationError[],
): readonly ValidationError[] {
  if (typeof sent !== 'object' || sent === null) return found
  const names = Object.keys(shape)
  const isSaid = (name: string) => found.some(({ loc }) => loc[1] === name)
  const texts = names
    .filter((name) => Object.hasOwn(sent, name) && !isSaid(name))
    .flatMap((name) => findUnstorableText([locOf(part), name], (sent as Record<string, unknown>)[name]))
  if (texts.length === 0) return found
  const place = ({ loc }: ValidationError) => [...names, loc[1]].indexOf(loc[1])
  return [...found, ...texts].sort((one, other) => place(one) - place(other))
}
