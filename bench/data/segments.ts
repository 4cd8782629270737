/** Segments of events as ingest's log holds them, in memory: rows as RowBinary, whose ids can be set anew. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { type EventRow, eventColumns } from '../../schemas/event/row.ts'
import { compileRowEncoder, rowBytesBound } from '../../schemas/event/row-codec.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { clickhouseInsertDeadlineMs } from '../../schemas/limits/store-limits.ts'

export interface Segment {
  readonly bytes: Buffer
  /** Where each row begins: with its id. */
  readonly rows: readonly number[]
}

/** About 14 MB: what one insert takes. */
const rowsPerSegment = 60_000

export function encodeSegments(rows: Iterable<EventRow>): Segment[] {
  const encode = compileRowEncoder<EventRow>(eventColumns)
  const segments: Segment[] = []
  let pieces: Buffer[] = []
  const seal = () => {
    let at = 0
    const starts = pieces.map(({ length }) => {
      at += length
      return at - length
    })
    if (pieces.length > 0) segments.push({ bytes: Buffer.concat(pieces), rows: starts })
    pieces = []
  }
  for (const row of rows) {
    const buffer = Buffer.allocUnsafe(rowBytesBound(eventColumns, row))
    pieces.push(buffer.subarray(0, encode(row, buffer, 0)))
    if (pieces.length === rowsPerSegment) seal()
  }
  seal()
  return segments
}

/**
 * Gives the rows the ids of segment numbers from `first` on.
 * @returns the last id
 */
export function stampIds(segments: readonly Segment[], first: number): number {
  let last = 0
  for (const [at, { bytes, rows }] of segments.entries()) {
    for (const [index, start] of rows.entries()) {
      last = (first + at) * segmentRowsMax + index
      bytes.writeUInt32LE(last % 2 ** 32, start)
      bytes.writeUInt32LE(Math.floor(last / 2 ** 32), start + 4)
    }
  }
  return last
}

/** As the shipper does: one insert after another. */
export async function insertSegments(
  ch: ClickHouse,
  table: string,
  segments: readonly Segment[],
  name: string,
): Promise<void> {
  for (const [at, { bytes }] of segments.entries()) {
    const token = `${name}-${at}`
    await ch.insertRows({
      table,
      columns: eventColumns.map((column) => column.name),
      bytes: [bytes],
      token,
      queryId: token,
      deadlineMs: clickhouseInsertDeadlineMs,
    })
  }
}
