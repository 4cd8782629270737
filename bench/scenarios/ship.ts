/**
 * Ready segments into ClickHouse until all derived tables have them, beside the same segments into a table like `events` that
 * nothing reads, alternating. A fold is called at once after the inserts, so that the pause between two folds isn't
 * measured.
 */
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { BenchSettings, EventCounts, ScenarioResult } from '../bench.ts'
import { dayOfEvents } from '../data/day-of-events.ts'
import { encodeSegments } from '../data/segments.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import type { SegmentsOutcome } from '../ship-round.ts'
import { shipBare, shipFolded } from '../ship-round.ts'

const day = { workspaces: 20, seed: 20_261_120 }
const events = 600_000
const eventsShort = 5_000

interface Pair {
  readonly bare: SegmentsOutcome
  readonly folded: SegmentsOutcome
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
      const folded = await shipFolded(installation, segments, cores)
      await installation.untilQuiet()
      pairs.push({ bare, folded })
      say(`  ${describe({ bare, folded })}`)
    }
    const measured = pairs.slice(1)
    const quiet = measured.filter((pair) => !isDisturbed(pair))
    const kept = quiet.length > 0 ? quiet : measured
    const of = (read: (pair: Pair) => number) => median(kept.map(read))
    return {
      figures: [
        {
          measure: 'rows a second until in all derived tables ÷ into the bare table',
          value: of(({ bare, folded }) => bare.seconds / folded.seconds),
          unit: 'ratio',
          firstStage: 0.25,
          goal: 0.5,
        },
        {
          measure: 'the same per CPU-second of ClickHouse, Postgres and the fold',
          value: of(({ bare, folded }) => bare.cpuSeconds / folded.cpuSeconds),
          unit: 'ratio',
          eventsPerCpuSecond: {
            product: Math.round(of(({ folded }) => rows / folded.cpuSeconds)),
            reference: Math.round(of(({ bare }) => rows / bare.cpuSeconds)),
          },
        },
        {
          measure: 'until in all derived tables',
          value: of(({ folded }) => rows / folded.seconds),
          unit: 'events/s',
        },
        { measure: 'into the bare table', value: of(({ bare }) => rows / bare.seconds), unit: 'events/s' },
      ],
      counts: await count(installation, pairs, rows),
      remarks: [
        'Acknowledged are the rows that were folded.',
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

function isDisturbed({ bare, folded }: Pair): boolean {
  return bare.disturbedBy !== '' || folded.disturbedBy !== ''
}

function describe({ bare, folded }: Pair): string {
  const ratio = (bare.seconds / folded.seconds).toFixed(3)
  const perCpu = (bare.cpuSeconds / folded.cpuSeconds).toFixed(3)
  return `bare ${bare.seconds.toFixed(2)} s, folded ${folded.seconds.toFixed(2)} s (inserts ${folded.insertSeconds.toFixed(2)} s), ratio ${ratio}, per CPU-second ${perCpu}`
}

async function count({ ch }: Installation, pairs: readonly Pair[], rows: number): Promise<EventCounts> {
  const [stored] = await ch.query<{ rows: number; distinct: number }>(
    'SELECT count() AS rows, uniqExact(id) AS distinct FROM events',
    {},
    { deadlineMs: 120_000 },
  )
  return {
    sent: rows * pairs.length,
    acknowledged: pairs.reduce((sum, { folded }) => sum + folded.rows, 0),
    stored: stored!.rows,
    repeated: stored!.rows - stored!.distinct,
  }
}
