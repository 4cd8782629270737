/** What the public tracking interface takes, once it is valid. An optional field that is null counts as not sent. */
import type { EventType } from './row.ts'

type Optional<Value> = Value | null | undefined

/** One event: the body of a single one, or a member of a batch. */
export interface TrackEvent {
  readonly event_type?: Optional<EventType>
  readonly event_name: string
  /** Deduplicates within the workspace. */
  readonly client_event_id?: Optional<string>
  readonly email?: Optional<string>
  readonly full_name?: Optional<string>
  readonly path?: Optional<string>
  readonly url?: Optional<string>
  readonly referrer?: Optional<string>
  readonly source?: Optional<string>
  readonly medium?: Optional<string>
  readonly campaign?: Optional<string>
  readonly content?: Optional<string>
  readonly properties?: Optional<Readonly<Record<string, unknown>>>
  readonly anonymous_id?: Optional<string>
  readonly session_id?: Optional<string>
  readonly title?: Optional<string>
  /** RFC 3339, local to the workspace without an offset. */
  readonly occurred_at?: Optional<string>
  /** The sender's clock when sending. */
  readonly sent_at?: Optional<string>
  readonly screen_width?: Optional<number>
  readonly language?: Optional<string>
  readonly timezone?: Optional<string>
  /** Of the visitor, where a server forwards the event: used as the connection's own would be, and not stored. */
  readonly user_agent?: Optional<string>
  readonly ip?: Optional<string>
}

export interface TrackBody extends TrackEvent {
  readonly tracking_key: string
}

/** The envelope of a batch: its events are validated one by one. */
export interface BatchBody {
  readonly tracking_key: string
  readonly events: readonly unknown[]
}

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

/** One visit, or, where `visits` isn't null, the envelope of many, which are validated one by one. */
export type BotsBody =
  | (BotVisit & { readonly tracking_key: string; readonly visits?: null | undefined })
  | { readonly tracking_key: string; readonly visits: readonly unknown[] }
