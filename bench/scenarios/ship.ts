/**
 * Ready segments into ClickHouse until all aggregates have them, beside the same segments into a table like `events` that
 * nothing reads, alternating. The aggregator's own run is called at once after the inserts, so that its pause between two
 * runs isn't measured.
 */

import type { BenchSettings, EventCounts, ScenarioResult } from '../bench.ts'
import { dayOfEvents } from '../day-of-events.ts'
import { Installation } from '../installation.ts'
import { median } from '../latency.ts'
import { encodeSegments } from '../segments.ts'
import type { SegmentsOutcome } from '../ship-round.ts'
import { shipAggregated, shipBare } from '../ship-round.ts'

const dayMs = 86_400_000
const day = { workspaces: 20, seed: 20_261_120 }
const events = 600_000
const eventsShort = 5_000

interface Pair {
  readonly bare: SegmentsOutcome
  readonly aggregated: SegmentsOutcome
}

export async function ship(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const rows = isShort ? eventsShort : events
  const start = (Math.floor(Date.now() / dayMs) - 1) * dayMs
  const segments = encodeSegments(dayOfEvents({ ...day, events: rows, start }))
  const installation = await Installation.start(cores, { services: [] })
  try {
    await installation.ch.command('CREATE TABLE events_bare AS events')
    const pairs: Pair[] = []
    // One more at first, which warms both up.
    for (let round = 0; round <= settings.rounds; round++) {
      const bare = await shipBare(installation, segments, cores)
      await installation.untilQuiet()
      const aggregated = await shipAggregated(installation, segments, cores)
      await installation.untilQuiet()
      pairs.push({ bare, aggregated })
      say(`  ${describe({ bare, aggregated })}`)
    }
    const measured = pairs.slice(1)
    const quiet = measured.filter((pair) => !isDisturbed(pair))
    const kept = quiet.length > 0 ? quiet : measured
    const of = (read: (pair: Pair) => number) => median(kept.map(read))
    return {
      figures: [
        {
          measure: 'rows a second until in all aggregates ÷ into the bare table',
          value: of(({ bare, aggregated }) => bare.seconds / aggregated.seconds),
          unit: 'ratio',
          firstStage: 0.25,
          goal: 0.5,
        },
        {
          measure: 'the same per CPU-second of ClickHouse, Postgres and the aggregator',
          value: of(({ bare, aggregated }) => bare.cpuSeconds / aggregated.cpuSeconds),
          unit: 'ratio',
          eventsPerCpuSecond: {
            product: Math.round(of(({ aggregated }) => rows / aggregated.cpuSeconds)),
            reference: Math.round(of(({ bare }) => rows / bare.cpuSeconds)),
          },
        },
        {
          measure: 'until in all aggregates',
          value: of(({ aggregated }) => rows / aggregated.seconds),
          unit: 'events/s',
        },
        { measure: 'into the bare table', value: of(({ bare }) => rows / bare.seconds), unit: 'events/s' },
      ],
      counts: await count(installation, pairs, rows),
      remarks: [
        'Acknowledged are the rows that runs of the aggregator took up.',
        ...(quiet.length < measured.length
          ? [`${measured.length - quiet.length} of ${measured.length} pairs had others on a core for over 10 %.`]
          : []),
      ],
      settings: { rows, segments: segments.length, ...day },
      rounds: pairs,
    }
  } finally {
    await installation.stop()
  }
}

function isDisturbed({ bare, aggregated }: Pair): boolean {
  return bare.disturbedBy !== '' || aggregated.disturbedBy !== ''
}

function describe({ bare, aggregated }: Pair): string {
  const ratio = (bare.seconds / aggregated.seconds).toFixed(3)
  const perCpu = (bare.cpuSeconds / aggregated.cpuSeconds).toFixed(3)
  return `bare ${bare.seconds.toFixed(2)} s, aggregated ${aggregated.seconds.toFixed(2)} s (inserts ${aggregated.insertSeconds.toFixed(2)} s), ratio ${ratio}, per CPU-second ${perCpu}`
}

async function count({ ch }: Installation, pairs: readonly Pair[], rows: number): Promise<EventCounts> {
  const [stored] = await ch.query<{ rows: number; distinct: number }>(
    'SELECT count() AS rows, uniqExact(id) AS distinct FROM events',
    {},
    { deadlineMs: 120_000 },
  )
  return {
    sent: rows * pairs.length,
    acknowledged: pairs.reduce((sum, { aggregated }) => sum + aggregated.rows, 0),
    stored: stored!.rows,
    repeated: stored!.rows - stored!.distinct,
  }
}
