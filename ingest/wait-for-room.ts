/** The start of a node on a full disk. Held by test/crash/full-disk.test.ts. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../runtime/log.ts'
import { sleep } from '../runtime/retry.ts'
import { startBytesMin } from '../schemas/limits/log-limits.ts'

const retryMs = 1_000

/**
 * Resolves once `folder`, which this process has locked, has room for the files that a start writes beside the log.
 * Between two tries the disk's last bytes are left to others, as to stores on the same disk.
 */
export async function waitForRoom(folder: string, log: Log): Promise<void> {
  const probe = join(folder, 'room.new')
  await retryWhileDiskFull(folder, log, async () => {
    try {
      await writeFile(probe, Buffer.alloc(startBytesMin), { mode: 0o600, flush: true })
    } finally {
      await rm(probe, { force: true })
    }
  })
}

/**
 * Repeats a step of a start while the disk is full. If the node exited instead, its supervisor would restart it at once,
 * and after some tries no more.
 */
export async function retryWhileDiskFull<T>(folder: string, log: Log, step: () => Promise<T>): Promise<T> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await step()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      if (!isTold) log.error({ folder }, 'the disk is full: the start waits for room')
    }
    await sleep(retryMs)
  }
}
