/** Rounds of requests to the API, with what the processor did meanwhile. */
import type { BenchSettings } from './bench.ts'
import type { Installation } from './installation.ts'
import { runAsking } from './load/load.ts'
import type { AskPlan, LoadOutcome } from './load/load-plan.ts'
import { cpuSeconds, secondsBetween } from './measure/cpu.ts'
import { disturbanceOf } from './measure/disturbance.ts'

export type Asking = Pick<AskPlan, 'questions' | 'connections' | 'requests' | 'rate'>

export interface AskRound extends LoadOutcome {
  /** Requests without an answer 200. */
  readonly errors: number
  readonly requestsPerSecond: number
  /** CPU seconds while it ran: of the API, and of all else on its side. */
  readonly cpu: { readonly api: number; readonly others: number }
  /** Shares of a core. */
  readonly shares: { readonly load: number; readonly others: number }
  readonly disturbedBy: string
}

const roundSecondsMax = 300

/** @throws Error when an answer isn't a 200 or doesn't come: nothing is measured then */
export async function ask(
  installation: Installation,
  asking: Asking,
  settings: Pick<BenchSettings, 'cores'>,
): Promise<AskRound> {
  const round = await askAndCount(installation, asking, settings)
  if (round.errors === 0) return round
  const { answers, unanswered } = round
  throw new Error(`${asking.questions[0]?.path}: answers ${JSON.stringify(answers)}, unanswered ${unanswered}`)
}

/** Counts what isn't a 200. */
export async function askAndCount(
  installation: Installation,
  asking: Asking,
  { cores }: Pick<BenchSettings, 'cores'>,
): Promise<AskRound> {
  const api = installation.service('api')
  const expectedSeconds = asking.rate ? asking.requests / asking.rate : 0
  const plan = { ...asking, port: api.port, withinSeconds: roundSecondsMax + expectedSeconds }
  const { outcome, from, to, pid } = await runAsking(plan, cores, installation.folder)
  const answered = outcome.answers['200'] ?? 0
  const { share, disturbedBy } = disturbanceOf(from, to, { atServer: installation.pids, load: pid, cores })
  return {
    ...outcome,
    errors: asking.requests - answered,
    requestsPerSecond: answered / outcome.seconds,
    cpu: {
      api: cpuSeconds(from, to, [api.pid]),
      others: cpuSeconds(from, to, installation.pidsBeside('api')),
    },
    shares: { load: cpuSeconds(from, to, [pid]) / secondsBetween(from, to), others: share },
    disturbedBy,
  }
}
