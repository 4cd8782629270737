/** From an event's 202 until the overview shows it, at several rates, while one event in a hundred is up to three days late. */
import { type BenchSettings, type EventCounts, type Figure, type ScenarioResult, sumCounts } from '../bench.ts'
import { startLateEvents } from '../data/late-events.ts'
import { countSeeded, seed, untilSettled } from '../data/seeded.ts'
import { allServices, Installation } from '../installation.ts'
import { latencyOf } from '../load/latency.ts'
import { onBoth } from '../measure/cores.ts'
import { type PairOptions, runCounted } from '../measure/pairs.ts'
import { askEveryMs, probe } from '../measure/probe.ts'
import type { Shape } from '../measure/round.ts'
import { productSide } from '../references/reference.ts'

const shape: Shape = { connections: 64, eventsPerRequest: 1 }
/** Events a second. */
const loads: readonly { rate: number; targets: Partial<Figure> }[] = [
  { rate: 200, targets: { firstStage: 2_000, goal: 1_200 } },
  { rate: 2_000, targets: { firstStage: 2_000, goal: 1_500 } },
  { rate: 5_000, targets: {} },
  { rate: 15_000, targets: { firstStage: 30_000, goal: 10_000 } },
]
/** Late events come to this history: days with cells. */
const history = { events: 2_000_000, workspaces: 20, days: 4 }
const historyShort = { events: 20_000, workspaces: 2, days: 4 }
const lateShare = 0.01
/** The load goes on for so much longer than the probe, at both ends together. */
const aroundSeconds = 4

export async function freshness(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const seconds = isShort ? 3 : settings.sustainedSeconds
  const installation = await Installation.start(cores, { services: allServices, side: 'both' })
  const counts: EventCounts = { sent: 0, acknowledged: 0, stored: 0, repeated: 0 }
  try {
    const seeded = await seed(installation, isShort ? historyShort : history)
    await untilSettled(installation)
    const all: Partial<EventCounts>[] = [counts, await countSeeded(installation, seeded, history.days + 1)]
    const trackingKeys = seeded.workspaces.map(({ tracking_key }) => tracking_key)
    const product = productSide(installation, 'track')
    // Nothing is compared with R here.
    const options: PairOptions = { installation, reference: product, product, settings, counts }
    await runCounted(options, shape, isShort ? 1_000 : 50_000)
    const figures: Figure[] = []
    const remarks: string[] = []
    const rounds: unknown[] = []
    for (const { rate, targets } of loads) {
      const name = `${rate} events a second`
      say(`  probed at ${rate}/s for ${seconds} s`)
      const endLate = startLateEvents(installation, trackingKeys, rate * lateShare)
      const [round, probed] = await Promise.all([
        runCounted(options, { ...shape, rate }, rate * (seconds + aroundSeconds)),
        probe(installation, seconds),
      ])
      const late = await endLate()
      if (late.acknowledged < late.sent)
        remarks.push(`At ${name}: ${late.sent - late.acknowledged} late events were not taken.`)
      all.push({ ...probed, stored: probed.visible })
      const latency = latencyOf(probed.lags)
      say(`  visible after p50 ${latency.p50}, p95 ${latency.p95}, p99 ${latency.p99} ms`)
      // A target says nothing about a lower rate.
      const isHeld = round.eventsPerSecond >= rate * 0.99
      if (!isHeld) remarks.push(`At ${name}: the rate was not held.`)
      figures.push(
        {
          measure: `p99 from 202 to visible in the overview, at ${name}`,
          value: latency.p99,
          unit: 'ms',
          latency,
          ...(isHeld && targets),
        },
        { measure: `load beside it, ${name}`, value: round.eventsPerSecond, unit: 'events/s', latency: round.latency },
      )
      remarks.push(
        `At ${name}: ${probed.lags.length} events, ten a second, into a workspace of their own. Its overview is asked about every ${askEveryMs} ms, which is part of each figure.`,
      )
      if (round.disturbedBy !== '') remarks.push(`Others had over 10 % of a core: ${round.disturbedBy}.`)
      rounds.push(round, { lags: probed.lags })
    }
    return {
      figures,
      counts: sumCounts(all),
      remarks,
      ...onBoth(cores),
      settings: { ...shape, seconds, history, lateShare },
      rounds,
    }
  } finally {
    await installation.stop()
  }
}
