/** Bytes an event on disk: of an installation that gets no events, whose days have cells and whose merges are done. */
import type { BenchSettings, Figure, ScenarioResult } from '../bench.ts'
import { countSeeded, seed, untilSettled } from '../data/seeded.ts'
import { allServices, Installation } from '../installation.ts'
import { onBoth } from '../measure/cores.ts'

const shape = { workspaces: 20, days: 30 }
/** The targets are for this many events. */
const eventsOfTargets = 100_000_000

export async function storage(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, say } = settings
  const events = settings.sizes.at(-1)!
  const installation = await Installation.start(cores, { services: allServices, side: 'both' })
  try {
    const seeded = await seed(installation, { events, ...shape })
    say(`  ${events} events seeded, ${seeded.rows_per_second} a second`)
    await untilSettled(installation)
    const sizes = await readTableSizes(installation)
    const counts = await countSeeded(installation, seeded, shape.days + 1)
    return {
      figures: figuresOf(sizes, events),
      counts,
      remarks: [describe(sizes, events)],
      ...onBoth(cores),
      settings: { events, ...shape },
      rounds: [sizes],
    }
  } finally {
    await installation.stop()
  }
}

interface TableSize {
  readonly table: string
  /** Bytes of all active parts. */
  readonly bytes: number
  readonly rows: number
  readonly parts: number
}

/** Largest first. */
function readTableSizes({ ch }: Installation): Promise<TableSize[]> {
  return ch.query<TableSize>(
    `SELECT table, sum(bytes_on_disk) AS bytes, sum(rows) AS rows, count() AS parts FROM system.parts
     WHERE database = currentDatabase() AND active GROUP BY table ORDER BY bytes DESC`,
  )
}

/** Bytes an event, in all tables of events and what is derived from them, and apart. */
function figuresOf(sizes: readonly TableSize[], events: number): Figure[] {
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

function describe(sizes: readonly TableSize[], events: number): string {
  const tables = sizes
    .filter(({ rows }) => rows > 0)
    .map(({ table, bytes, rows, parts }) => `${table} ${(bytes / events).toFixed(2)} B (${rows} rows, ${parts} parts)`)
  return `Bytes an event of ${events}, of all active parts: ${tables.join(', ')}.`
}
