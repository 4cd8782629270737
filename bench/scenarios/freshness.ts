/** From an event's 202 until the overview shows it, while ingest has half of what it can take. */
import type { BenchSettings, EventCounts, Figure, ScenarioResult } from '../bench.ts'
import { allServices, Installation } from '../installation.ts'
import { percentile } from '../latency.ts'
import { type PairOptions, runCounted } from '../pairs.ts'
import { askEveryMs, type Probed, probe } from '../probe.ts'
import { productSide } from '../reference.ts'
import type { Shape } from '../round.ts'
import { shareOfMaximum as steadyShare } from './sustained.ts'

const shape: Shape = { connections: 64, eventsPerRequest: 1 }
/** Of what ingest takes at full load, and of what `sustained` keeps up with: beyond that rate the log grows. */
const loads = [
  { name: 'half load', shareOfMaximum: 0.5, targets: { firstStage: 2_000, goal: 750 } },
  { name: 'half of the steady rate', shareOfMaximum: steadyShare / 2, targets: {} },
]
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
    const figures: Figure[] = []
    const remarks: string[] = []
    const rounds: unknown[] = [full]
    const rates: number[] = []
    for (const { name, shareOfMaximum, targets } of loads) {
      const rate = Math.round(full.requestsPerSecond * shareOfMaximum)
      say(`  full load ${Math.round(full.requestsPerSecond)}/s; probed at ${rate}/s for ${seconds} s`)
      const [round, probed] = await Promise.all([
        runCounted(options, { ...shape, rate }, rate * (seconds + aroundSeconds)),
        probe(installation, seconds),
      ])
      addProbes(counts, probed)
      const latency = latencyOf(probed.lags)
      say(`  visible after p50 ${latency.p50}, p95 ${latency.p95}, p99 ${latency.p99} ms`)
      figures.push(
        {
          measure: `p99 from 202 to visible in the overview, at ${name}`,
          value: latency.p99,
          unit: 'ms',
          latency,
          ...targets,
        },
        { measure: `load beside it, ${name}`, value: round.eventsPerSecond, unit: 'events/s', latency: round.latency },
      )
      remarks.push(
        `At ${name}, ${rate} events a second: ${probed.lags.length} events, ten a second, into a workspace of their own whose overview is asked about every ${askEveryMs} ms, which are part of each figure.`,
      )
      if (round.disturbedBy !== '') remarks.push(`Others had over 10 % of a core: ${round.disturbedBy}.`)
      rounds.push(round, { lags: probed.lags })
      rates.push(rate)
    }
    return { figures, counts, remarks, settings: { ...shape, seconds, rates }, rounds }
  } finally {
    await installation.stop()
  }
}

function latencyOf(lags: readonly number[]) {
  const sorted = [...lags].sort((a, b) => a - b)
  const at = (share: number) => Math.round(percentile(sorted, share) * 10) / 10
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

function addProbes(counts: EventCounts, { sent, acknowledged, visible }: Probed): void {
  counts.sent += sent
  counts.acknowledged += acknowledged
  counts.stored += visible
}
