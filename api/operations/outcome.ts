/** The outcome of a call, for any transport. */
import { Problem } from '../../schemas/errors/problems.ts'

export interface Outcome {
  readonly status: number
  /** The handler's return value, or `{detail}`. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  /** The refusal, where it is one that was just met: not of a replay. */
  readonly problem?: Problem
}

/** Outcome of a handler's result or of a refusal. */
export function outcomeOf(result: unknown): Outcome {
  if (!(result instanceof Problem)) return { status: 200, body: result, headers: {} }
  const { status, detail, headers } = result
  return { status, body: { detail }, headers, problem: result }
}
