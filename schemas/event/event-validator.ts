/**
 * Validation of the public tracking interface. A fast compiled schema accepts nearly all events. An event that it refuses
 * goes through the exact schema, which counts code points and finds all faults. They become the contract's errors, in the
 * order of the fields.
 *
 * A body with texts that can't be stored takes the exact schema, too: it is refused for those of fields that are read.
 *
 * Later steps parse date-times, and refuse invalid or too old ones. If a body has other faults, the validator checks its
 * date-times too, so that one answer lists all faults.
 *
 * Held by test/unit/event-validator.test.ts and test/property/event-validator.test.ts.
 */

import {
  datetimeType,
  dictType,
  extraForbidden,
  finiteNumber,
  floatType,
  greaterThanEqual,
  intFromFloat,
  intType,
  type Loc,
  lessThanEqual,
  listType,
  literalError,
  missing,
  missingBody,
  modelAttributesType,
  stringTooLong,
  stringTooShort,
  stringType,
  tooLong,
  type ValidationError,
} from '../errors/validation-errors.ts'
import * as generated from '../generated/validators.js'
import { isObject } from '../json-object.ts'
import { findUnstorableText } from '../json-text.ts'
import { explainEventTime } from '../time/date-time.ts'
import type { BotsBody, TrackBody, TrackEvent } from './event.ts'
import { dateTimeFields, type FieldSchema } from './event-fields.ts'
import { explainProperties, fitsProperties } from './event-properties.ts'
import { type BodyName, bodySchemas } from './event-schemas.ts'

/** The part of ajv's error object that the mapping needs. */
interface Fault {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}
type Compiled = ((body: unknown) => boolean) & { errors?: Fault[] | null }

const fast = { ...generated.fast } as unknown as Record<BodyName, Compiled>
const exact = { ...generated.exact } as unknown as Record<BodyName, Compiled>
const fastSender = fast.sender
const fastEvent = fast.event
const fastVisit = fast.visit

const wholeBody: Loc = ['body']

/**
 * The body of one event; null when it is a `TrackBody`.
 * @param hasUnstorableText here and below: some text of the request can't be stored
 */
export function validateTrack(body: unknown, hasUnstorableText = false): ValidationError[] | null {
  if (!hasUnstorableText && fastSender(body) && fastEvent(body) && hasSoundProperties(body as TrackBody)) return null
  return explain(body, wholeBody, ['sender', 'event'])
}

/** The envelope of a batch; null when it is valid. Each of its events is for `validateBatchEvent`. */
export function validateBatch(body: unknown): ValidationError[] | null {
  if (fastSender(body) && fast.batch(body)) return null
  return explain(body, wholeBody, ['sender', 'batch'])
}

/** The event at `index` of a batch; null when it is a `TrackEvent`. */
export function validateBatchEvent(event: unknown, index: number, hasUnstorableText = false): ValidationError[] | null {
  if (!hasUnstorableText && fastEvent(event) && hasSoundProperties(event as TrackEvent)) return null
  return explain(event, locInBatch(index), ['event'])
}

/** Where the event at `index` of a batch stands. */
export function locInBatch(index: number): Loc {
  return ['body', 'events', index]
}

/** The body of the bots endpoint; null when it is a `BotsBody`. Each of `visits` is for `validateBotVisit`. */
export function validateBots(body: unknown, hasUnstorableText = false): ValidationError[] | null {
  if (hasVisits(body)) {
    if (fastSender(body) && fast.visits(body)) return null
    return explain(body, wholeBody, ['sender', 'visits'])
  }
  if (!hasUnstorableText && fastSender(body) && fastVisit(body)) return null
  return explain(body, wholeBody, ['sender', 'visit'])
}

/** The body of a chunk of a replay; null when it is a `ReplayBody`. Its events are still packed. */
export function validateReplay(body: unknown, hasUnstorableText = false): ValidationError[] | null {
  if (!hasUnstorableText && fastSender(body) && fast.replay(body)) return null
  return explain(body, wholeBody, ['sender', 'replay'])
}

/** The visit at `index` of a bots body with many; null when it is a `BotVisit`. */
export function validateBotVisit(visit: unknown, index: number, hasUnstorableText = false): ValidationError[] | null {
  if (!hasUnstorableText && fastVisit(visit)) return null
  return explain(visit, ['body', 'visits', index], ['visit'])
}

