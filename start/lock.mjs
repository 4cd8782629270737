/** One installation and build at a time: `npm start` and `npm test` may be given at once in a fresh clone. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CantLock, FolderInUse, lockFolder } from '../runtime/folder-lock.mjs'
import { root, say } from './root.mjs'

const waitStepMs = 200

export function underLock(work) {
  const { release } = takeLock(join(root, '.cache'))
  process.once('exit', release)
  try {
    work()
  } finally {
    process.off('exit', release)
    release()
  }
}

function takeLock(folder) {
  try {
    mkdirSync(folder, { recursive: true })
    return waitFor(folder)
  } catch (error) {
    if (error instanceof CantLock) {
      say(error.message)
      process.exit(1)
    }
    if (!['mkdir', 'open'].includes(error.syscall)) throw error
    // Whoever runs the services need not be who brings new sources.
    say(
      `a build is needed, and can't begin (${error.message}): \`npm run build\` makes it, by a user who may write ${root}`,
    )
    process.exit(1)
  }
}

function waitFor(folder) {
  for (let told = false; ; told = true) {
    try {
      return lockFolder(folder)
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error
    }
    if (!told) say('waiting for another command to finish its build')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitStepMs)
  }
}
