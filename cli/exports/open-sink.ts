/** Where an export goes: a file that is whole or not there, or standard output. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { CommandFailed, UsageError } from '../command.ts'

export interface Sink {
  write(text: string): Promise<void>
  /** All is written and synced. */
  close(): Promise<void>
  /** Leaves nothing behind. */
  drop(): Promise<void>
}

/**
 * @param print writes to standard output
 * @throws UsageError when there is such a file
 */
export function openSink(path: string | undefined, print: (text: string) => Promise<void>): Sink {
  const nothing = async () => {}
  return path === undefined ? { write: print, close: nothing, drop: nothing } : openFile(path)
}

/** Only its owner may read it: people stand in it. It has its name once it is whole. */
function openFile(path: string): Sink {
  requireNone(path)
  if (!existsSync(dirname(path)))
    throw new CommandFailed(`${path} can't be written: there is no folder ${dirname(path)}`)
  // A name of its own: two exports to one file would write into each other.
  const partial = `${path}.${randomBytes(4).toString('hex')}.part`
  const file = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true })
  const gzip = path.endsWith('.gz') ? createGzip() : null
  const first: Writable = gzip ?? file
  gzip?.pipe(file)
  let fault: Error | undefined
  const written = finished(file).catch((error: Error) => {
    fault = error
  })
  const check = () => {
    if (fault !== undefined) throw new CommandFailed(`${path} can't be written: ${fault.message}`)
  }
  return {
    write: async (text) => {
      check()
      if (!first.write(text)) await Promise.race([once(first, 'drain').catch(() => written), written])
      check()
    },
    close: async () => {
      first.end()
      await written
      check()
      requireNone(path)
      await rename(partial, path)
    },
    drop: async () => {
      file.destroy()
      await written
      // Where it was never made, its path may be none.
      await rm(partial, { force: true }).catch(() => {})
    },
  }
}

function requireNone(path: string): void {
  if (existsSync(path)) throw new UsageError(`there is a file ${path} already`)
}
