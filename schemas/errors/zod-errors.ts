/**
 * Parses with zod, and words the errors as the contract does: Pydantic's types, texts, order and inputs. Zod reports
 * only the place and the failed check; the sent value decides the rest, as Pydantic's errors depend on it. Held by
 * test/unit/zod-errors.test.ts against the table of the contract.
 *
 * Write integers as `z.int()`, closed sets as `z.enum()`, single values as `z.literal()`, and unions of schemas for
 * different types of JSON. A check of our own that has an error of its own gives its builder as `params: { build }`.
 */
import type { z } from 'zod'
import { integerLengthMax, isHuge, isIntegerText } from '../lax.ts'
import { validationErrorsMax } from '../limits/api-limits.ts'
import type { Loc, ValidationError } from './validation-errors.ts'
import * as errors from './validation-errors.ts'

/** Where in the request the value came from: the first member of `loc`, which of a form is `body`. */
export type Part = 'path' | 'query' | 'header' | 'body' | 'form'

/** The first member of `loc`. */
export function locOf(part: Part): string {
  return part === 'form' ? 'body' : part
}

export type Parsed<Value> = { ok: true; value: Value } | { ok: false; errors: ValidationError[] }

type Issue = z.core.$ZodIssue
/** Makes the error of a place and the value there. */
export type Build = (loc: Loc, input: unknown) => ValidationError

/** Parses what came in as `part`; errors are in the order of the schema's fields, the first of them. */
export function parsePart<Schema extends z.ZodType>(
  part: Part,
  schema: Schema,
  raw: unknown,
): Parsed<z.output<Schema>> {
  if (part === 'body' && (raw === undefined || raw === null)) return { ok: false, errors: [errors.missingBody()] }
  const result = schema.safeParse(raw, { error: describeSchema })
  if (result.success) return { ok: true, value: result.data }
  const issues = result.error.issues.flatMap(ofOption).flatMap(oneAKey)
  const shown = firstAtEachPlace(issues).slice(0, validationErrorsMax)
  return { ok: false, errors: shown.map((issue) => toError(part, raw, issue)) }
}

/** Zod drops the schema that an issue came from; as the message, its kind survives. A check's own text stays. */
function describeSchema(issue: z.core.$ZodRawIssue): string | undefined {
  const schema = issue.inst as z.core.$ZodType | undefined
  const def = schema?._zod.def as { type?: string; format?: string } | undefined
  return def?.format === 'safeint' ? 'int' : def?.type
}

/** A value is judged by the option of a union that takes its type; else by the first one. */
function ofOption(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const isOfType = (issues: Issue[]) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0)
  const option = issue.errors.find(isOfType) ?? issue.errors[0] ?? []
  return option.map((one) => ({ ...one, path: [...issue.path, ...one.path] })).flatMap(ofOption)
}

/** An unrecognized key is an error of its own, at its own place. */
function oneAKey(issue: Issue): Issue[] {
  if (issue.code !== 'unrecognized_keys') return [issue]
  return issue.keys.map((key) => ({ ...issue, keys: [key], path: [...issue.path, key] }))
}

/**
 * Pydantic stops at a value's first error: first the type, then the step, then the bounds. A list is checked for too
 * many items first, as zod does, then each item, then too few. Otherwise zod goes on.
 */
function firstAtEachPlace(issues: Issue[]): Issue[] {
  const withFaultsBelow = new Set(issues.flatMap(({ path }) => placesAbove(path)))
  const kept = new Map<string, Issue>()
  for (const issue of issues) {
    const place = placeOf(issue.path)
    if (issue.code === 'too_small' && issue.origin === 'array' && withFaultsBelow.has(place)) continue
    const before = kept.get(place)
    if (before === undefined || rank(issue) < rank(before)) kept.set(place, issue)
  }
  return [...kept.values()]
}

function placeOf(path: Issue['path']): string {
  return JSON.stringify(path)
}

/** The places that hold the one of the path. */
function placesAbove(path: Issue['path']): string[] {
  return path.map((_, depth) => placeOf(path.slice(0, depth)))
}

