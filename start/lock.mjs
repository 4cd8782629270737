/** One installation and build at a time: `npm start` and `npm test` may be given at once in a fresh clone. */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, say } from './root.mjs'

const waitStepMs = 200

export function underLock(work) {
  const folder = join(root, '.cache')
  const lock = join(folder, 'bootstrap.lock')
  mkdirSync(folder, { recursive: true })
  for (let told = false; !takeLock(lock); told = true) {
    if (!told) say('waiting for another command to finish its build')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitStepMs)
  }
  const release = () => rmSync(lock, { force: true })
  process.once('exit', release)
  try {
    work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** True when the lock is this process's now; false: ask again. One that a killed holder left behind is cleared away. */
export function takeLock(lock) {
  // Written beside its place and linked into it, so that nobody ever reads an empty lock.
  const own = `${lock}.${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    linkSync(own, lock)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
  const holder = read(lock)
  if (holder !== undefined && !isRunning(Number(holder))) clear(lock, holder)
  return false
}

/**
 * Renamed away, not deleted: of two that find a dead holder's lock one gets it, and the other, who may get the new lock
 * of a third in its place, sees that and puts it back.
 */
function clear(lock, holder) {
  const aside = `${lock}.${process.pid}.dead`
  try {
    renameSync(lock, aside)
    if (readFileSync(aside, 'utf8') !== holder) linkSync(aside, lock)
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function isRunning(pid) {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
