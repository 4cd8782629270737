/** One round: one load against one side, with what the processor did meanwhile. */
import { randomBytes } from 'node:crypto'
import type { BenchSettings } from './bench.ts'
import { busiestOther, type CpuSnapshot, coreShare, cpuSeconds, forgetPeak, memoryOf, secondsBetween } from './cpu.ts'
import { type Load, type LoadTool, runLoad } from './load.ts'
import type { LoadOutcome, LoadPlan } from './load-plan.ts'

export interface Side {
  readonly name: 'product' | 'reference'
  readonly port: number
  readonly path: string
  readonly trackingKey: string
  /** The process that answers. */
  readonly server: number
  /** Processes that work with it. */
  readonly stores: readonly number[]
  /** For logs. */
  readonly folder: string
}

export type Shape = Pick<LoadPlan, 'connections' | 'eventsPerRequest' | 'rate'> & {
  readonly tool?: LoadTool
}

export interface Round extends LoadOutcome {
  readonly side: Side['name']
  readonly idPrefix: string
  readonly requestsPerSecond: number
  readonly eventsPerSecond: number
  readonly acknowledged: number
  /** CPU seconds while the load ran. */
  readonly cpu: { readonly server: number; readonly stores: number; readonly load: number }
  readonly eventsPerServerCpuSecond: number
  /** Shares of a core, 0 to 1: of the server process, of the load, and of processes outside the measurement by core. */
  readonly shares: { readonly server: number; readonly load: number; readonly others: readonly number[] }
  /** Who used more of a core than is allowed; empty: nobody. */
  readonly disturbedBy: string
  readonly serverMemoryPeakMb: number
}

/** A round in which others took more of a core is no measure. */
const othersShareMax = 0.1
const megabyte = 1_000_000

export async function runRound(side: Side, shape: Shape, requests: number, settings: BenchSettings): Promise<Round> {
  const { tool = 'sender', ...form } = shape
  const idPrefix = randomBytes(4).toString('hex')
  const expectedSeconds = shape.rate ? requests / shape.rate : 0
  forgetPeak(side.server)
  const { port, path, trackingKey } = side
  const load = await runLoad(
    { ...form, port, path, trackingKey, idPrefix, requests, withinSeconds: 60 + 2 * expectedSeconds },
    tool,
    settings.cores,
    side.folder,
  )
  return describe(side, shape, load, idPrefix, settings)
}

function describe(side: Side, shape: Shape, load: Load, idPrefix: string, { cores }: BenchSettings): Round {
  const { outcome, from, to, pid } = load
  const answered = outcome.answers['202'] ?? 0
  const acknowledged = answered * shape.eventsPerRequest
  const cpu = {
    server: cpuSeconds(from, to, [side.server]),
    stores: cpuSeconds(from, to, side.stores),
    load: cpuSeconds(from, to, [pid]),
  }
  const seconds = secondsBetween(from, to)
  const others = othersShares(from, to, cpu, cores)
  const isDisturbed = others.some((share) => share > othersShareMax)
  const busiest = busiestOther(from, to, [side.server, ...side.stores, pid])
  return {
    ...outcome,
    side: side.name,
    idPrefix,
    requestsPerSecond: answered / outcome.seconds,
    eventsPerSecond: acknowledged / outcome.seconds,
    acknowledged,
    cpu,
    eventsPerServerCpuSecond: acknowledged / cpu.server,
    shares: { server: cpu.server / seconds, load: cpu.load / seconds, others },
    disturbedBy: isDisturbed ? `others (most: ${busiest.name}, ${busiest.seconds.toFixed(1)} s)` : '',
    serverMemoryPeakMb: memoryOf(side.server).peak / megabyte,
  }
}

/** By core; where nothing is pinned, one share over all cores. */
function othersShares(from: CpuSnapshot, to: CpuSnapshot, cpu: Round['cpu'], cores: BenchSettings['cores']): number[] {
  const seconds = secondsBetween(from, to)
  const atServer = (cpu.server + cpu.stores) / seconds
  const atLoad = (cpu.load + to.own - from.own) / seconds
  const shares =
    typeof cores === 'string'
      ? [to.busy.reduce((sum, _, core) => sum + coreShare(from, to, core), 0) - atServer - atLoad]
      : [coreShare(from, to, cores.server) - atServer, coreShare(from, to, cores.load) - atLoad]
  return shares.map((share) => Math.max(0, share))
}