/** Lower comes first. That an integer is beyond what JavaScript holds says less than a bound of the field. */
function rank(issue: Issue): number {
  if (issue.code === 'invalid_type' || issue.code === 'not_multiple_of') return 0
  return 'note' in issue ? 2 : 1
}

function toError(part: Part, raw: unknown, issue: Issue): ValidationError {
  const path = issue.path as (string | number)[]
  const loc: Loc = [locOf(part), ...path]
  const parent = path.length === 0 ? undefined : valueAt(raw, path.slice(0, -1))
  const input = path.length === 0 ? raw : valueAt(parent, path.slice(-1))
  const isAbsent = input === undefined && path.length > 0
  if (isAbsent) return errors.missing(loc, part === 'body' ? parent : null)
  return buildError(issue, input)(loc, input)
}

/** Undefined where there is none. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, key) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    return (at as Record<string | number, unknown>)[key]
  }, value)
}

/** `issue.message` is the kind of the schema, by `describeSchema`, except of a check of our own. */
function buildError(issue: Issue, input: unknown): Build {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.message === 'int' || issue.expected === 'int' ? 'int' : issue.expected, input)
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum), issue.inclusive === true, input)
    case 'too_big':
      return tooBig(issue.origin, Number(issue.maximum), issue.inclusive === true, input)
    case 'not_multiple_of':
      return (loc) => errors.multipleOf(loc, input, issue.divisor)
    case 'unrecognized_keys':
      return errors.extraForbidden
    case 'invalid_value': {
      const build = issue.message === 'literal' ? errors.literalError : errors.enumError
      return (loc) => build(loc, input, issue.values)
    }
    case 'invalid_format':
      if (issue.format !== 'regex') break
      return (loc) => errors.stringPatternMismatch(loc, input, String(issue.pattern).replace(/^\/|\/[a-z]*$/g, ''))
    case 'custom': {
      const build = issue.params?.['build'] as Build | undefined
      return build ?? ((loc) => errors.valueError(loc, input, issue.message))
    }
  }
  throw new Error(`the zod issue ${issue.code} has no error in the contract: write the schema another way`)
}

function wrongType(expected: string, input: unknown): Build {
  switch (expected) {
    case 'string':
      return errors.stringType
    case 'int':
      return wrongInt(input)
    case 'number':
      return typeof input === 'string' || typeof input === 'number' ? errors.floatParsing : errors.floatType
    case 'boolean':
      return typeof input === 'string' || Number.isInteger(input) ? errors.boolParsing : errors.boolType
    case 'array':
      return errors.listType
    case 'record':
      return errors.dictType
    case 'object':
      return errors.modelAttributesType
  }
  throw new Error(`the zod type ${expected} has no error in the contract`)
}

function wrongInt(input: unknown): Build {
  if (typeof input === 'string' && isIntegerText(input)) return errors.intType
  if (typeof input === 'string') return input.length > integerLengthMax ? errors.intParsingSize : errors.intParsing
  if (typeof input !== 'number') return errors.intType
  return isHuge(input) ? errors.intParsingSize : errors.intFromFloat
}

function tooSmall(origin: string, min: number, isInclusive: boolean, input: unknown): Build {
  if (origin === 'string') return (loc) => errors.stringTooShort(loc, input, min)
  if (origin === 'array') return (loc) => errors.tooShort(loc, input, min, (input as unknown[]).length)
  if (isHuge(input)) return errors.intParsingSize
  return (loc) => (isInclusive ? errors.greaterThanEqual : errors.greaterThan)(loc, input, min)
}

function tooBig(origin: string, max: number, isInclusive: boolean, input: unknown): Build {
  if (origin === 'string') return (loc) => errors.stringTooLong(loc, input, max)
  if (origin === 'array') return (loc) => errors.tooLong(loc, input, max, (input as unknown[]).length)
  if (isHuge(input)) return errors.intParsingSize
  return (loc) => (isInclusive ? errors.lessThanEqual : errors.lessThan)(loc, input, max)
}
