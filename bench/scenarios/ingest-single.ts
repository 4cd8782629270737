/** Single events: durable, validated, enriched, deduplicated 202s beside R, and what they take at a steady 80 %. */
import type { BenchSettings, EventCounts, Figure, ScenarioResult } from '../bench.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import { type PairOptions, type Pairs, ratioFigures, runCounted, runPairs } from '../measure/pairs.ts'
import type { Round, Shape } from '../measure/round.ts'
import { productSide, referenceSide, startReference } from '../references/reference.ts'

const main: Shape = { connections: 256, eventsPerRequest: 1 }
const others: [measure: string, shape: Shape][] = [
  ['64 connections', { ...main, connections: 64 }],
  ['256 connections, load by autocannon', { ...main, tool: 'autocannon' }],
]
const steadyShare = 0.8

export async function ingestSingle(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const seconds = isShort ? 1 : 6
  const requestsMax = isShort ? 10_000 : 1_500_000
  const installation = await Installation.start(cores)
  const counts: EventCounts = { sent: 0, acknowledged: 0, stored: 0, repeated: 0 }
  try {
    const reference = await startReference(installation.folder, cores)
    const options: PairOptions = {
      installation,
      reference: referenceSide(reference, installation),
      product: productSide(installation, 'track'),
      settings,
      counts,
    }
    const measure = (shape: Shape) => runPairs(options, { reference: shape, product: shape, seconds, requestsMax })

    say('  256 connections')
    const mainPairs = await measure(main)
    const rate = median(mainPairs.kept.map(({ product }) => product.requestsPerSecond)) * steadyShare
    say(`  256 connections, steady ${Math.round(rate)} requests/s (80 %)`)
    const steady = await runSteady(options, rate, seconds)
    const further: [string, Pairs][] = []
    for (const [name, shape] of others) {
      say(`  ${name}`)
      further.push([name, await measure(shape)])
    }
    const all = [mainPairs, ...further.map(([, pairs]) => pairs)]
    const peaks = all.flatMap((pairs) => pairs.all.map(({ product }) => product.serverMemoryPeakMb))
    await reference.stop()
    return {
      figures: [
        ...ratioFigures(mainPairs, '202s ÷ R, 256 connections', { firstStage: 0.35, goal: 0.6 }),
        steadyFigure(steady),
        ...further.flatMap(([name, pairs]) => ratioFigures(pairs, `202s ÷ R, ${name}`, {})),
        {
          measure: 'memory of ingest under full load',
          value: Math.max(...peaks),
          unit: 'MB',
          firstStage: 250,
          goal: 150,
        },
      ],
      counts,
      remarks: remarksOf([['256 connections', mainPairs], ...further]),
      settings: { seconds, requestsMax, shapes: [main, ...others.map(([, shape]) => shape)], steadyShare },
      rounds: [...all.flatMap((pairs) => pairs.all), ...steady],
    }
  } finally {
    await installation.stop()
  }
}

/** Undisturbed rounds at a fixed rate; latencies count from when a request was due. */
async function runSteady(options: PairOptions, rate: number, seconds: number): Promise<Round[]> {
  const { settings } = options
  const rounds: Round[] = []
  const quiet = () => rounds.filter(({ disturbedBy }) => disturbedBy === '')
  const attempts = settings.isShort ? settings.rounds : settings.rounds * 3
  while (quiet().length < settings.rounds && rounds.length < attempts) {
    const round = await runCounted(options, { ...main, rate }, Math.max(256, Math.round(rate * seconds)))
    rounds.push(round)
    const { p50, p95, p99 } = round.latency
    settings.say(`  p50 ${p50}, p95 ${p95}, p99 ${p99} ms${round.disturbedBy && `; disturbed by ${round.disturbedBy}`}`)
  }
  return rounds
}

function steadyFigure(rounds: Round[]): Figure {
  const quiet = rounds.filter(({ disturbedBy }) => disturbedBy === '')
  const used = quiet.length > 0 ? quiet : rounds
  const middle = used.toSorted((a, b) => a.latency.p99 - b.latency.p99)[(used.length - 1) >> 1]!
  return {
    measure: 'p99 at 80 % of its own maximum, 256 connections',
    value: middle.latency.p99,
    unit: 'ms',
    firstStage: 15,
    goal: 5,
    latency: middle.latency,
    eventsPerCpuSecond: { product: Math.round(middle.eventsPerServerCpuSecond) },
  }
}

function remarksOf(measured: [name: string, pairs: Pairs][]): string[] {
  return measured.flatMap(([name, pairs]) => pairs.remarks.map((remark) => `${name}: ${remark}`))
}
