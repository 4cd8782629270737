/** Names of processes that outlive them, in the names of files that a killed one leaves behind. */
import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Where numbers of processes are unique: a machine, or a container of it. Containers on their machine's network share
 * its name, so the namespace of the numbers belongs to it.
 */
export function processSpace(): string {
  if (process.platform !== 'linux') return hostname()
  const [namespace = ''] = readlinkSync('/proc/self/ns/pid').match(/\d+/) ?? []
  return `${hostname()}.${namespace}`
}

/**
 * A text that stays the same while process `pid` of this space lives, and differs for the next process of that number.
 * Undefined: none runs.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name, in parentheses, may hold anything; the state is the first field after it, the start time the 20th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[0] === 'Z' ? undefined : `${pid} ${fields[19]}`
    } catch {
      return undefined
    }
  }
  const { status, stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'lstart='], { encoding: 'utf8' })
  // One word, as on Linux: file-storage.ts puts both into a name.
  return status === 0 ? `${pid} ${stdout.trim().replace(/\s+/g, '-')}` : undefined
}
