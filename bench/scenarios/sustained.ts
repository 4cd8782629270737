/**
 * A steady rate until every event is folded: what it costs in all our processes, how fresh it is, what piles up.
 */

import { sleep } from '../../runtime/retry.ts'
import type { BenchSettings, EventCounts, ScenarioResult } from '../bench.ts'
import { untilFolded } from '../data/seeded.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import { cpuSeconds, readCpu } from '../measure/cpu.ts'
import { type BacklogCourse, backlogCourse, lagOf, type Sample, watchFreshness } from '../measure/freshness.ts'
import { type PairOptions, runCounted } from '../measure/pairs.ts'
import { type Round, runRound, type Shape } from '../measure/round.ts'
import { productSide, referenceSide, startReference } from '../references/reference.ts'

const shape: Shape = { connections: 64, eventsPerRequest: 1 }
/** Share of ingest's rate while nothing is shipped: the shipper keeps up with it. */
const shareOfMaximum = 0.6
/** Whatever the maximum: some ten million events in ten minutes. */
const rateMax = 40_000

export async function sustained(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const seconds = isShort ? 4 : settings.sustainedSeconds
  const installation = await Installation.start(cores, { services: ['ingest', 'pipeline'] })
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
    const requests = isShort ? 4_000 : 200_000
    const references: Round[] = []
    const runReference = async () => references.push(await runRound(options.reference, shape, requests, settings))

    await runRound(options.reference, shape, Math.ceil(requests / 4), settings)
    await runCounted(options, shape, Math.ceil(requests / 4))
    await runReference()
    const full = await runCounted(options, shape, requests)
    await runReference()
    const rate = Math.min(rateMax, Math.round(full.requestsPerSecond * shareOfMaximum))
    say(`  full load ${Math.round(full.requestsPerSecond)}/s; steady ${rate}/s for ${seconds} s`)

    const steady = await runSteady(options, rate, seconds)
    await runReference()
    await reference.stop()

    const yieldOfReference = median(references.map((round) => round.eventsPerServerCpuSecond))
    const yieldOfAll = steady.round.acknowledged / steady.cpuAll
    const lag = lagOf(steady.samples)
    const course = backlogCourse(steady.samples)
    say(`  ${describe(steady, yieldOfAll / yieldOfReference, lag.p99, course)}`)
    return {
      figures: [
        {
          measure: 'events until aggregated per CPU-second of all processes ÷ R’s at full load',
          value: yieldOfAll / yieldOfReference,
          unit: 'ratio',
          firstStage: 0.12,
          goal: 0.25,
          latency: steady.round.latency,
          eventsPerCpuSecond: { product: Math.round(yieldOfAll), reference: Math.round(yieldOfReference) },
        },
        { measure: 'age of the newest visible event, p50', value: lag.p50, unit: 'ms' },
        { measure: 'age of the newest visible event, p99', value: lag.p99, unit: 'ms', goal: 2_000 },
        { measure: 'steady rate', value: steady.round.eventsPerSecond, unit: 'events/s' },
        { measure: 'waiting log, most', value: course.max / 1_000_000, unit: 'MB' },
      ],
      counts,
      remarks: remarksOf(steady, course, rate),
      settings: { ...shape, seconds, rate, shareOfMaximum, rateMax },
      rounds: [
        ...references,
        full,
        steady.round,
        { backlog: course, cpuAll: steady.cpuAll, samples: thinned(steady.samples) },
      ],
    }
  } finally {
    await installation.stop()
  }
}

interface Steady {
  readonly round: Round
  readonly samples: Sample[]
  /** CPU seconds of ingest, the pipeline and their stores, from the first event until the last was folded. */
  readonly cpuAll: number
}

async function runSteady(options: PairOptions, rate: number, seconds: number): Promise<Steady> {
  const { installation, product } = options
  const ours = [product.server, ...product.others]
  const endWatch = watchFreshness(installation)
  const from = readCpu()
  let samples: Sample[] = []
  let cpuAll = 0
  const round = await runCounted(options, { ...shape, rate }, Math.max(64, rate * seconds), async () => {
    samples = await endWatch()
    await untilShipped(installation)
    await untilFolded(installation)
    cpuAll = cpuSeconds(from, readCpu(), ours)
  })
  return { round, samples, cpuAll }
}

async function untilShipped(installation: Installation): Promise<void> {
  const deadline = Date.now() + 120_000
  while ((await installation.backlog()).segments > 0 && Date.now() < deadline) await sleep(100)
}

function describe({ round }: Steady, ratio: number, lagP99: number, course: BacklogCourse): string {
  const { p50, p99 } = round.latency
  return `ratio ${ratio.toFixed(3)}, lag p99 ${lagP99} ms, latency p50 ${p50} p99 ${p99} ms, backlog at most ${Math.round(course.max / 1e6)} MB`
}

function remarksOf({ round }: Steady, course: BacklogCourse, rate: number): string[] {
  const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`
  const remarks = [
    `Waiting log: ${megabytes(course.early)} in the second quarter of the time, ${megabytes(course.late)} in the last: ${course.isFlat ? 'flat' : 'NOT FLAT, the rate is more than is shipped'}.`,
  ]
  if (round.eventsPerSecond < rate * 0.99) remarks.push('The steady rate was not held.')
  if (round.disturbedBy !== '')
    remarks.push(`Others had over 10 % of a core over the whole time: ${round.disturbedBy}.`)
  return remarks
}

/** At most a few hundred for the file. */
function thinned(samples: Sample[]): Sample[] {
  const step = Math.ceil(samples.length / 240)
  return samples.filter((_, at) => at % step === 0)
}
