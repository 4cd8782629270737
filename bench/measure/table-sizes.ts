/** Sizes of an installation's tables on disk. */
import type { Figure } from '../bench.ts'
import type { Installation } from '../installation.ts'

/** The targets are for this many events. */
const eventsOfTargets = 100_000_000

export interface TableSize {
  readonly table: string
  /** Bytes of all active parts. */
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

/** Bytes an event, in all tables of events and what is derived from them, and apart. */
export function storageFigures(sizes: readonly TableSize[], events: number): Figure[] {
  const raw = sizes.filter(({ table }) => table === 'events')
  const derived = sizes.filter(({ table }) => table !== 'events' && table !== 'bot_visits')
  const perEvent = (measured: readonly TableSize[]) => measured.reduce((sum, { bytes }) => sum + bytes, 0) / events
  const targets: Partial<Figure> = events === eventsOfTargets ? { firstStage: 52, goal: 42 } : {}
  return [
    { measure: `bytes an event of ${events}, all tables`, value: perEvent(sizes), unit: 'B', ...targets },
    { measure: `of these, raw rows of ${events} events`, value: perEvent(raw), unit: 'B' },
    { measure: `of these, derived rows of ${events} events`, value: perEvent(derived), unit: 'B' },
  ]
}

/** Sizes by table, for an installation that gets no events. */
export function describeStorage(sizes: readonly TableSize[], events: number): string {
  const tables = sizes
    .filter(({ rows }) => rows > 0)
    .map(({ table, bytes, rows, parts }) => `${table} ${(bytes / events).toFixed(2)} B (${rows} rows, ${parts} parts)`)
  return `Bytes an event of ${events}, of all active parts after merges have calmed down: ${tables.join(', ')}.`
}
