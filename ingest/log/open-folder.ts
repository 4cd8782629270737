/** A folder of one stream's log, read at start. */
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import type { StreamName } from '../../schemas/event/row.ts'
import type { DedupWindow } from './dedup-window.ts'
import { type DiskIo, LogFiles } from './files.ts'
import { streamFolder } from './folders.ts'
import { type Recovered, recoverLog } from './recover.ts'

export interface FolderOptions {
  readonly stream: StreamName
  /** The node's: the stream has one in it for each writer. */
  readonly nodeFolder: string
  readonly folder: number
  readonly fileBytes: number
  readonly io: DiskIo
  /**
   * The dedup window of the folder's writer, which gets the claims of its rows again. Nobody writes to the folder
   * without one.
   */
  readonly window: DedupWindow | undefined
  readonly setAside: (name: string, reason: string, bytes: Buffer) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

export interface OpenFolder {
  readonly files: LogFiles
  readonly recovered: Recovered
}

export async function openFolder(options: FolderOptions): Promise<OpenFolder> {
  const { stream, folder, window, clock, log } = options
  const startedAt = performance.now()
  const path = streamFolder(options.nodeFolder, folder, stream)
  // Spare files are of use to a writer only.
  const sparesMax = window === undefined ? 0 : undefined
  const { files, numbers } = await LogFiles.open(path, options.fileBytes, options.io, sparesMax)
  const recovered = await recoverLog({
    stream,
    folder,
    files,
    numbers,
    onClaim: (claim, id) => {
      if (window?.find(claim) === 0) window.add(claim, id, clock.now())
    },
    setAside: (name, reason, bytes) => options.setAside(`${stream}-${name}`, reason, bytes),
    log,
  })
  if (recovered.bytes > 0) {
    const seconds = (performance.now() - startedAt) / 1000
    log.info({ folder, files: recovered.files.length, bytes: recovered.bytes, seconds }, 'read the event log')
  }
  return { files, recovered }
}
