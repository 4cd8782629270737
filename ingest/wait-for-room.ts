/** The start of a node on a full disk. Held by test/crash/full-disk.test.ts. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '../runtime/files/durable-file.ts'
import type { Log } from '../runtime/log.ts'
import { sleep } from '../runtime/retry.ts'
import { startBytesMin } from '../schemas/limits/log-limits.ts'

const againMs = 1_000

/**
 * Resolves once `folder` has room for the files that a start writes. A node that ended in place of that would start and
 * end again and again, until its supervisor gives it up.
 */
export async function waitForRoom(folder: string, log: Log): Promise<void> {
  const probe = join(folder, 'room')
  for (let isTold = false; ; isTold = true) {
    try {
      await writeFileDurably(probe, Buffer.alloc(startBytesMin))
      return await rm(probe)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      if (!isTold) log.error({ folder }, 'the disk is full: the start waits for room')
      await sleep(againMs)
    }
  }
}
