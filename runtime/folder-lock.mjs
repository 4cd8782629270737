/**
 * A folder that one process at a time may use: a lock that a killed holder leaves behind without effect. Plain JavaScript,
 * because start/lock.mjs needs it before anything is built. Held by test/unit/folder-lock.test.ts.
 */
import { spawnSync } from 'node:child_process'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Another process has the folder; the message is a line for its user. */
export class FolderInUse extends Error {
  name = 'FolderInUse'
}

/**
 * Takes the lock of an existing folder.
 * @param {string} path
 * @returns {{ release(): void }}
 * @throws {FolderInUse} when another running process has it
 */
export function lockFolder(path) {
  const lock = join(path, 'lock')
  const own = processIdentity(process.pid) ?? String(process.pid)
  // Written beside its place and linked into it, so that nobody reads an empty lock.
  const unlinked = join(path, `lock.${process.pid}.new`)
  writeFileSync(unlinked, own, { mode: 0o600 })
  try {
    while (!tryLink(unlinked, lock)) removeStale(lock, unlinked, path)
  } finally {
    rmSync(unlinked, { force: true })
  }
  return { release: () => rmSync(lock, { force: true }) }
}

/**
 * Whether a process that runs on this machine has the folder.
 * @param {string} path
 */
export function isFolderInUse(path) {
  const holder = read(join(path, 'lock'))
  return holder !== undefined && isRunning(holder)
}

/**
 * @param {string} from
 * @param {string} to
 */
function tryLink(from, to) {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes the lock of a process that is gone. One process at a time may: else one that found the old lock could remove
 * the new one of another. A process that dies here leaves its mark behind; the next one removes a mark whose process is
 * gone.
 * @param {string} lock
 * @param {string} own a file with the identity of this process
 * @param {string} path
 */
function removeStale(lock, own, path) {
  refuseWhereHeld(lock, path)
  const mark = `${lock}.stale`
  if (!tryLink(own, mark)) {
    const remover = read(mark)
    if (remover === undefined) return
    if (isRunning(remover)) throw new FolderInUse(`${path} is being taken by another process`)
    rmSync(mark, { force: true })
    return
  }
  try {
    // One that has gone by itself may be there anew a moment later, and be another's.
    if (refuseWhereHeld(lock, path) !== undefined) rmSync(lock, { force: true })
  } finally {
    rmSync(mark, { force: true })
  }
}

/**
 * @param {string} lock
 * @param {string} path
 * @returns {string | undefined} the identity that a process that is gone has left in the lock; undefined: there is none
 * @throws {FolderInUse}
 */
function refuseWhereHeld(lock, path) {
  const holder = read(lock)
  if (holder !== undefined && isRunning(holder)) {
    throw new FolderInUse(`${path} is in use by another process (${Number(holder.split(' ')[0])})`)
  }
  return holder
}

/** @param {string} identity */
function isRunning(identity) {
  return processIdentity(Number(identity.split(' ')[0])) === identity
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * A text that stays the same while process `pid` lives, and differs for the next process of that number. Undefined:
 * none runs.
 * @param {number} pid
 * @returns {string | undefined}
 */
export function processIdentity(pid) {
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
