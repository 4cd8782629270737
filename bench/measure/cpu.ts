/**
 * Work of the processor between two moments, from /proc: CPU seconds of a process with all its children, and how busy
 * each core was. CPU time that neither side of a measurement used went to other processes: a round with much of it is
 * no measure.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** Linux shows CPU time in these ticks, whatever the kernel's own. */
const ticksPerSecond = 100

interface ProcessTimes {
  readonly name: string
  readonly parent: number
  /** The process itself, all threads. */
  readonly ticks: number
  /** Its children that have ended. */
  readonly endedTicks: number
}

export interface CpuSnapshot {
  /** Milliseconds of performance.now(). */
  readonly at: number
  /** Busy ticks by core; what the hypervisor gave to other machines counts as busy. */
  readonly busy: number[]
  readonly processes: Map<number, ProcessTimes>
  /** CPU seconds of this process, without its children. */
  readonly own: number
}

export function readCpu(): CpuSnapshot {
  const processes = new Map<number, ProcessTimes>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const times = readProcess(Number(entry))
    if (times) processes.set(Number(entry), times)
  }
  const { user, system } = process.cpuUsage()
  return { at: performance.now(), busy: readCores(), processes, own: (user + system) / 1e6 }
}

/** CPU seconds that the processes `roots` and their descendants used between the snapshots. */
export function cpuSeconds(from: CpuSnapshot, to: CpuSnapshot, roots: readonly number[]): number {
  const before = roots.reduce((sum, pid) => sum + ticksOfTree(from, pid), 0)
  const after = roots.reduce((sum, pid) => sum + ticksOfTree(to, pid), 0)
  return (after - before) / ticksPerSecond
}

/** How busy `core` was, from 0 to 1. */
export function coreShare(from: CpuSnapshot, to: CpuSnapshot, core: number): number {
  return ((to.busy[core] ?? 0) - (from.busy[core] ?? 0)) / ticksPerSecond / secondsBetween(from, to)
}

export function secondsBetween(from: CpuSnapshot, to: CpuSnapshot): number {
  return (to.at - from.at) / 1000
}

/** The process outside the trees of `measured` that used most, this one aside: who disturbed a round. */
export function busiestOther(
  from: CpuSnapshot,
  to: CpuSnapshot,
  measured: readonly number[],
): { name: string; seconds: number } {
  const known = new Set([process.pid, ...measured.flatMap((root) => treeOf(to, root))])
  let busiest = { name: 'none', seconds: 0 }
  for (const [pid, { name, ticks }] of to.processes) {
    const seconds = (ticks - (from.processes.get(pid)?.ticks ?? 0)) / ticksPerSecond
    if (!known.has(pid) && seconds > busiest.seconds) busiest = { name, seconds }
  }
  return busiest
}

/** Resident memory of a process in bytes: now, and the most since `forgetPeak`. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

/** From now on `memoryOf(pid).peak` is the most from here. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function ticksOfTree(snapshot: CpuSnapshot, root: number): number {
  return treeOf(snapshot, root).reduce((sum, pid) => {
    const { ticks = 0, endedTicks = 0 } = snapshot.processes.get(pid) ?? {}
    return sum + ticks + endedTicks
  }, 0)
}

function treeOf({ processes }: CpuSnapshot, root: number): number[] {
  const tree = [root]
  for (const member of tree) for (const [pid, { parent }] of processes) if (parent === member) tree.push(pid)
  return tree
}

function readProcess(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in parentheses, may hold anything; numbers follow: state, parent …, user and system time, those of children.
    const nameEnd = stat.lastIndexOf(')')
    const fields = stat.slice(nameEnd + 2).split(' ')
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
    return {
      name: stat.slice(stat.indexOf('(') + 1, nameEnd),
      parent: Number(fields[1]),
      ticks: user! + system!,
      endedTicks: endedUser! + endedSystem!,
    }
  } catch {
    // It ended while we looked.
    return undefined
  }
}

function readCores(): number[] {
  const busy: number[] = []
  for (const line of readFileSync('/proc/stat', 'utf8').split('\n')) {
    const [, core, times] = /^cpu(\d+) (.*)$/.exec(line) ?? []
    if (core === undefined) continue
    const [user, nice, system, , , irq, softirq, steal] = times!.split(' ').map(Number)
    busy[Number(core)] = user! + nice! + system! + irq! + softirq! + (steal ?? 0)
  }
  return busy
}