/** Whether a valid bots body is one of many visits. */
export function hasVisits(body: unknown): body is Extract<BotsBody, { visits: readonly unknown[] }> {
  return isObject(body) && body['visits'] !== undefined && body['visits'] !== null
}

/** Checks the part of an event that its schema leaves out. */
function hasSoundProperties({ properties }: TrackEvent): boolean {
  return properties === undefined || properties === null || fitsProperties(properties)
}

/** All faults of `body` by the exact forms of `names`, or null when there is none after all. */
function explain(body: unknown, loc: Loc, names: readonly BodyName[]): ValidationError[] | null {
  if ((body === undefined || body === null) && loc === wholeBody) return [missingBody()]
  if (!isObject(body)) return [modelAttributesType(loc, body)]
  const errors = names.flatMap((name) => explainPart(body, loc, name))
  return errors.length === 0 ? null : errors
}

function explainPart(body: Record<string, unknown>, loc: Loc, name: BodyName): ValidationError[] {
  const validate = exact[name]
  const faults = validate(body) ? [] : (validate.errors ?? [])
  const fields: Readonly<Record<string, FieldSchema>> = bodySchemas[name].properties
  const errors: ValidationError[] = []
  for (const field of Object.keys(fields)) {
    const found = faults.filter((fault) => fieldOf(fault) === field)
    for (const fault of found) {
      const isDateTime = dateTimeFields.includes(field)
      errors.push(
        isDateTime ? datetimeType([...loc, field], body[field]) : errorOf(fault, [...loc, field], body, body[field]),
      )
    }
    if (found.length === 0) errors.push(...explainDetails([...loc, field], field, body[field]))
  }
  return errors
}

function fieldOf({ keyword, instancePath, params }: Fault): string {
  return keyword === 'required' ? String(params['missingProperty']) : instancePath.slice(1)
}

/** Errors that the schema leaves out, for a field that it takes. */
function explainDetails(loc: Loc, field: string, value: unknown): ValidationError[] {
  if (field === 'properties' && isObject(value)) {
    const errors = explainProperties(loc, value)
    // The first one: a batch may hold a hundred thousand of them.
    return errors.length > 0 ? errors : findUnstorableText(loc, value).slice(0, 1)
  }
  if (dateTimeFields.includes(field) && typeof value === 'string' && value !== '') {
    const error = explainEventTime(loc, value)
    if (error !== null) return [error]
  }
  return typeof value === 'string' ? findUnstorableText(loc, value) : []
}

function errorOf(fault: Fault, loc: Loc, body: unknown, value: unknown): ValidationError {
  const { keyword, params } = fault
  const limit = Number(params['limit'])
  switch (keyword) {
    case 'required':
      return missing(loc, body)
    case 'type':
      return wrongType(params['type'], loc, value)
    case 'enum':
      // Null and the empty text are taken as not sent.
      return literalError(loc, value, (params['allowedValues'] as unknown[]).filter(Boolean))
    case 'not':
      return extraForbidden(loc, value)
    case 'minLength':
      return stringTooShort(loc, value, limit)
    case 'maxLength':
      return stringTooLong(loc, value, limit)
    case 'minimum':
      return greaterThanEqual(loc, value, limit)
    case 'maximum':
      return lessThanEqual(loc, value, limit)
    case 'maxItems':
      return tooLong(loc, value, limit, (value as unknown[]).length)
    default:
      throw new Error(`no error of the contract stands for the keyword ${keyword}`)
  }
}

function wrongType(wanted: unknown, loc: Loc, value: unknown): ValidationError {
  const type = Array.isArray(wanted) ? wanted[0] : wanted
  const isHuge = value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY
  switch (type) {
    case 'string':
      // Infinity, for a literal like 1e400, would be shown as null.
      return stringType(loc, isHuge ? String(value) : value)
    case 'integer':
      if (isHuge) return finiteNumber(loc, value)
      return typeof value === 'number' ? intFromFloat(loc, value) : intType(loc, value)
    case 'number':
      return isHuge ? finiteNumber(loc, value) : floatType(loc, value)
    case 'array':
      return listType(loc, value)
    case 'object':
      return dictType(loc, value)
    default:
      throw new Error(`no error of the contract stands for the type ${type}`)
  }
}
