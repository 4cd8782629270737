/** Chunks of replays as the recorder sends them, with events of rrweb's shape. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { TestIngest } from './ingest.ts'
import type { TestStores } from './stores.ts'

export const browserAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

export interface MadeEvent {
  readonly type: number
  readonly timestamp: number
  readonly data: object
}

export function pack(events: unknown): string {
  return gzipSync(JSON.stringify(events)).toString('base64')
}

/** A click, and a full snapshot of an empty document before it. */
export function madeEvents(at: number, durationMs = 4_000, text = ''): MadeEvent[] {
  return [
    { type: 4, timestamp: at, data: { href: 'https://example.com/', width: 800, height: 600 } },
    { type: 2, timestamp: at + 1, data: { node: { type: 0, id: 1, childNodes: [] }, text } },
    { type: 3, timestamp: at + durationMs, data: { source: 2, type: 2, id: 1, x: 1, y: 1 } },
  ]
}

export interface MadeChunk {
  readonly session?: string
  readonly browser?: string
  readonly page?: string
  readonly sequence?: number
  readonly url?: string
  readonly at?: number
  readonly events?: unknown
}

export function makeChunk(key: string, chunk: MadeChunk = {}): Record<string, unknown> {
  const { session = 's1', browser = 'browser-1', page = 'p1', sequence = 0, at = Date.now() - 10_000 } = chunk
  return {
    tracking_key: key,
    anonymous_id: browser,
    session_id: session,
    page_id: page,
    sequence,
    url: chunk.url ?? 'https://example.com/pricing?a=b',
    timezone: 'Europe/Berlin',
    sent_at: new Date().toISOString(),
    events: pack(chunk.events ?? madeEvents(at)),
  }
}

export function sendChunk(ingest: TestIngest, chunk: MadeChunk = {}, headers: Record<string, string> = {}) {
  return ingest.post('/replay', makeChunk(ingest.key, chunk), { 'User-Agent': browserAgent, ...headers })
}

/** Text of so many letters that gzip makes hardly smaller than three quarters; the same in every run. */
export function incompressible(length: number): string {
  const parts: string[] = []
  for (let at = 0; at * 44 < length; at++) parts.push(createHash('sha256').update(String(at)).digest('base64'))
  return parts.join('').slice(0, length)
}

/** Columns of a row; what isn't named has a value that fits. */
export interface MadeRow {
  readonly workspace_id: number
  readonly session: number
  readonly [column: string]: string | number
}

/** Puts rows where ingest would. */
export async function insertChunks(ch: TestStores['ch'], rows: readonly MadeRow[]): Promise<void> {
  const at = Date.now() - 60_000
  for (const [index, row] of rows.entries()) {
    const events = madeEvents(at)
    const whole = {
      id: nextId++,
      visitor: '1',
      sequence: index,
      duration_ms: 4_000,
      event_count: 3,
      clicks: 1,
      bytes: 100,
      json_bytes: JSON.stringify(events).length,
      device: 'desktop',
      country: 'DE',
      page_id: 'p1',
      session_id: `s${row.session}`,
      anonymous_id: 'browser-1',
      path: '/',
      url: 'https://example.com/',
      browser: 'Chrome',
      os: 'Windows',
      events: pack(events),
      at,
      ...row,
    }
    const { at: occurredAt, ...columns } = whole
    const names = Object.keys(columns)
    const values = Object.values(columns).map((value) => (typeof value === 'number' ? value : `'${value}'`))
    await ch.command(
      `INSERT INTO replay_chunks (${names.join(', ')}, occurred_at, received_at)
       VALUES (${values.join(', ')}, fromUnixTimestamp64Milli(${occurredAt}), fromUnixTimestamp64Milli(${occurredAt}))`,
    )
  }
}

let nextId = 1
