/** Whether others had a share of the cores while something was measured: then it is no measure. */
import type { Cores } from './cores.ts'
import { busiestOther, type CpuSnapshot, coreShare, cpuSeconds, secondsBetween } from './cpu.ts'

const othersShareMax = 0.1

export interface Measured {
  /** Processes on the server's core. */
  readonly atServer: readonly number[]
  /** The load's process, where it isn't this one. */
  readonly load?: number
  readonly cores: Cores | string
}

export interface Disturbance {
  /** Cores that other processes took of the cores in use. */
  readonly share: number
  /** Who had more of a core than is allowed; empty: nobody. */
  readonly disturbedBy: string
}

export function disturbanceOf(from: CpuSnapshot, to: CpuSnapshot, { atServer, load, cores }: Measured): Disturbance {
  const seconds = secondsBetween(from, to)
  const ofServer = cpuSeconds(from, to, atServer) / seconds
  const loads = load === undefined ? [] : [load]
  const ofLoad = (cpuSeconds(from, to, loads) + to.own - from.own) / seconds
  const used = typeof cores === 'string' ? [...to.busy.keys()] : [cores.server, cores.load]
  const busy = used.reduce((sum, core) => sum + coreShare(from, to, core), 0)
  const share = Math.max(0, busy - ofServer - ofLoad)
  if (share <= othersShareMax) return { share, disturbedBy: '' }
  const busiest = busiestOther(from, to, [...atServer, ...loads])
  return { share, disturbedBy: `others (most: ${busiest.name}, ${busiest.seconds.toFixed(1)} s)` }
}
