/** One round: one load against one side, with what the processor did meanwhile. */
import { randomBytes } from 'node:crypto'
import type { BenchSettings } from '../bench.ts'
import { type Load, type LoadTool, runLoad } from '../load/load.ts'
import type { LoadOutcome, LoadPlan } from '../load/load-plan.ts'
import { cpuSeconds, forgetPeak, memoryOf, secondsBetween } from './cpu.ts'
import { disturbanceOf } from './disturbance.ts'

export interface Side {
  readonly name: 'product' | 'reference'
  readonly port: number
  readonly path: string
  /** Requests take turns at them. */
  readonly trackingKeys: readonly string[]
  /** The process that answers. */
  readonly server: number
  /** Processes that work with it: stores, other services. */
  readonly others: readonly number[]
  /** For logs. */
  readonly folder: string
}

export type Shape = Pick<LoadPlan, 'connections' | 'eventsPerRequest' | 'rate' | 'isSparing' | 'hasBusyPages'> & {
  readonly tool?: LoadTool
}

export interface Round extends LoadOutcome {
  readonly side: Side['name']
  readonly idPrefix: string
  readonly requestsPerSecond: number
  readonly eventsPerSecond: number
  readonly acknowledged: number
  /** CPU seconds while the load ran. */
  readonly cpu: { readonly server: number; readonly others: number; readonly load: number }
  readonly eventsPerServerCpuSecond: number
  /** Shares of a core, 0 to 1: of the server process, of the load, and of processes outside the measurement. */
  readonly shares: { readonly server: number; readonly load: number; readonly others: number }
  /** Who used more of a core than is allowed; empty: nobody. */
  readonly disturbedBy: string
  readonly serverMemoryPeakMb: number
}

const megabyte = 1_000_000

export async function runRound(side: Side, shape: Shape, requests: number, settings: BenchSettings): Promise<Round> {
  const { tool = 'sender', ...form } = shape
  const idPrefix = randomBytes(4).toString('hex')
  const expectedSeconds = shape.rate ? requests / shape.rate : 0
  forgetPeak(side.server)
  const { port, path, trackingKeys } = side
  const load = await runLoad(
    { ...form, port, path, trackingKeys, idPrefix, requests, withinSeconds: 60 + 2 * expectedSeconds },
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
    others: cpuSeconds(from, to, side.others),
    load: cpuSeconds(from, to, [pid]),
  }
  const seconds = secondsBetween(from, to)
  const { share, disturbedBy } = disturbanceOf(from, to, { atServer: [side.server, ...side.others], load: pid, cores })
  return {
    ...outcome,
    side: side.name,
    idPrefix,
    requestsPerSecond: answered / outcome.seconds,
    eventsPerSecond: acknowledged / outcome.seconds,
    acknowledged,
    cpu,
    eventsPerServerCpuSecond: acknowledged / cpu.server,
    shares: { server: cpu.server / seconds, load: cpu.load / seconds, others: share },
    disturbedBy,
    serverMemoryPeakMb: memoryOf(side.server).peak / megabyte,
  }
}
