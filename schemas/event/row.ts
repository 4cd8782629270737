/**
 * The columns of `events`, `bot_visits`, `link_clicks` and `replay_chunks`, in the order of their RowBinary bytes in
 * the log and in inserts into ClickHouse. Columns of fixed width come first, so that a segment can be read without
 * decoding its texts.
 *
 * From the first release on, a changed list needs a new `rowFormat`. The log may hold rows of an older format, and
 * these are loaded with the old list. Held by test/integration/row-parity.test.ts (row ↔ DDL) and
 * test/property/row-codec.test.ts.
 */

import { replayRowBytesMax } from '../limits/replay-limits.ts'
import { storedNumbers, storedTexts } from './event-fields.ts'

export type ColumnType =
  | 'UInt8'
  | 'UInt16'
  | 'UInt32'
  | 'UInt64'
  | 'Float64'
  | "DateTime64(3, 'UTC')"
  | 'FixedString(2)'
  | 'FixedString(16)'
  | 'String'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

export const rowFormat = 1

/**
 * An event's kind, by which figures count it: its `event_type` and name in one number. `custom` is a `track` event of
 * the site's own; `autocapture` an act that svc.js recorded by itself: a click, a submission, a download, a search.
 */
export const kinds = {
  pageview: 1,
  custom: 2,
  autocapture: 3,
  web_vital: 4,
  page_leave: 5,
  identify: 6,
  conversion: 7,
} as const
export type Kind = keyof typeof kinds

/** Names of `track` events that have a kind of their own; every other name is `custom`. */
export const kindByEventName: Readonly<Record<string, number>> = {
  pageview: kinds.pageview,
  link_click: kinds.autocapture,
  outbound_click: kinds.autocapture,
  button_click: kinds.autocapture,
  form_submit: kinds.autocapture,
  file_download: kinds.autocapture,
  not_found: kinds.autocapture,
  site_search: kinds.autocapture,
  web_vital: kinds.web_vital,
  page_leave: kinds.page_leave,
}

export const devices = { unknown: 0, desktop: 1, mobile: 2, tablet: 3, other: 4 } as const
export const vitalMetrics = { none: 0, FCP: 1, LCP: 2, INP: 3, CLS: 4 } as const

/** Stored for "no country". */
export const noCountry = '\0\0'

/** Columns that ingest computes; those of sent fields follow from schemas/event/event-fields.ts. */
const madeColumns = [
  { name: 'id', type: 'UInt64' },
  { name: 'workspace_id', type: 'UInt32' },
  { name: 'occurred_at', type: "DateTime64(3, 'UTC')" },
  { name: 'received_at', type: "DateTime64(3, 'UTC')" },
  { name: 'event_type', type: 'UInt8' },
  { name: 'kind', type: 'UInt8' },
  { name: 'visitor', type: 'UInt64' },
  { name: 'session', type: 'UInt64' },
  { name: 'session_named', type: 'UInt8' },
  { name: 'email_hash', type: 'UInt64' },
  { name: 'device', type: 'UInt8' },
  { name: 'metric', type: 'UInt8' },
  { name: 'metric_value', type: 'Float64' },
  { name: 'engagement_ms', type: 'UInt32' },
  { name: 'scroll_depth', type: 'UInt8' },
  { name: 'link_id', type: 'UInt32' },
  { name: 'post_id', type: 'UInt32' },
  { name: 'country', type: 'FixedString(2)' },
] as const satisfies readonly Column[]
const madeTexts = [
  { name: 'browser', type: 'String' },
  { name: 'os', type: 'String' },
  { name: 'region', type: 'String' },
  { name: 'region_name', type: 'String' },
  { name: 'city', type: 'String' },
] as const satisfies readonly Column[]

export const eventColumns = [...madeColumns, ...storedNumbers, ...madeTexts, ...storedTexts] as const

export const botVisitColumns = [
  { name: 'id', type: 'UInt64' },
  { name: 'workspace_id', type: 'UInt32' },
  { name: 'occurred_at', type: "DateTime64(3, 'UTC')" },
  { name: 'received_at', type: "DateTime64(3, 'UTC')" },
  { name: 'category', type: 'UInt8' },
  { name: 'verified', type: 'UInt8' },
  { name: 'verification_method', type: 'UInt8' },
  { name: 'reported_by', type: 'UInt8' },
  { name: 'status_code', type: 'UInt16' },
  { name: 'response_ms', type: 'UInt32' },
  { name: 'ip_hash', type: 'FixedString(16)' },
  { name: 'client_event_id', type: 'String' },
  { name: 'method', type: 'String' },
  { name: 'path', type: 'String' },
  { name: 'url', type: 'String' },
  { name: 'referrer', type: 'String' },
  { name: 'user_agent', type: 'String' },
  { name: 'bot_name', type: 'String' },
  { name: 'operator', type: 'String' },
] as const satisfies readonly Column[]

