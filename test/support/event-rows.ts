/** Rows of `events` and `bot_visits` for tests, with readable defaults, put straight into ClickHouse. */
import { emptyBotVisitRow, emptyEventRow } from '../../schemas/event/empty-row.ts'
import { eventTypes } from '../../schemas/event/event-fields.ts'
import {
  type BotVisitRow,
  botVisitColumns,
  devices,
  type EventRow,
  eventColumns,
  type Hash64,
  type Kind,
  kinds,
  vitalMetrics,
} from '../../schemas/event/row.ts'
import { compileRowEncoder, rowBytesBound } from '../../schemas/event/row-codec.ts'

/** A test's event; omitted fields are those of a browser's plain pageview. */
export interface EventLike
  extends Partial<
    Omit<EventRow, 'event_type' | 'kind' | 'device' | 'metric' | 'occurred_at' | 'visitor' | 'email_hash'>
  > {
  kind?: Kind
  /** ISO text or milliseconds. */
  occurred_at?: string | number
  visitor?: number | Hash64
  email_hash?: number | Hash64
  device?: keyof typeof devices
  metric?: keyof typeof vitalMetrics
}

export type BotVisitLike = Partial<Omit<BotVisitRow, 'occurred_at'>> & { occurred_at?: string | number }

const eventTypeOf: Partial<Record<Kind, number>> = { identify: eventTypes.identify, conversion: eventTypes.conversion }
const eventNameOf: Partial<Record<Kind, string>> = {
  custom: 'signup',
  autocapture: 'button_click',
  conversion: 'purchase',
}
const encodeEvent = compileRowEncoder<EventRow>(eventColumns)
const encodeBotVisit = compileRowEncoder<BotVisitRow>(botVisitColumns)
let lastId = 0

/**
 * A row of `events`: of workspace 1, visitor 1 in its session 1001, unless said otherwise. Ids grow from call to call.
 * A visitor's session, where none is named, is 1000 + visitor; visitor 0 has none.
 */
export function makeEventRow(event: EventLike = {}): EventRow {
  const kind = event.kind ?? 'pageview'
  const visitor = hash(event.visitor ?? 1)
  const occurredAt = time(event.occurred_at ?? '2026-11-20T12:00:00Z')
  const path = event.path ?? '/'
  lastId += 1
  return {
    ...emptyEventRow(),
    id: lastId,
    workspace_id: 1,
    received_at: occurredAt,
    session: visitor.lo === 0 && visitor.hi === 0 ? 0 : 1000 + visitor.lo,
    session_named: 1,
    event_name: eventNameOf[kind] ?? kind,
    anonymous_id: visitor.lo === 0 ? '' : `visitor-${visitor.lo}`,
    url: `https://example.com${path}`,
    source: 'direct',
    medium: 'none',
    browser: 'Chrome',
    os: 'Windows',
    properties: '{}',
    ...event,
    path,
    kind: kinds[kind],
    event_type: eventTypeOf[kind] ?? eventTypes.track,
    occurred_at: occurredAt,
    visitor,
    email_hash: hash(event.email_hash ?? 0),
    device: devices[event.device ?? 'desktop'],
    metric: vitalMetrics[event.metric ?? 'none'],
  }
}

export function makeBotVisitRow(visit: BotVisitLike = {}): BotVisitRow {
  const occurredAt = time(visit.occurred_at ?? '2026-11-20T12:00:00Z')
  lastId += 1
  return {
    ...emptyBotVisitRow(),
    id: lastId,
    workspace_id: 1,
    received_at: occurredAt,
    category: 1,
    verified: 255,
    reported_by: 1,
    status_code: 200,
    method: 'GET',
    path: '/',
    url: 'https://example.com/',
    user_agent: 'ExampleBot/1.0',
    bot_name: 'ExampleBot',
    operator: 'Example',
    ...visit,
    occurred_at: occurredAt,
  }
}

/** The part of the ClickHouse client that inserting needs. */
export interface RowTarget {
  insertRows(insert: {
    table: string
    columns: readonly string[]
    bytes: Uint8Array[]
    token: string
    queryId: string
    deadlineMs: number
  }): Promise<void>
}

let inserts = 0

export function insertEventRows(target: RowTarget, rows: readonly EventRow[]): Promise<void> {
  return insert(target, 'events', eventColumns, encodeEvent, rows)
}

export function insertBotVisitRows(target: RowTarget, rows: readonly BotVisitRow[]): Promise<void> {
  return insert(target, 'bot_visits', botVisitColumns, encodeBotVisit, rows)
}

async function insert<Row extends EventRow | BotVisitRow>(
  target: RowTarget,
  table: string,
  columns: typeof eventColumns | typeof botVisitColumns,
  encode: (row: Row, buffer: Buffer, at: number) => number,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return
  const buffer = Buffer.alloc(rows.reduce((sum, row) => sum + rowBytesBound(columns, row), 0))
  let end = 0
  for (const row of rows) end = encode(row, buffer, end)
  inserts += 1
  const token = `test-${process.pid}-${Date.now()}-${inserts}`
  await target.insertRows({
    table,
    columns: columns.map((column) => column.name),
    bytes: [buffer.subarray(0, end)],
    token,
    queryId: token,
    deadlineMs: 120_000,
  })
}

function time(value: string | number): number {
  return typeof value === 'number' ? value : Date.parse(value)
}

function hash(value: number | Hash64): Hash64 {
  return typeof value === 'number' ? { hi: 0, lo: value } : value
}
