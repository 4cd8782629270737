/** Bytes an event on disk, aggregates included, of a month of made-up events. */
import type { BenchSettings, Figure, ScenarioResult } from '../bench.ts'
import { allServices, Installation } from '../installation.ts'
import { countSeeded, seed, untilSwept } from '../seeded.ts'
import { bytesOf, describeSizes, readTableSizes } from '../table-sizes.ts'

const shape = { workspaces: 20, days: 30 }
/** What the targets are of. */
const eventsOfTargets = 100_000_000

export async function storage({ cores, sizes, say }: BenchSettings): Promise<ScenarioResult> {
  const events = sizes.at(-1)!
  const installation = await Installation.start(cores, { services: allServices })
  try {
    const seeded = await seed(installation, { events, ...shape })
    say(`  ${events} events seeded, ${seeded.rows_per_second} a second`)
    await untilSwept(installation)
    const tables = await readTableSizes(installation)
    const raw = tables.filter(({ table }) => table === 'events')
    const aggregates = tables.filter(({ table }) => table !== 'events' && table !== 'bot_visits')
    const perEvent = (measured: typeof tables) => bytesOf(measured) / events
    say(`  ${describeSizes(tables, events)}`)
    const targets: Partial<Figure> = events === eventsOfTargets ? { firstStage: 60, goal: 35 } : {}
    return {
      figures: [
        { measure: `bytes an event of ${events}, all tables`, value: perEvent(tables), unit: 'B', ...targets },
        { measure: 'of these, raw rows', value: perEvent(raw), unit: 'B' },
        { measure: 'of these, aggregates', value: perEvent(aggregates), unit: 'B' },
      ],
      counts: await countSeeded(installation, seeded, shape.days + 1),
      remarks: [
        `By table, of all active parts after merges have calmed down: ${describeSizes(tables, events)}.`,
        'Events of the last two days have a random client_event_id, older ones none.',
      ],
      settings: { events, ...shape },
      rounds: tables,
    }
  } finally {
    await installation.stop()
  }
}
