/**
 * The JSON Schemas of the public tracking interface. The order of the fields is that of the errors. Types are strict,
 * null stands for "not sent" where a field isn't required, and unknown fields are ignored.
 *
 * event-validator.ts checks date-times and the size of `properties`, which a schema can't express well.
 */

import {
  batchEventsMax,
  botVisitsMax,
  identifierLengthMax,
  ipLengthMax,
  methodLengthMax,
  responseMsMax,
  statusCodeMax,
  statusCodeMin,
  timezoneLengthMax,
  urlLengthMax,
  userAgentLengthMax,
} from '../limits/event-limits.ts'
import { replayPageIdLengthMax, replaySequenceMax } from '../limits/replay-limits.ts'
import { dateTime, eventFields, type FieldSchema, refused, text, wholeNumber } from './event-fields.ts'

export interface BodySchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, FieldSchema>>
  readonly required: readonly string[]
}

const visitFields: Readonly<Record<string, FieldSchema>> = {
  url: { type: 'string', minLength: 1, maxLength: urlLengthMax },
  method: text(methodLengthMax),
  user_agent: { type: 'string', maxLength: userAgentLengthMax },
  ip: text(ipLengthMax),
  status_code: wholeNumber(statusCodeMin, statusCodeMax),
  referrer: text(urlLengthMax),
  response_ms: { type: ['number', 'null'], minimum: 0, maximum: responseMsMax },
  occurred_at: dateTime,
  client_event_id: text(identifierLengthMax),
}

function body(required: readonly string[], properties: Readonly<Record<string, FieldSchema>>): BodySchema {
  return { type: 'object', properties, required }
}

function schemasOf(
  fields: Readonly<Record<string, { readonly schema: FieldSchema }>>,
): Readonly<Record<string, FieldSchema>> {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))
}

/** A body is its sender and one of the others, together: each stands once, and a batch's events share the code of single ones. */
export const bodySchemas = {
  sender: body(['tracking_key'], { tracking_key: { type: 'string' } }),
  event: body(['event_name'], schemasOf(eventFields)),
  batch: body(['events'], { events: { type: 'array', maxItems: batchEventsMax }, value_cents: refused }),
  visit: body(['url', 'user_agent'], visitFields),
  replay: body(['anonymous_id', 'session_id', 'page_id', 'sequence', 'events'], {
    anonymous_id: { type: 'string', minLength: 1, maxLength: identifierLengthMax },
    session_id: { type: 'string', minLength: 1, maxLength: identifierLengthMax },
    page_id: { type: 'string', minLength: 1, maxLength: replayPageIdLengthMax },
    sequence: { type: 'integer', minimum: 0, maximum: replaySequenceMax },
    url: text(urlLengthMax),
    timezone: text(timezoneLengthMax),
    sent_at: dateTime,
    events: { type: 'string', minLength: 1 },
  }),
  visits: body(['visits'], { visits: { type: 'array', maxItems: botVisitsMax } }),
} as const satisfies Record<string, BodySchema>

export type BodyName = keyof typeof bodySchemas
