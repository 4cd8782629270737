/**
 * The JSON Schemas of the public tracking interface. The order of the fields is that of the errors. Types are strict,
 * null stands for "not sent" where a field isn't required, and unknown fields are ignored.
 *
 * What a schema can't say well is checked in event-validator.ts: date-times, and the size of `properties`.
 */
import {
  batchEventsMax,
  botVisitsMax,
  eventNameLengthMax,
  fullNameLengthMax,
  identifierLengthMax,
  ipLengthMax,
  languageLengthMax,
  methodLengthMax,
  responseMsMax,
  screenWidthMax,
  statusCodeMax,
  statusCodeMin,
  timezoneLengthMax,
  titleLengthMax,
  urlLengthMax,
  userAgentLengthMax,
} from './limits.ts'
import { eventTypes } from './row.ts'

export interface FieldSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly not?: object
}

export interface BodySchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, FieldSchema>>
  readonly required: readonly string[]
}

function text(maxLength: number): FieldSchema {
  return { type: ['string', 'null'], maxLength }
}

/** RFC 3339 text: its errors are those of a date-time. */
const dateTime: FieldSchema = { type: ['string', 'null'] }
export const dateTimeFields: readonly string[] = ['occurred_at', 'sent_at']

const eventFields: Readonly<Record<string, FieldSchema>> = {
  event_type: { enum: [...Object.keys(eventTypes), null] },
  event_name: { type: 'string', minLength: 1, maxLength: eventNameLengthMax },
  client_event_id: text(identifierLengthMax),
  email: text(identifierLengthMax),
  full_name: text(fullNameLengthMax),
  path: text(urlLengthMax),
  url: text(urlLengthMax),
  referrer: text(urlLengthMax),
  source: text(identifierLengthMax),
  medium: text(identifierLengthMax),
  campaign: text(identifierLengthMax),
  content: text(identifierLengthMax),
  properties: { type: ['object', 'null'] },
  anonymous_id: text(identifierLengthMax),
  session_id: text(identifierLengthMax),
  title: text(titleLengthMax),
  occurred_at: dateTime,
  sent_at: dateTime,
  screen_width: { type: ['integer', 'null'], minimum: 0, maximum: screenWidthMax },
  language: text(languageLengthMax),
  timezone: text(timezoneLengthMax),
  user_agent: text(userAgentLengthMax),
  ip: text(ipLengthMax),
  // Trusted revenue comes by other ways only: its field isn't ignored but refused.
  value_cents: { not: {} },
}

const visitFields: Readonly<Record<string, FieldSchema>> = {
  url: { type: 'string', minLength: 1, maxLength: urlLengthMax },
  method: text(methodLengthMax),
  user_agent: { type: 'string', maxLength: userAgentLengthMax },
  ip: text(ipLengthMax),
  status_code: { type: ['integer', 'null'], minimum: statusCodeMin, maximum: statusCodeMax },
  referrer: text(urlLengthMax),
  response_ms: { type: ['number', 'null'], minimum: 0, maximum: responseMsMax },
  occurred_at: dateTime,
  client_event_id: text(identifierLengthMax),
}

function body(required: readonly string[], properties: Readonly<Record<string, FieldSchema>>): BodySchema {
  return { type: 'object', properties, required }
}

/** A body is its sender and one of the others, together: each stands once, and a batch's events share the code of single ones. */
export const bodySchemas = {
  sender: body(['tracking_key'], { tracking_key: { type: 'string' } }),
  event: body(['event_name'], eventFields),
  batch: body(['events'], { events: { type: 'array', maxItems: batchEventsMax } }),
  visit: body(['url', 'user_agent'], visitFields),
  visits: body(['visits'], { visits: { type: 'array', maxItems: botVisitsMax } }),
} as const satisfies Record<string, BodySchema>

export type BodyName = keyof typeof bodySchemas
