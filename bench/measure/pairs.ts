/**
 * Rounds of both sides, alternating, until enough were undisturbed. A ratio is taken within each pair, whose two rounds
 * lie seconds apart; the result is the median. A slow minute of the whole machine so cancels out.
 */
import { type BenchSettings, type EventCounts, type Figure, isComplete, sumCounts } from '../bench.ts'
import type { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import type { Round, Shape } from './round.ts'
import { runRound, type Side } from './round.ts'

export interface Pair {
  readonly reference: Round
  readonly product: Round
  readonly isDisturbed: boolean
}

export interface Pairs {
  readonly kept: Pair[]
  readonly all: Pair[]
  readonly remarks: string[]
}

const attemptsPerRound = 3
/** A load this busy, with a server that isn't, measures itself. */
const boundShare = 0.93

export interface PairOptions {
  readonly installation: Installation
  readonly reference: Side
  readonly product: Side
  readonly settings: BenchSettings
  readonly counts: EventCounts
}

/** One product round: when it is over (and `onEnd`), waits for all to be stored and counts it. */
export async function runCounted(
  options: PairOptions,
  shape: Shape,
  requests: number,
  onEnd: () => Promise<void> = async () => {},
): Promise<Round> {
  const { installation, product, settings, counts } = options
  const round = await runRound(product, shape, requests, settings)
  await onEnd()
  const stored = await installation.untilStored(round.idPrefix, round.acknowledged)
  const ofRound = {
    sent: round.sent * shape.eventsPerRequest,
    acknowledged: round.acknowledged,
    stored: stored.rows,
    repeated: stored.rows - stored.distinct,
  }
  Object.assign(counts, sumCounts([counts, ofRound]))
  if (!isComplete(ofRound) || round.partial > 0) {
    const answers = JSON.stringify(round.answers)
    settings.say(
      `  NOT COMPLETE: answers ${answers}, unanswered ${round.unanswered}, partial ${round.partial}, stored ${stored.rows}`,
    )
  }
  await installation.untilQuiet()
  return round
}

export interface PairShapes {
  readonly reference: Shape
  readonly product: Shape
  readonly seconds: number
  /** Bounds what is sent in a round, whatever the speed. */
  readonly requestsMax: number
}

export async function runPairs(options: PairOptions, shapes: PairShapes): Promise<Pairs> {
  const { settings, reference } = options
  // A round's requests are fixed beforehand, so that what is sent can be counted: from a short round that also warms up.
  const trial = settings.isShort ? 2_000 : 20_000
  const trialOf = (shape: Shape) => Math.max(shape.connections, Math.ceil(trial / shape.eventsPerRequest ** 0.5))
  const rates = {
    reference: (await runRound(reference, shapes.reference, trialOf(shapes.reference), settings)).requestsPerSecond,
    product: (await runCounted(options, shapes.product, trialOf(shapes.product))).requestsPerSecond,
  }
  const amount = (rate: number, shape: Shape) =>
    Math.max(shape.connections, Math.min(shapes.requestsMax, Math.round(rate * shapes.seconds)))

  const all: Pair[] = []
  const kept: Pair[] = []
  const attempts = settings.isShort ? settings.rounds : settings.rounds * attemptsPerRound
  while (kept.length < settings.rounds && all.length < attempts) {
    const referenceRound = await runRound(
      reference,
      shapes.reference,
      amount(rates.reference, shapes.reference),
      settings,
    )
    const productRound = await runCounted(options, shapes.product, amount(rates.product, shapes.product))
    const disturbance = referenceRound.disturbedBy || productRound.disturbedBy
    const pair = { reference: referenceRound, product: productRound, isDisturbed: disturbance !== '' }
    all.push(pair)
    if (!pair.isDisturbed || settings.isShort) kept.push(pair)
    settings.say(`  ${describe(pair)}${pair.isDisturbed ? `; disturbed by ${disturbance}` : ''}`)
  }
  return { kept: kept.length > 0 ? kept : all, all, remarks: remarksOf(kept, all, settings) }
}

/** Product ÷ reference of `read`, the median of the pairs. */
function medianRatio({ kept }: Pairs, read: (round: Round) => number): number {
  return median(kept.map(({ reference, product }) => read(product) / read(reference)))
}

/** The two ratios of a pair measurement: of rates, and of what a CPU second of the answering process yields. */
export function ratioFigures(pairs: Pairs, measure: string, targets: Pick<Figure, 'firstStage' | 'goal'>): Figure[] {
  const products = pairs.kept.map(({ product }) => product)
  const of = (read: (round: Round) => number, rounds = products) => Math.round(median(rounds.map(read)))
  const eventsPerCpuSecond = {
    product: of((round) => round.eventsPerServerCpuSecond),
    reference: of(
      (round) => round.eventsPerServerCpuSecond,
      pairs.kept.map(({ reference }) => reference),
    ),
  }
  const latency = products.toSorted((a, b) => a.latency.p99 - b.latency.p99)[(products.length - 1) >> 1]!.latency
  return [
    { measure, value: medianRatio(pairs, (round) => round.eventsPerSecond), unit: 'ratio', ...targets, latency },
    {
      measure: `${measure}: the same per CPU-second of the ingest process and of R`,
      value: medianRatio(pairs, (round) => round.eventsPerServerCpuSecond),
      unit: 'ratio',
      eventsPerCpuSecond,
    },
  ]
}

function describe({ reference, product }: Pair): string {
  const rate = (round: Round) => `${Math.round(round.eventsPerSecond / 100) / 10} k/s`
  const ratio = (product.eventsPerSecond / reference.eventsPerSecond).toFixed(3)
  const perCpu = (product.eventsPerServerCpuSecond / reference.eventsPerServerCpuSecond).toFixed(3)
  return `R ${rate(reference)}, ours ${rate(product)}, ratio ${ratio}, per CPU-second ${perCpu}, p99 ${product.latency.p99} ms`
}

function remarksOf(kept: Pair[], all: Pair[], { rounds }: BenchSettings): string[] {
  const remarks: string[] = []
  const disturbed = all.filter(({ isDisturbed }) => isDisturbed).length
  if (disturbed > 0) remarks.push(`${disturbed} of ${all.length} pairs of rounds had others on a core for over 10 %.`)
  if (kept.length === 0) remarks.push('No undisturbed round: the figures stand on disturbed ones.')
  else if (kept.length < rounds) remarks.push(`Only ${kept.length} undisturbed pairs of rounds.`)
  const isBound = (round: Round) => round.shares.load > boundShare && round.shares.server < boundShare
  const referenceBound = kept.filter(({ reference }) => isBound(reference)).length
  if (referenceBound > 0) {
    remarks.push(
      `In ${referenceBound} of ${kept.length} pairs the load's core was the limit of R: the ratio of rates flatters, the one per CPU-second holds.`,
    )
  }
  const productBound = kept.filter(({ product }) => isBound(product)).length
  if (productBound > 0)
    remarks.push(`In ${productBound} of ${kept.length} pairs the load's core was the limit of ingest.`)
  return remarks
}
