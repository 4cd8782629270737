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
  /** What others had, by core, 0 to 1; where nothing is pinned, one share over all cores. */
  readonly shares: number[]
  /** Who had more of a core than is allowed; empty: nobody. */
  readonly disturbedBy: string
}

export function disturbanceOf(from: CpuSnapshot, to: CpuSnapshot, { atServer, load, cores }: Measured): Disturbance {
  const seconds = secondsBetween(from, to)
  const ofServer = cpuSeconds(from, to, atServer) / seconds
  const loads = load === undefined ? [] : [load]
  const ofLoad = (cpuSeconds(from, to, loads) + to.own - from.own) / seconds
  const busy =
    typeof cores === 'string'
      ? [to.busy.reduce((sum, _, core) => sum + coreShare(from, to, core), 0) - ofServer - ofLoad]
      : [coreShare(from, to, cores.server) - ofServer, coreShare(from, to, cores.load) - ofLoad]
  const shares = busy.map((share) => Math.max(0, share))
  if (shares.every((share) => share <= othersShareMax)) return { shares, disturbedBy: '' }
  const busiest = busiestOther(from, to, [...atServer, ...loads])
  return { shares, disturbedBy: `others (most: ${busiest.name}, ${busiest.seconds.toFixed(1)} s)` }
}
