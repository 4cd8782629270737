/**
 * A folder that one process at a time may use: a lock that a killed holder leaves behind without effect. Plain JavaScript,
 * because start/lock.mjs needs it before anything is built. Held by test/unit/folder-lock.test.ts.
 */
import { spawnSync } from 'node:child_process'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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
    while (!tryLink(unlinked, lock)) removeStale(lock, path)
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
  return holder !== undefined && processIdentity(Number(holder.split(' ')[0])) === holder
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
 * Removes the lock of a process that is gone. Renamed first: of two starts that find it one gets it. The other may get the
 * new lock of a third in its place, sees that, and puts it back.
 * @param {string} lock
 * @param {string} path
 */
function removeStale(lock, path) {
  const holder = read(lock)
  const pid = Number(holder?.split(' ')[0])
  if (holder !== undefined && processIdentity(pid) === holder) {
    throw new FolderInUse(`${path} is in use by another process (${pid})`)
  }
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  const isOther = read(aside) !== holder
  if (isOther) tryLink(aside, lock)
  rmSync(aside, { force: true })
  if (isOther) throw new FolderInUse(`${path} is being taken by another process`)
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
 * What stays the same as long as process `pid` lives, and differs for the next of that number; undefined: none runs.
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
