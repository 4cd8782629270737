/**
 * Rows of the derived tables that the fold computes here: their columns, and how they are written. The tables themselves
 * stand in migrations/0005_sessions.sql; test/integration/row-parity.test.ts holds both together. `cells` are computed by
 * ClickHouse from these (cells.ts).
 */

import { randomUUID } from 'node:crypto'
import type { IdRange } from '../../schemas/id-ranges.ts'
import type { ClickHouse } from '../client.ts'

/** `prev_day` of a visitor's first appearance, and of one in a later row of the same day. */
export const neverBefore = 0
export const sameDay = 65_535

/** Numbers of 64 bits are decimal texts, times milliseconds, and flags 0 or 1. */
export interface SessionRow {
  workspace_id: number
  build: number
  day: number
  visitor: string
  session: string
  version: number
  first_at: number
  last_at: number
  prev_day: number
  continued: number
  begins: number
  events: number
  pageviews: number
  conversions: number
  session_events: number
  session_pageviews: number
  duration_ms: number
  is_bounce: number
  source: string
  medium: string
  campaign: string
  device: string
  browser: string
  os: string
  country: string
  has_entry: number
  entry_path: string
  source_prev_day: number
  device_prev_day: number
  browser_prev_day: number
  country_prev_day: number
  converted_at: number
  converting_prev_day: number
  page_path: string[]
  page_views: number[]
  page_after_ms: number[]
  page_prev_day: number[]
  page_continued: number[]
  /** Of the row of workspace 0 alone: which events the rows of all workspaces reflect. */
  folded: [from: number, through: number][]
}

export interface VisitorRow {
  workspace_id: number
  build: number
  visitor: string
  day: number
  version: number
  first_at: number
  last_at: number
  hours: number
  sessions: number
  events: number
  conversions: number
  keys: string[]
  touch_at: number
  touch_source: string
  touch_medium: string
}

export interface CreditRow {
  workspace_id: number
  build: number
  day: number
  id: number
  version: number
  occurred_at: number
  visitor: string
  session: string
  rule: 'touch' | 'session' | 'event'
  source: string
  medium: string
  touched_at: number
  path: string
  device: string
  browser: string
  country: string
}

/** In the order in which they are written. */
export const sessionColumns = [
  ...['workspace_id', 'build', 'day', 'visitor', 'session', 'version', 'first_at', 'last_at', 'prev_day', 'continued'],
  ...[
    'begins',
    'events',
    'pageviews',
    'conversions',
    'session_events',
    'session_pageviews',
    'duration_ms',
    'is_bounce',
  ],
  ...['source', 'medium', 'campaign', 'device', 'browser', 'os', 'country', 'has_entry', 'entry_path'],
  ...[
    'source_prev_day',
    'device_prev_day',
    'browser_prev_day',
    'country_prev_day',
    'converted_at',
    'converting_prev_day',
  ],
  ...['page_path', 'page_views', 'page_after_ms', 'page_prev_day', 'page_continued', 'folded'],
] as readonly (keyof SessionRow)[]
export const visitorColumns = [
  ...['workspace_id', 'build', 'visitor', 'day', 'version', 'first_at', 'last_at', 'hours', 'sessions', 'events'],
  ...['conversions', 'keys', 'touch_at', 'touch_source', 'touch_medium'],
] as readonly (keyof VisitorRow)[]
export const creditColumns = [
  ...['workspace_id', 'build', 'day', 'id', 'version', 'occurred_at', 'visitor', 'session', 'rule', 'source', 'medium'],
  ...['touched_at', 'path', 'device', 'browser', 'country'],
] as readonly (keyof CreditRow)[]

/** Lines of JSONCompactEachRow, in pieces of some thousand rows. */
export function linesOf<Row extends object>(columns: readonly (keyof Row)[], rows: readonly Row[]): Buffer[] {
  const pieces: Buffer[] = []
  for (let from = 0; from < rows.length; from += rowsPerPiece) {
    let text = ''
    for (const row of rows.slice(from, from + rowsPerPiece)) {
      text += `${JSON.stringify(columns.map((column) => row[column]))}\n`
    }
    pieces.push(Buffer.from(text))
  }
  return pieces
}

const rowsPerPiece = 4_096
const insertDeadlineMs = 120_000

/**
 * One insert of one block, which readers see whole or not at all. A repeat under the same token stores nothing.
 * @throws StoreUnavailable when the outcome is unknown
 */
export async function insertRowsOf<Row extends object>(
  ch: Pick<ClickHouse, 'insertRows'>,
  table: 'sessions' | 'visitors' | 'credits',
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
  token: string,
): Promise<void> {
  if (rows.length === 0) return
  await ch.insertRows({
    ...{ table, columns, format: 'JSONCompactEachRow' },
    bytes: linesOf(columns, rows),
    ...{ token: `${table}-${token}`, queryId: randomUUID(), deadlineMs: insertDeadlineMs },
  })
}

/** What a row has where it has nothing to say. */
export const noSession: SessionRow = {
  ...{ workspace_id: 0, build: 0, day: 0, visitor: '0', session: '0', version: 0, first_at: 0, last_at: 0 },
  ...{ prev_day: sameDay, continued: 0, begins: 0, events: 0, pageviews: 0, conversions: 0 },
  ...{ session_events: 0, session_pageviews: 0, duration_ms: 0, is_bounce: 0 },
  ...{
    source: '',
    medium: '',
    campaign: '',
    device: '',
    browser: '',
    os: '',
    country: '',
    has_entry: 0,
    entry_path: '',
  },
  ...{ source_prev_day: sameDay, device_prev_day: sameDay, browser_prev_day: sameDay, country_prev_day: sameDay },
  ...{ converted_at: 0, converting_prev_day: sameDay },
  ...{ page_path: [], page_views: [], page_after_ms: [], page_prev_day: [], page_continued: [] },
  folded: [],
}

/** The row of workspace 0. @param asOf milliseconds since 1970 */
export function markRow(version: number, folded: readonly IdRange[], asOf: number): SessionRow {
  return {
    ...noSession,
    ...{ version, first_at: asOf, last_at: asOf, folded: folded.map(({ from, through }) => [from, through]) },
  }
}
