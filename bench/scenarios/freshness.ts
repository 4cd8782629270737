/** From an event's 202 until the overview shows it, while ingest has half of what it can take. */
import type { BenchSettings, EventCounts, ScenarioResult } from '../bench.ts'
import { allServices, Installation } from '../installation.ts'
import { percentile } from '../latency.ts'
import { type PairOptions, runCounted } from '../pairs.ts'
import { type Probed, probe } from '../probe.ts'
import { productSide } from '../reference.ts'
import type { Shape } from '../round.ts'

const shape: Shape = { connections: 64, eventsPerRequest: 1 }
const shareOfMaximum = 0.5
/** The load goes on for so much longer than the probe, at both ends together. */
const aroundSeconds = 4

export async function freshness(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const seconds = isShort ? 3 : settings.sustainedSeconds
  const installation = await Installation.start(cores, { services: allServices })
  const counts: EventCounts = { sent: 0, acknowledged: 0, stored: 0, repeated: 0 }
  try {
    const product = productSide(installation, 'track')
    // Nothing is compared with R here.
    const options: PairOptions = { installation, reference: product, product, settings, counts }
    const requests = isShort ? 4_000 : 200_000
    await runCounted(options, shape, Math.ceil(requests / 4))
    const full = await runCounted(options, shape, requests)
    const rate = Math.round(full.requestsPerSecond * shareOfMaximum)
    say(`  full load ${Math.round(full.requestsPerSecond)}/s; probed at ${rate}/s for ${seconds} s`)
    const [round, probed] = await Promise.all([
      runCounted(options, { ...shape, rate }, rate * (seconds + aroundSeconds)),
      probe(installation, seconds),
    ])
    addProbes(counts, probed)
    const lags = [...probed.lags].sort((a, b) => a - b)
    const at = (share: number) => Math.round(percentile(lags, share) * 10) / 10
    const latency = { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
    say(`  visible after p50 ${latency.p50}, p95 ${latency.p95}, p99 ${latency.p99} ms`)
    return {
      figures: [
        {
          measure: 'p99 from 202 to visible in the overview, at half load',
          value: latency.p99,
          unit: 'ms',
          firstStage: 2_000,
          goal: 750,
          latency,
        },
        { measure: 'load beside it', value: round.eventsPerSecond, unit: 'events/s', latency: round.latency },
      ],
      counts,
      remarks: [
        `${lags.length} events, ten a second, into a workspace of their own whose overview is asked about 15 times a second: up to a tenth of a second of each figure is the asking.`,
        ...(round.disturbedBy === '' ? [] : [`Others had over 10 % of a core: ${round.disturbedBy}.`]),
      ],
      settings: { ...shape, seconds, rate, shareOfMaximum },
      rounds: [full, round, { lags }],
    }
  } finally {
    await installation.stop()
  }
}

function addProbes(counts: EventCounts, { sent, acknowledged, visible }: Probed): void {
  counts.sent += sent
  counts.acknowledged += acknowledged
  counts.stored += visible
}
