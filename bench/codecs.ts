/**
 * Bytes a row of `events`, by column and codec: what decisions/0006 rests on. `node dist/bench/codecs.js [EVENTS]` prints
 * it as a table. The codecs compared are those in `alternatives`; `present` is what the migration says.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouse, connectClickHouse } from '../clickhouse/client.ts'
import { migrateClickHouse } from '../clickhouse/migrate.ts'
import { type EventRow, eventColumns } from '../schemas/event/row.ts'
import { compileRowEncoder, rowBytesBound } from '../schemas/event/row-codec.ts'
import { prepareClickHouse } from '../start/stores/clickhouse.ts'
import { type DayOptions, dayOfEvents } from './data/day-of-events.ts'

const day: DayOptions = { events: 1_000_000, workspaces: 20, seed: 20_261_120, start: Date.UTC(2026, 10, 19) }
const rowsPerInsert = 100_000
const longMs = 600_000

type Alternative = (column: DeclaredColumn) => string | undefined
interface DeclaredColumn {
  readonly name: string
  readonly type: string
}

const isNumber = ({ type }: DeclaredColumn) => /^(UInt|Float|DateTime|Enum)/.test(type)
const isInteger = ({ type }: DeclaredColumn) => /^(UInt|DateTime|Enum)/.test(type)
/** A codec that doesn't fit a column's type is replaced by ZSTD(1) there. */
const alternatives: Record<string, Alternative> = {
  LZ4: () => 'LZ4',
  'ZSTD(1)': () => 'ZSTD(1)',
  'ZSTD(3)': () => 'ZSTD(3)',
  'ZSTD(6)': () => 'ZSTD(6)',
  'Delta, ZSTD(1)': (column) => (isInteger(column) ? 'Delta, ZSTD(1)' : undefined),
  'DoubleDelta, ZSTD(1)': (column) => (isInteger(column) ? 'DoubleDelta, ZSTD(1)' : undefined),
  'T64, ZSTD(1)': (column) => (isInteger(column) ? 'T64, ZSTD(1)' : undefined),
  'Gorilla, ZSTD(1)': (column) => (isNumber(column) ? 'Gorilla, ZSTD(1)' : undefined),
}

interface Measured {
  /** Compressed bytes a row. */
  readonly bytes: Map<string, number>
  /** Time to write the table once, sorted, with this codec. */
  readonly seconds: number
}

async function main(events: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-codecs-'))
  const store = await prepareClickHouse(join(folder, 'clickhouse'))
  const child = store.spawn()
  const ch = connectClickHouse(store.url)
  try {
    await store.ready(child)
    await migrateClickHouse(ch)
    await fill(ch, { ...day, events })
    const columns = await ch.query<DeclaredColumn>(
      `SELECT name, type FROM system.columns
       WHERE database = currentDatabase() AND table = 'events' AND default_kind NOT IN ('EPHEMERAL', 'ALIAS') ORDER BY position`,
    )
    const measured: Record<string, Measured> = { present: await measure(ch, 'present', []) }
    for (const [name, codecOf] of Object.entries(alternatives)) {
      const changes = columns.map((column) => `MODIFY COLUMN ${column.name} CODEC(${codecOf(column) ?? 'ZSTD(1)'})`)
      measured[name] = await measure(ch, name, changes)
    }
    print(columns, measured)
  } finally {
    await ch.close()
    const ended = once(child, 'exit')
    child.kill(store.endSignal)
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Into `events`, as shipping would: by arrival, in large inserts. */
async function fill(ch: ClickHouse, options: DayOptions): Promise<void> {
  const encode = compileRowEncoder<EventRow>(eventColumns)
  let pieces: Buffer[] = []
  let inserts = 0
  const flush = async () => {
    const token = `codecs-${inserts++}`
    const columns = eventColumns.map(({ name }) => name)
    await ch.insertRows({ table: 'events', columns, bytes: pieces, token, queryId: token, deadlineMs: longMs })
    pieces = []
  }
  for (const row of dayOfEvents(options)) {
    const buffer = Buffer.allocUnsafe(rowBytesBound(eventColumns, row))
    pieces.push(buffer.subarray(0, encode(row, buffer, 0)))
    if (pieces.length === rowsPerInsert) await flush()
  }
  if (pieces.length > 0) await flush()
}

/** Copies all rows into a table as `events` with these changes, merged into one part. */
async function measure(ch: ClickHouse, name: string, changes: readonly string[]): Promise<Measured> {
  const table = 'measured'
  const settings = { allow_suspicious_codecs: 1, max_insert_threads: 1 }
  await ch.command(`DROP TABLE IF EXISTS ${table} SYNC`)
  await ch.command(`CREATE TABLE ${table} AS events`)
  // A small part is kept in one file, which has no size by column.
  await ch.command(`ALTER TABLE ${table} MODIFY SETTING min_bytes_for_wide_part = 0`)
  if (changes.length > 0) await ch.command(`ALTER TABLE ${table} ${changes.join(', ')}`, {}, { settings })
  await ch.command(`INSERT INTO ${table} SELECT * FROM events`, {}, { deadlineMs: longMs, settings })
  const startedAt = performance.now()
  await ch.command(`OPTIMIZE TABLE ${table} FINAL`, {}, { deadlineMs: longMs })
  const seconds = (performance.now() - startedAt) / 1000
  const rows = await ch.query<{ column: string; bytes: number; rows: number }>(
    `SELECT column, sum(column_data_compressed_bytes) AS bytes, sum(rows) AS rows FROM system.parts_columns
     WHERE database = currentDatabase() AND table = '${table}' AND active GROUP BY column`,
  )
  process.stderr.write(`${name}: ${seconds.toFixed(1)} s\n`)
  return { bytes: new Map(rows.map((row) => [row.column, row.bytes / row.rows])), seconds }
}

function print(columns: readonly DeclaredColumn[], measured: Record<string, Measured>): void {
  const names = Object.keys(measured)
  const line = (cells: readonly string[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
  line(['column', ...names])
  line(['---', ...names.map(() => '---')])
  for (const { name } of columns) {
    line([name, ...names.map((each) => measured[each]!.bytes.get(name)!.toFixed(3))])
  }
  const total = ({ bytes }: Measured) => [...bytes.values()].reduce((sum, each) => sum + each, 0)
  line(['all', ...names.map((each) => total(measured[each]!).toFixed(1))])
  line(['seconds of a merge', ...names.map((each) => measured[each]!.seconds.toFixed(1))])
}

await main(Number(process.argv[2] ?? day.events))
