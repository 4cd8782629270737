/**
 * Where bytes go that can't be stored: a folder beside the log, one file with the bytes and one that says why. An
 * operator looks at them and, once mended, can send them again. After `setAsideKeepMs` all in the folder is deleted,
 * what the operator put there too, because erasures don't reach it.
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../runtime/clock.ts'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import { ifMissing } from '../../runtime/files/missing-file.ts'
import type { Log } from '../../runtime/log.ts'
import { setAsideKeepMs, setAsideSweepMs } from '../../schemas/limits/log-limits.ts'

const folderOf = (nodeFolder: string) => join(nodeFolder, 'set-aside')

/** The same name twice is the same bytes: it is written over. */
export type SetAside = (name: string, reason: string, bytes: Buffer, details?: Record<string, unknown>) => Promise<void>

export function makeSetAside(nodeFolder: string, log: Log, count: () => void): SetAside {
  const folder = folderOf(nodeFolder)
  return async (name, reason, bytes, details = {}) => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFileDurably(join(folder, `${name}.bin`), bytes)
    await writeFileDurably(
      join(folder, `${name}.json`),
      JSON.stringify({ reason, bytes: bytes.length, ...details }, null, 2),
    )
    count()
    log.error({ name, reason }, 'set aside what can’t be stored')
  }
}

/** Deletes what is old enough, now and at intervals. */
export function expireSetAside(nodeFolder: string, clock: Clock, log: Log): void {
  const sweep = () =>
    deleteOlder(folderOf(nodeFolder), clock.now() - setAsideKeepMs, log).catch((error) => {
      log.error({ err: error }, 'what was set aside can’t be deleted')
    })
  void sweep()
  setInterval(sweep, setAsideSweepMs).unref()
}

async function deleteOlder(folder: string, before: number, log: Log): Promise<void> {
  for (const name of await readdir(folder).catch(ifMissing<string[]>([]))) {
    const file = join(folder, name)
    // An operator may have taken it away.
    const found = await stat(file).catch(ifMissing(undefined))
    if (found === undefined || found.mtimeMs >= before) continue
    await rm(file, { force: true, recursive: true })
    log.warn({ name }, 'deleted what was set aside')
  }
}
