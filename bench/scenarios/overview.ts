/**
 * The overview of a workspace with half of all events, the whole endpoint, on several numbers of events. It is asked cold (no
 * question twice), again, and while events come in, by one connection and by 16. Beside it, a query of the same shape over the
 * raw rows.
 */
import type { SeedResult } from '../../cli/seed/seed-events.ts'
import { type AskRound, askAndCount } from '../asking.ts'
import { type BenchSettings, type EventCounts, type Figure, type ScenarioResult, sumCounts } from '../bench.ts'
import { countSeeded, seed, untilSettled } from '../data/seeded.ts'
import { startTrickle } from '../data/trickle.ts'
import { allServices, Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import type { Question } from '../load/load-plan.ts'
import {
  coldQuestions,
  filtered,
  lastDays,
  lastHours,
  type Range,
  repeatedQuestion,
  sinceInsideDay,
} from '../load/questions.ts'
import { onBoth } from '../measure/cores.ts'

const shape = { workspaces: 20, days: 30 }
const manyConnections = 16
/** Enough to see that it works, on a machine that others use too. */
const manyConnectionsShort = 4
const month = lastDays(30)
const insideDay = sinceInsideDay(29)
const tenMillion = 10_000_000
const targetsBySize: Readonly<Record<number, Pick<Figure, 'firstStage' | 'goal'>>> = {
  10000000: { firstStage: 60, goal: 30 },
  100000000: { firstStage: 90, goal: 45 },
}
const growthSizes = [1_000_000, 100_000_000]
/** A round is about so long, and has so many requests at least and at most. */
const roundSeconds = 8
const requestsMin = 20
const requestsMax = 60_000
const attemptsPerRound = 3

interface SizeResult {
  readonly events: number
  readonly figures: Figure[]
  /** p95 of the month, cold, by one connection. */
  readonly p95: number
  readonly counts: EventCounts
  readonly rounds: unknown[]
  readonly remarks: string[]
}

export async function overview(settings: BenchSettings): Promise<ScenarioResult> {
  const results: SizeResult[] = []
  for (const events of settings.sizes) results.push(await measureSize(events, settings))
  const [smallest, largest] = [results[0]!, results.at(-1)!]
  const growth: Figure = {
    measure: `growth: p95 of ${largest.events} events ÷ p95 of ${smallest.events}, 30 days, cold`,
    value: largest.p95 / smallest.p95,
    unit: 'times',
    ...(smallest.events === growthSizes[0] && largest.events === growthSizes[1] && { firstStage: 3, goal: 1.5 }),
  }
  return {
    figures: [...results.flatMap(({ figures }) => figures), ...(results.length > 1 ? [growth] : [])],
    counts: sumCounts(results.map(({ counts }) => counts)),
    remarks: [
      'Sent are the events seeded, acknowledged those that the overviews of all workspaces show.',
      ...results.flatMap(({ remarks }) => remarks),
    ],
    ...onBoth(settings.cores),
    settings: { sizes: settings.sizes, ...shape, manyConnections, roundSeconds },
    rounds: results.flatMap(({ rounds }) => rounds),
  }
}

async function measureSize(events: number, settings: BenchSettings): Promise<SizeResult> {
  const { cores, say } = settings
  const installation = await Installation.start(cores, { services: allServices, side: 'both' })
  try {
    const seeded = await seed(installation, { events, ...shape })
    say(`  ${events} events seeded, ${seeded.rows_per_second} a second`)
    const startedAt = performance.now()
    await untilSettled(installation)
    say(`  folded and quiet after ${((performance.now() - startedAt) / 1000).toFixed(0)} s more`)
    const counts = await countSeeded(installation, seeded, shape.days + 1)
    const asked = await askAll(installation, seeded, settings)
    return { events, counts, ...asked }
  } finally {
    await installation.stop()
  }
}

async function askAll(
  installation: Installation,
  { workspaces, events }: SeedResult,
  settings: BenchSettings,
): Promise<Omit<SizeResult, 'events' | 'counts'>> {
  const { api_key: apiKey, workspace_id: workspaceId, tracking_key: trackingKey } = workspaces[0]!
  const figures: Figure[] = []
  const rounds: unknown[] = []
  const remarks: string[] = []
  const measure = async (name: string, connections: number, questionsOf: (count: number) => Question[]) => {
    const { kept, all } = await repeat(installation, connections, questionsOf, settings)
    const middle = kept.toSorted((a, b) => a.latency.p95 - b.latency.p95)[(kept.length - 1) >> 1]!
    const { latency, requestsPerSecond, errors, sent } = middle
    settings.say(
      `  ${name}: p50 ${latency.p50}, p95 ${latency.p95}, p99 ${latency.p99} ms, ${requestsPerSecond.toFixed(1)}/s, ${errors} errors`,
    )
    if (kept.every(({ disturbedBy }) => disturbedBy !== '')) remarks.push(`No undisturbed round: ${name}.`)
    if (errors > 0) remarks.push(`${errors} of ${sent} were not answered with 200: ${name}.`)
    rounds.push(...all.map((round) => ({ events, name, ...round })))
    return middle
  }
  const measureCold = async (range: Range, targets: Partial<Figure> = {}, connections = 1, suffix = '') => {
    const by = connections === 1 ? '1 connection' : `${connections} connections`
    const name = `p95 of ${range.name}, cold${suffix}, ${by}, ${events} events`
    const round = await measure(name, connections, (count) => coldQuestions(range, apiKey, count))
    figures.push(msFigure(name, round, targets))
    return round
  }

  const cold = await measureCold(month, targetsBySize[events])
  const againName = `p95 of ${month.name}, the same again, 1 connection, ${events} events`
  figures.push(msFigure(againName, await measure(againName, 1, () => repeatedQuestion(month, apiKey))))
  const rawMs = await measureRaw(installation, workspaceId)
  figures.push({
    measure: `p95 of ${month.name}, cold ÷ totals and sources from raw rows, ${events} events`,
    value: cold.errors === 0 ? cold.latency.p95 / rawMs : Number.NaN,
    unit: 'times',
  })
  await measureCold(insideDay, events === tenMillion ? { firstStage: 250, goal: 100 } : {})
  for (const range of [lastDays(7), lastHours(24)]) await measureCold(range)
  for (const filter of ['source=google', 'device=mobile&path=/']) {
    await measureCold(filtered(month, filter), events === tenMillion ? { firstStage: 150 } : {})
  }
  const many = settings.isShort ? manyConnectionsShort : manyConnections
  await measureCold(month, events === tenMillion ? { firstStage: 800, goal: 400 } : {}, many)
  const endTrickle = startTrickle(installation, [trackingKey])
  await measureCold(month, {}, 1, ' while an event a second comes')
  await endTrickle()
  figures.push(...(await measureLoad(installation, apiKey, events, settings, rounds)))
  return { figures, rounds, p95: cold.errors === 0 ? cold.latency.p95 : Number.NaN, remarks }
}

/** Milliseconds that totals and sources of a month take from `events`: the median of some. */
async function measureRaw({ ch }: Installation, workspaceId: number): Promise<number> {
  const taken: number[] = []
  for (let round = 0; round < 5; round++) {
    const startedAt = performance.now()
    await ch.query(
      `SELECT source, uniqExact(visitor), uniqExact(visitor, session), countIf(kind = 'pageview'), count() FROM events
       WHERE workspace_id = {workspace:UInt32} AND occurred_at >= now() - INTERVAL 30 DAY GROUP BY source WITH TOTALS`,
      { workspace: workspaceId },
      { deadlineMs: 60_000 },
    )
    taken.push(performance.now() - startedAt)
  }
  return median(taken)
}

/** Overviews and the nearest to a constant body, side by side. */
async function measureLoad(
  installation: Installation,
  apiKey: string,
  events: number,
  settings: BenchSettings,
  rounds: unknown[],
): Promise<Figure[]> {
  const constant = [{ path: '/v1/workspace', apiKey }]
  const connections = settings.isShort ? manyConnectionsShort : manyConnections
  const ratios: number[] = []
  let last: AskRound | undefined
  for (let round = 0; round < settings.rounds; round++) {
    const one = { ...settings, rounds: 1 }
    const ofConstant = (await repeat(installation, connections, () => constant, one)).kept[0]!
    const ofOverview = (await repeat(installation, connections, () => repeatedQuestion(month, apiKey), one)).kept[0]!
    ratios.push(ofOverview.requestsPerSecond / ofConstant.requestsPerSecond)
    rounds.push({ events, ofConstant, ofOverview })
    last = ofOverview
    settings.say(
      `  ${connections} connections: overview ${ofOverview.requestsPerSecond.toFixed(0)}/s, workspace ${ofConstant.requestsPerSecond.toFixed(0)}/s`,
    )
  }
  return [
    {
      measure: `overviews a second ÷ GET /v1/workspace a second, ${connections} connections, ${events} events`,
      value: median(ratios),
      unit: 'ratio',
      firstStage: 0.05,
      goal: 0.25,
      latency: last!.latency,
    },
  ]
}

/** Rounds of about `roundSeconds` each, until enough were undisturbed. */
async function repeat(
  installation: Installation,
  connections: number,
  questionsOf: (count: number) => Question[],
  settings: BenchSettings,
): Promise<{ kept: AskRound[]; all: AskRound[] }> {
  // Slow questions meet their deadline when many run at once, or filter 100 M events: that is counted.
  const run = (requests: number) =>
    askAndCount(installation, { questions: questionsOf(requests), connections, requests }, settings)
  const trial = await run(settings.isShort ? connections : 5 * connections)
  const wanted = Math.round(trial.requestsPerSecond * roundSeconds)
  const requests = settings.isShort ? 2 * connections : Math.min(requestsMax, Math.max(requestsMin, wanted))
  const all: AskRound[] = []
  const undisturbed = () => all.filter(({ disturbedBy }) => disturbedBy === '')
  const attempts = settings.isShort ? settings.rounds : settings.rounds * attemptsPerRound
  while (undisturbed().length < settings.rounds && all.length < attempts) all.push(await run(requests))
  const kept = undisturbed()
  return { kept: kept.length > 0 ? kept : all, all }
}

/** A refusal may come at once: where there are any, the times are no measure of answers. */
function msFigure(measure: string, { latency, errors }: AskRound, targets: Partial<Figure> = {}): Figure {
  return { measure, value: errors === 0 ? latency.p95 : Number.NaN, unit: 'ms', latency, ...targets }
}
