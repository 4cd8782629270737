/** Bytes an event on disk, derived tables included, of a month of made-up events. */
import type { BenchSettings, ScenarioResult } from '../bench.ts'
import { countSeeded, seed, untilSettled } from '../data/seeded.ts'
import { allServices, Installation } from '../installation.ts'
import { describeSizes, describeStorage, readTableSizes, storageFigures } from '../measure/table-sizes.ts'

const shape = { workspaces: 20, days: 30 }

export async function storage({ cores, sizes, say }: BenchSettings): Promise<ScenarioResult> {
  const events = sizes.at(-1)!
  const installation = await Installation.start(cores, { services: allServices })
  try {
    const seeded = await seed(installation, { events, ...shape })
    say(`  ${events} events seeded, ${seeded.rows_per_second} a second`)
    await untilSettled(installation)
    const tables = await readTableSizes(installation)
    say(`  ${describeSizes(tables, events)}`)
    return {
      figures: storageFigures(tables, events),
      counts: await countSeeded(installation, seeded, shape.days + 1),
      remarks: [
        describeStorage(tables, events),
        'Events of the last two days have a random client_event_id, older ones none.',
      ],
      settings: { events, ...shape },
      rounds: tables,
    }
  } finally {
    await installation.stop()
  }
}
