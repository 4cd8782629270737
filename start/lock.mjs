/** One installation and build at a time: `npm start` and `npm test` may be given at once in a fresh clone. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, say } from './root.mjs'

const waitStepMs = 200

export function underLock(work) {
  const folder = join(root, '.cache')
  const lock = join(folder, 'bootstrap.lock')
  mkdirSync(folder, { recursive: true })
  for (let told = false; !take(lock); told = true) {
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

function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    if (pid > 0) process.kill(pid, 0)
  } catch (error) {
    // Its holder was killed, or has just finished.
    if (error.code === 'ESRCH') rmSync(lock, { force: true })
    else if (error.code !== 'ENOENT' && error.code !== 'EPERM') throw error
  }
  return false
}
