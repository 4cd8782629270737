/**
 * Where bytes go that can't be stored: a folder beside the log, one file with the bytes and one that says why. Nothing is
 * ever dropped without it; an operator looks at them and, once mended, can send them again.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import type { Log } from '../../runtime/log.ts'

/** The same name twice is the same bytes: it is written over. */
export type SetAside = (name: string, reason: string, bytes: Buffer, details?: Record<string, unknown>) => Promise<void>

export function makeSetAside(folder: string, log: Log, count: () => void): SetAside {
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
