/** A folder that one process at a time may use: a lock that a killed holder leaves behind without effect. */
import { spawnSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Another process has the folder; the message is a line for its user. */
export class FolderInUse extends Error {
  override name = 'FolderInUse'
}

export interface FolderLock {
  release(): void
}

/**
 * Takes the lock of an existing folder.
 * @throws FolderInUse when another running process has it
 */
export function lockFolder(path: string): FolderLock {
  const lock = join(path, 'lock')
  const own = processIdentity(process.pid) ?? String(process.pid)
  // Written beside its place and linked into it, so that nobody reads an empty lock.
  const unlinked = join(path, `lock.${process.pid}.new`)
  writeFileSync(unlinked, own, { mode: 0o600 })
  try {
    while (!tryLink(unlinked, lock)) removeStale(lock, path)
  } finally {
    rmSync(unlinked, { force: true })
  }
  return { release: () => rmSync(lock, { force: true }) }
}

/** Whether a process that runs on this machine has the folder. */
export function isFolderInUse(path: string): boolean {
  const holder = read(join(path, 'lock'))
  return holder !== undefined && processIdentity(Number(holder.split(' ')[0])) === holder
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a process that is gone. Renamed first: of two starts that find it, one gets it. */
function removeStale(lock: string, path: string): void {
  const holder = read(lock)
  const pid = Number(holder?.split(' ')[0])
  if (holder !== undefined && processIdentity(pid) === holder) {
    throw new FolderInUse(`${path} is in use by another process (${pid})`)
  }
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const taken = read(aside)
  rmSync(aside, { force: true })
  if (taken !== holder) throw new FolderInUse(`${path} is being taken by another process`)
}

function read(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** What stays the same as long as process `pid` lives, and differs for the next of that number; undefined: none runs. */
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
  return status === 0 ? `${pid} ${stdout.trim()}` : undefined
}
