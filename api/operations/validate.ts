/** An operation's input, from what a transport collected to what its handler gets. */
import type { z } from 'zod'
import { invalid } from '../../schemas/problems.ts'
import type { ValidationError } from '../../schemas/validation-errors.ts'
import { type Part, parsePart } from '../../schemas/zod-errors.ts'
import type { OperationInput } from './define.ts'

/** As sent, by a transport: texts of the path and the query, a parsed body (undefined when there was none). */
export interface RawInput {
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface ValidInput {
  readonly path: unknown
  readonly query: unknown
  readonly body: unknown
}

/**
 * Checks all parts, path first, and reports everything that is wrong together.
 * @throws Problem validation_failed
 */
export function validateInput(input: OperationInput, raw: RawInput): ValidInput {
  const errors: ValidationError[] = []
  function parse(part: Part, schema: z.ZodType | undefined, value: unknown): unknown {
    if (schema === undefined) return undefined
    const parsed = parsePart(part, schema, value)
    if (parsed.ok) return parsed.value
    errors.push(...parsed.errors)
    return undefined
  }
  const path = parse('path', input.path, raw.path)
  const query = parse('query', input.query, raw.query)
  const body = parse('body', input.body, raw.body)
  if (errors.length > 0) throw invalid(errors)
  return { path, query, body }
}
