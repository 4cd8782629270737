/** Valid input of the public tracking interface. An optional field that is null counts as not sent. */
import type { eventFields } from './event-fields.ts'

type Optional<Value> = Value | null | undefined

type Fields = typeof eventFields
/** The type of a field's valid value. */
type Sent<Schema> = Schema extends { type: 'string' }
  ? string
  : Schema extends { type: readonly ['string', 'null'] }
    ? string | null
    : Schema extends { type: readonly ['integer', 'null'] }
      ? number | null
      : Schema extends { type: readonly ['object', 'null'] }
        ? Readonly<Record<string, unknown>> | null
        : Schema extends { enum: readonly (infer Value)[] }
          ? Value
          : never
/** A field that may be null need not be there. */
type RequiredName = {
  [Name in keyof Fields]: null extends Sent<Fields[Name]['schema']> ? never : Name
}[keyof Fields]

/** One event: the body of a single one, or a member of a batch. Fields and their meaning: event-fields.ts. */
export type TrackEvent = {
  readonly [Name in Exclude<RequiredName, 'value_cents'>]: Sent<Fields[Name]['schema']>
} & {
  readonly [Name in Exclude<keyof Fields, RequiredName | 'value_cents'>]?: Optional<Sent<Fields[Name]['schema']>>
}

export type TrackBody = TrackEvent & { readonly tracking_key: string }

export interface BotVisit {
  readonly url: string
  readonly method?: Optional<string>
  readonly user_agent: string
  readonly ip?: Optional<string>
  readonly status_code?: Optional<number>
  readonly referrer?: Optional<string>
  readonly response_ms?: Optional<number>
  readonly occurred_at?: Optional<string>
  readonly client_event_id?: Optional<string>
}

/** Some seconds of a recording. */
export interface ReplayBody {
  readonly tracking_key: string
  readonly anonymous_id: string
  readonly session_id: string
  /** One for each load of a page. */
  readonly page_id: string
  readonly sequence: number
  readonly url?: Optional<string>
  readonly timezone?: Optional<string>
  readonly sent_at?: Optional<string>
  /** Base64 of the gzipped JSON list of rrweb's events. */
  readonly events: string
}

/** One visit, or, where `visits` isn't null, the envelope of many, which are validated one by one. */
export type BotsBody =
  | (BotVisit & { readonly tracking_key: string; readonly visits?: null | undefined })
  | { readonly tracking_key: string; readonly visits: readonly unknown[] }