const linkClickColumns = [
  { name: 'id', type: 'UInt64' },
  { name: 'workspace_id', type: 'UInt32' },
  { name: 'occurred_at', type: "DateTime64(3, 'UTC')" },
  { name: 'kind', type: 'UInt8' },
  { name: 'visitor', type: 'UInt64' },
  { name: 'link_id', type: 'UInt32' },
  { name: 'post_id', type: 'UInt32' },
  { name: 'device', type: 'UInt8' },
  { name: 'way', type: 'UInt8' },
  { name: 'country', type: 'FixedString(2)' },
  { name: 'event_name', type: 'String' },
  { name: 'referrer', type: 'String' },
  { name: 'target_url', type: 'String' },
  { name: 'browser', type: 'String' },
  { name: 'os', type: 'String' },
  { name: 'city', type: 'String' },
  { name: 'region_name', type: 'String' },
  { name: 'bot_name', type: 'String' },
] as const satisfies readonly Column[]

const replayChunkColumns = [
  { name: 'id', type: 'UInt64' },
  { name: 'workspace_id', type: 'UInt32' },
  { name: 'occurred_at', type: "DateTime64(3, 'UTC')" },
  { name: 'received_at', type: "DateTime64(3, 'UTC')" },
  { name: 'visitor', type: 'UInt64' },
  { name: 'session', type: 'UInt64' },
  { name: 'sequence', type: 'UInt32' },
  { name: 'duration_ms', type: 'UInt32' },
  { name: 'event_count', type: 'UInt32' },
  { name: 'clicks', type: 'UInt32' },
  { name: 'bytes', type: 'UInt32' },
  { name: 'json_bytes', type: 'UInt32' },
  { name: 'device', type: 'UInt8' },
  { name: 'country', type: 'FixedString(2)' },
  { name: 'page_id', type: 'String' },
  { name: 'session_id', type: 'String' },
  { name: 'anonymous_id', type: 'String' },
  { name: 'path', type: 'String' },
  { name: 'url', type: 'String' },
  { name: 'browser', type: 'String' },
  { name: 'os', type: 'String' },
  { name: 'events', type: 'String' },
] as const satisfies readonly Column[]

type Value<T extends ColumnType> = T extends 'String' | `FixedString(${number})` ? string : number
/** A row as an object: 64-bit integers are numbers below 2^53 or, where they are hashes, see `Hash64`. */
type RowOf<Columns extends readonly Column[]> = {
  -readonly [C in Columns[number] as C['name']]: C['name'] extends HashColumn ? Hash64 : Value<C['type']>
}

/** 64 bits as two unsigned 32-bit halves: hashing makes these and RowBinary takes them, without a BigInt between. */
export interface Hash64 {
  hi: number
  lo: number
}

/** Columns of type UInt64 that hold hashes. */
type HashColumn = 'visitor' | 'email_hash'
export const hashColumns: ReadonlySet<string> = new Set<HashColumn>(['visitor', 'email_hash'])

export type EventRow = RowOf<typeof eventColumns>
export type BotVisitRow = RowOf<typeof botVisitColumns>
export type LinkClickRow = RowOf<typeof linkClickColumns>
export type ReplayChunkRow = RowOf<typeof replayChunkColumns>

/** Bytes that no row of a stream exceeds, by the bounds of its fields: an event has about 40 KB at most. */
const rowBytesMax = 64 * 1024

/** The tables that are loaded from the log, each from the stream of its name. */
export const streams = {
  events: { columns: eventColumns, rowBytesMax },
  bot_visits: { columns: botVisitColumns, rowBytesMax },
  link_clicks: { columns: linkClickColumns, rowBytesMax },
  replay_chunks: { columns: replayChunkColumns, rowBytesMax: replayRowBytesMax },
} as const
export type StreamName = keyof typeof streams

/** The column lists of every row format that a log may still hold, the current one included. */
const columnsByFormat: Readonly<Record<number, Readonly<Record<StreamName, readonly Column[]>>>> = {
  1: {
    events: eventColumns,
    bot_visits: botVisitColumns,
    link_clicks: linkClickColumns,
    replay_chunks: replayChunkColumns,
  },
}

/** The columns of rows in `format`; undefined for one that this version doesn't know. */
export function columnsOf(stream: StreamName, format: number): readonly Column[] | undefined {
  return columnsByFormat[format]?.[stream]
}

/** Kinds of requests for a short link; only `click` is a person's. */
export const linkClickKinds = { click: 1, head: 2, prefetch: 3, preview: 4, bot: 5 } as const

/** Bot categories and verification as their columns hold them; 255 of `verified` is "nothing to check by". */
export const botCategories = {
  search: 1,
  ai_training: 2,
  ai_search: 3,
  ai_assistant: 4,
  social_preview: 5,
  seo: 6,
  monitoring: 7,
  feed: 8,
  archiver: 9,
  security: 10,
  other: 11,
} as const
export type BotCategory = keyof typeof botCategories
export const botVerified = { no: 0, yes: 1, unknown: 255 } as const
export const verificationMethods = { none: 0, ip_range: 1, reverse_dns: 2 } as const
/** Who told of a visit. `track_event` is no visit: an event beside a page view, by a crawler that runs the page's script. */
export const botReporters = { track: 1, bots_endpoint: 2, track_event: 3 } as const
