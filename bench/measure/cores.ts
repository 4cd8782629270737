/**
 * Which core runs what: the server and its stores on the first core that this process may use, the load on the second.
 * A child inherits the core of the thread that starts it, so this process moves there for the moment of starting.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Cores {
  readonly server: number
  readonly load: number
  /** Both, for what isn't to be pinned. */
  readonly both: string
}

/** Why nothing is pinned, or the two cores. */
export function findCores(): Cores | string {
  const [server, load] = allowedCores()
  if (load === undefined) return 'only one core may be used: the server and the load share it'
  if (spawnSync('taskset', ['--version']).status !== 0) return 'taskset is missing: nothing is pinned to a core'
  return { server: server!, load, both: `${server},${load}` }
}

/** The placement of benches of milliseconds, which hold on a machine of two cores that is used for nothing else. */
export function onBoth(cores: Cores | string): { readonly placement?: string } {
  return typeof cores === 'string' ? {} : { placement: `server and stores on both cores, load on core ${cores.load}` }
}

/** Runs `start`, whose children will run on `core`; `home` is where this process goes back to. */
export function startOnCore<T>(cores: Cores | string, side: keyof Cores, start: () => T): T {
  if (typeof cores === 'string') return start()
  moveTo(cores[side])
  try {
    return start()
  } finally {
    moveTo(cores.load)
  }
}

/** This process belongs to the load: it must not disturb the server. */
export function moveToLoadCore(cores: Cores | string): void {
  if (typeof cores !== 'string') moveTo(cores.load)
}

/** Also those that run already: threads don't follow the one that started them. */
export function moveAllThreads(pid: number, core: number | string): void {
  const { status, stderr } = spawnSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`taskset can't move ${pid} to core ${core}: ${stderr.trim()}`)
}

function moveTo(core: number | string): void {
  const { status, stderr } = spawnSync('taskset', ['-p', '-c', String(core), String(process.pid)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`taskset can't move to core ${core}: ${stderr.trim()}`)
}

/** "0-1,4" → [0, 1, 4] */
function allowedCores(): number[] {
  const [, list = '0'] = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, at) => first! + at)
  })
}
