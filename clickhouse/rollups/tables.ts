/**
 * Rows of the derived tables that the fold computes here: their columns, and how they are written. The tables themselves
 * stand in migrations/0004_derived_rows.sql; test/integration/row-parity.test.ts holds both together. `cells` are computed by
 * ClickHouse from these (cells.ts).
 */

import { randomUUID } from 'node:crypto'
import type { IdRange } from '../../schemas/event/id-ranges.ts'
import type { ClickHouse } from '../client.ts'
import { type SumName, sumNames } from './appearance.ts'

/** Appearances of a session's row, as lists of equal length. pipeline/fold/appearances.ts defines their elements. */
export type Seen = Record<'kind' | 'prev_day' | 'after_ms' | SumName, number[]> & Record<'key' | 'detail', string[]>

/** Numbers of 64 bits are decimal texts, times milliseconds, and flags 0 or 1. */
export interface SessionRow {
  workspace_id: number
  build: number
  day: number
  visitor: string
  session: string
  version: number
  first_at: number
  lasted_ms: number
  /** 1: the session begins on this day; 2: on the day before; 0: earlier, or a server's events. */
  nth_day: number
  source: string
  medium: string
  campaign: string
  device: string
  browser: string
  os: string
  country: string
  region: string
  region_name: string
  /** As filters and lists name it: `cityKey`. */
  city: string
  /** These are of the entry, as breakdowns name them (entry-keys.ts). */
  hostname: string
  referrer: string
  content: string
  language: string
  screen: string
  entry_path: string
  exit_path: string
  /** Pages of the other one of the session's first two days, as lists of equal length. */
  other_pages: { path: string[]; pageviews: number[] }
  seen: Seen
  /** Set in the row of workspace 0 alone: the events that the rows of all workspaces reflect. */
  folded: [from: number, through: number][]
}

export interface VisitorRow {
  workspace_id: number
  build: number
  visitor: string
  day: number
  version: number
  first_at: number
  lasted_ms: number
  hours: number
  sessions: number
  events: number
  conversions: number
  keys: string[]
  touch_after_ms: number
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
  touched_by: string
  path: string
  device: string
  browser: string
  country: string
}

/** Columns of `seen`, in the order in which they are written. */
const seenNames = [
  'kind',
  'key',
  'detail',
  'prev_day',
  'after_ms',
  ...sumNames,
] as const satisfies readonly (keyof Seen)[]

/** In the order in which they are written. */
export const sessionColumns: readonly string[] = [
  'workspace_id',
  'build',
  'day',
  'visitor',
  'session',
  'version',
  'first_at',
  'lasted_ms',
  'nth_day',
  'source',
  'medium',
  'campaign',
  'device',
  'browser',
  'os',
  'country',
  'region',
  'region_name',
  'city',
  'hostname',
  'referrer',
  'content',
  'language',
  'screen',
  'entry_path',
  'exit_path',
  'other_pages.path',
  'other_pages.pageviews',
  ...seenNames.map((name) => `seen.${name}`),
  'folded',
]
export const visitorColumns = [
  'workspace_id',
  'build',
  'visitor',
  'day',
  'version',
  'first_at',
  'lasted_ms',
  'hours',
  'sessions',
  'events',
  'conversions',
  'keys',
  'touch_after_ms',
  'touch_source',
  'touch_medium',
] as const satisfies readonly (keyof VisitorRow)[]
export const creditColumns = [
  'workspace_id',
  'build',
  'day',
  'id',
  'version',
  'occurred_at',
  'visitor',
  'session',
  'rule',
  'source',
  'medium',
  'touched_at',
  'touched_by',
  'path',
  'device',
  'browser',
  'country',
] as const satisfies readonly (keyof CreditRow)[]

/** Makes lines of JSONCompactEachRow. A column's name with a dot is of a list in a record. */
export function makeLiner(columns: readonly string[]): (row: object) => string {
  const paths = columns.map((column) => column.split('.') as [string, string?])
  return (row) => {
    const values = paths.map(([name, inner]) => {
      const value = row[name as keyof object] as unknown
      return inner === undefined ? value : (value as Record<string, unknown>)[inner]
    })
    return `${JSON.stringify(values)}\n`
  }
}

const insertDeadlineMs = 120_000

/**
 * One insert of one block, which readers see whole or not at all. A repeat under the same token stores nothing.
 * @throws StoreUnavailable when the outcome is unknown
 */
export async function insertLines(
  ch: Pick<ClickHouse, 'insertRows'>,
  table: 'sessions' | 'visitors' | 'credits',
  columns: readonly string[],
  bytes: Buffer[],
  token: string,
): Promise<void> {
  await ch.insertRows({
    table,
    columns,
    format: 'JSONCompactEachRow',
    bytes,
    token: `${table}-${token}`,
    queryId: randomUUID(),
    deadlineMs: insertDeadlineMs,
  })
}

/** Default values of a row's columns. */
export function emptySession(): SessionRow {
  return {
    workspace_id: 0,
    build: 0,
    day: 0,
    visitor: '0',
    session: '0',
    version: 0,
    first_at: 0,
    lasted_ms: 0,
    nth_day: 0,
    source: '',
    medium: '',
    campaign: '',
    device: '',
    browser: '',
    os: '',
    country: '',
    region: '',
    region_name: '',
    city: '',
    entry_path: '',
    exit_path: '',
    hostname: '',
    referrer: '',
    content: '',
    language: '',
    screen: '',
    other_pages: { path: [], pageviews: [] },
    seen: nothingSeen(),
    folded: [],
  }
}

export function nothingSeen(): Seen {
  // Written out, without spreading: there is one for each session.
  return {
    kind: [],
    key: [],
    detail: [],
    prev_day: [],
    after_ms: [],
    sessions: [],
    fresh: [],
    begun: [],
    bounces: [],
    duration_ms: [],
    pageviews: [],
    events: [],
    conversions: [],
    samples: [],
    exits: [],
    engaged_ms: [],
    timed_views: [],
    depths: [],
    scrolled: [],
  }
}

/** The row of workspace 0 that lists a fold's coverage. @param asOf milliseconds since 1970 */
export function coverageRow(version: number, folded: readonly IdRange[], asOf: number): SessionRow {
  return {
    ...emptySession(),
    version,
    first_at: asOf,
    folded: folded.map(({ from, through }) => [from, through]),
  }
}
