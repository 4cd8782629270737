/**
 * A folder that one process at a time may use. The kernel holds the lock (flock) for as long as its holder lives. So a
 * kill leaves none behind, and containers that share a volume see each other's. Node has no call for it: the command
 * `flock` of util-linux locks a descriptor that it shares with this process. Plain JavaScript, because start/lock.mjs
 * needs it before anything is built. Held by test/unit/folder-lock.test.ts.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Another process has the folder; the message is a line for its user. */
export class FolderInUse extends Error {
  name = 'FolderInUse'
}

/** The machine has no `flock` that does what is asked of it; the message is a line for its user. */
export class CantLock extends Error {
  name = 'CantLock'
}

/**
 * A look at the lock holds it for the moments of a process. Whoever wants it waits for longer than that, also on a
 * busy machine.
 */
const lookedAtSeconds = '1'
/** The status by which `flock` says that another has the lock. Its own failures have others. */
const heldStatus = 200

/**
 * Takes the lock of an existing folder. Its file stays, because one that is deleted could be locked by two.
 * @param {string} path
 * @returns {{ release(): void }}
 * @throws {FolderInUse} when another running process has it
 * @throws {CantLock} where `flock` is missing or fails
 */
export function lockFolder(path) {
  const file = join(path, 'lock')
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    if (!tryLock(descriptor, '--exclusive', '--wait', lookedAtSeconds)) {
      const holder = readFileSync(file, 'utf8').trim()
      throw new FolderInUse(`${path} is in use by another process${holder && ` (${holder})`}`)
    }
    nameHolder(descriptor)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  return { release: () => closeSync(descriptor) }
}

/**
 * For messages alone: a process of another container has a number of its own there. A full disk costs the name, not the lock.
 * @param {number} descriptor
 */
function nameHolder(descriptor) {
  try {
    ftruncateSync(descriptor, writeSync(descriptor, `${process.pid} on ${hostname()}\n`, 0))
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error
  }
}

/**
 * Whether a running process has the folder.
 * @param {string} path
 */
export function isFolderInUse(path) {
  let descriptor
  try {
    descriptor = openSync(join(path, 'lock'), 'r')
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
  try {
    return !tryLock(descriptor, '--shared', '--nonblock')
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Locks an open file for all processes that share the descriptor, and so for this one when `flock` has ended.
 * @param {number} descriptor
 * @param {...string} options
 * @returns {boolean} false: another has it
 */
function tryLock(descriptor, ...options) {
  const { status, stderr, error } = spawnSync('flock', [...options, '--conflict-exit-code', String(heldStatus), '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  })
  if (status === 0) return true
  if (status === heldStatus) return false
  const why =
    error?.code === 'ENOENT'
      ? 'there is no such command here. Linux systems come with it, macOS does not'
      : (error?.message ?? stderr).trim()
  throw new CantLock(`the folder can't be locked by \`flock\` of util-linux: ${why}`)
}
