/**
 * The fields of an event that a sender may send, once, in the order of the interface, which is that of errors. A field
 * is one line here. Four places follow it: the validation in schemas/event/event-schemas.ts, the type in event.ts, the
 * column in row.ts, and ingest/enrich/copy-fields.ts, if it is stored as sent. Then run `npm run generate`, and add the
 * column's DDL in clickhouse/migrations.
 */
import {
  eventNameLengthMax,
  fullNameLengthMax,
  identifierLengthMax,
  ipLengthMax,
  languageLengthMax,
  screenWidthMax,
  timezoneLengthMax,
  titleLengthMax,
  urlLengthMax,
  userAgentLengthMax,
} from '../limits/event-limits.ts'

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

export interface EventField {
  readonly schema: FieldSchema
  /** The type of the column of the same name; none: nothing is stored under this name. */
  readonly column?: 'UInt16' | 'String'
  /** Stored as it was sent. Other columns are filled by a step of ingest/enrich that reads the field. */
  readonly copied?: true
}

export const eventTypes = { track: 1, identify: 2, conversion: 3 } as const
export type EventType = keyof typeof eventTypes

export function text<Max extends number>(maxLength: Max) {
  return { type: ['string', 'null'], maxLength } as const
}

export function wholeNumber(minimum: number, maximum: number) {
  return { type: ['integer', 'null'], minimum, maximum } as const
}

/** RFC 3339 text: its errors are those of a date-time. */
export const dateTime = { type: ['string', 'null'] } as const
export const dateTimeFields: readonly string[] = ['occurred_at', 'sent_at']

/** Trusted revenue comes by other ways only: the field isn't ignored but refused. */
export const refused = { not: {} } as const

export const eventFields = {
  /** An empty text, as in every field of texts, is none. */
  event_type: { schema: { enum: [...(Object.keys(eventTypes) as EventType[]), '', null] } },
  event_name: {
    schema: { type: 'string', minLength: 1, maxLength: eventNameLengthMax },
    column: 'String',
    copied: true,
  },
  /** Deduplicates within the workspace. */
  client_event_id: { schema: text(identifierLengthMax), column: 'String', copied: true },
  email: { schema: text(identifierLengthMax) },
  full_name: { schema: text(fullNameLengthMax) },
  path: { schema: text(urlLengthMax), column: 'String' },
  url: { schema: text(urlLengthMax), column: 'String' },
  referrer: { schema: text(urlLengthMax), column: 'String' },
  source: { schema: text(identifierLengthMax), column: 'String' },
  medium: { schema: text(identifierLengthMax), column: 'String' },
  campaign: { schema: text(identifierLengthMax), column: 'String' },
  content: { schema: text(identifierLengthMax), column: 'String' },
  properties: { schema: { type: ['object', 'null'] }, column: 'String' },
  anonymous_id: { schema: text(identifierLengthMax), column: 'String' },
  session_id: { schema: text(identifierLengthMax) },
  title: { schema: text(titleLengthMax), column: 'String', copied: true },
  /** Local to the workspace without an offset. */
  occurred_at: { schema: dateTime },
  /** The sender's clock when sending. */
  sent_at: { schema: dateTime },
  screen_width: { schema: wholeNumber(0, screenWidthMax), column: 'UInt16', copied: true },
  language: { schema: text(languageLengthMax), column: 'String', copied: true },
  timezone: { schema: text(timezoneLengthMax), column: 'String', copied: true },
  /** The visitor's, where a server forwards the event: used as the connection's own would be, and not stored. */
  user_agent: { schema: text(userAgentLengthMax) },
  ip: { schema: text(ipLengthMax) },
  value_cents: { schema: refused },
} as const satisfies Readonly<Record<string, EventField>>

type Fields = typeof eventFields
type NameOf<Part> = { [Name in keyof Fields]: Fields[Name] extends Part ? Name : never }[keyof Fields]
type Columns<Type> = readonly { readonly name: NameOf<{ column: Type }>; readonly type: Type }[]

/** The columns that fields are stored in, numbers and texts apart. */
export const storedNumbers = columnsOf('UInt16')
export const storedTexts = columnsOf('String')
/** Fields that are stored as they were sent. */
export const copiedFields = entries().flatMap(([name, { copied }]) =>
  copied ? [name as NameOf<{ copied: true }>] : [],
)

function columnsOf<Type extends string>(type: Type): Columns<Type> {
  return entries().flatMap(([name, { column }]) =>
    column === type ? [{ name, type }] : [],
  ) as unknown as Columns<Type>
}

function entries(): [string, EventField][] {
  return Object.entries<EventField>(eventFields)
}
