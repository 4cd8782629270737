/** What the tables of an installation take on disk. */
import type { Installation } from './installation.ts'

export interface TableSize {
  readonly table: string
  /** Of all active parts. */
  readonly bytes: number
  readonly rows: number
  readonly parts: number
}

/** Largest first. */
export function readTableSizes({ ch }: Installation): Promise<TableSize[]> {
  return ch.query<TableSize>(
    `SELECT table, sum(bytes_on_disk) AS bytes, sum(rows) AS rows, count() AS parts FROM system.parts
     WHERE database = currentDatabase() AND active GROUP BY table ORDER BY bytes DESC`,
  )
}

export function bytesOf(sizes: readonly TableSize[]): number {
  return sizes.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** `events 34.1 B, visits 4.2 B`: bytes an event, by table. */
export function describeSizes(sizes: readonly TableSize[], events: number): string {
  return sizes
    .filter(({ rows }) => rows > 0)
    .map(({ table, bytes, rows, parts }) => `${table} ${(bytes / events).toFixed(2)} B (${rows} rows, ${parts} parts)`)
    .join(', ')
}
