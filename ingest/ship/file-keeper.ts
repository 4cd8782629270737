/** Keeps a folder's finished log files for a while, and then releases them, oldest first. */
import type { Log } from '../../runtime/log.ts'
import { retiredFileKeepMs } from '../../schemas/limits/log-limits.ts'
import type { LogFiles } from '../log/files.ts'
import type { Recovered } from '../log/recover.ts'
import type { Segment } from '../log/segment.ts'
import type { ShipJournal } from './journal.ts'
import { isWhole, type Manifest, type Part } from './manifest.ts'

const sweepMs = 5_000

interface KeptFile {
  /** Segments not done yet, with the parts of each that are. */
  readonly open: Map<number, Set<Part>>
  /** By the monotonic clock. */
  doneAt: number
}

/** A folder of the log, as it was found at start. Its files are read here; `release` goes to the thread that writes there. */
export interface ShippedFolder {
  readonly folder: number
  readonly files: Pick<LogFiles, 'fileBytes' | 'pathOf' | 'release'>
  readonly recovered: Pick<Recovered, 'files' | 'segments' | 'unused'>
  /** The file that is being written, which is kept. Infinity for a folder without a writer: all its files may go. */
  readonly newestFile: number
}

export interface FileKeeperOptions {
  /** Bytes of finished files that are kept. */
  readonly bytesMax: number
  readonly journal: ShipJournal
  readonly log: Log
}

export class FileKeeper {
  private readonly kept = new Map<number, KeptFile>()
  private readonly recovered = new Set<number>()
  private writingFile: number
  private timer: NodeJS.Timeout | undefined
  private sweeping: Promise<void> = Promise.resolve()

  constructor(
    private readonly folder: ShippedFolder,
    private readonly options: FileKeeperOptions,
  ) {
    const { files, segments, unused } = folder.recovered
    this.writingFile = folder.newestFile
    for (const file of files) this.kept.set(file, { open: new Map(), doneAt: performance.now() })
    // Nothing can be loaded again from these.
    for (const file of unused) this.kept.get(file)!.doneAt = Number.NEGATIVE_INFINITY
    for (const segment of segments) {
      this.addSegment(segment)
      this.recovered.add(segment.number)
    }
  }

  start(): void {
    // A process that dies before its first interval must not leave more files each time.
    this.sweep()
    this.timer = setInterval(() => this.sweep(), sweepMs)
    this.timer.unref()
  }

  addSegment(segment: Segment): void {
    this.writingFile = Math.max(this.writingFile, segment.file)
    const file = this.kept.get(segment.file) ?? { open: new Map(), doneAt: 0 }
    file.open.set(segment.number, new Set())
    file.doneAt = 0
    this.kept.set(segment.file, file)
  }

  /** The writer has left the file, and all of its segments were added. */
  fileLeft(number: number): void {
    this.writingFile = Math.max(this.writingFile, number + 1)
    if (!this.kept.has(number)) this.kept.set(number, { open: new Map(), doneAt: performance.now() })
  }

  isRecovered(number: number): boolean {
    return this.recovered.has(number)
  }

  manifestDone({ segments, part }: Manifest): void {
    for (const { number, folder, file } of segments) {
      if (folder !== this.folder.folder) continue
      const open = this.kept.get(file)?.open
      const parts = open?.get(number)
      if (!open || !parts) continue
      parts.add(part)
      if (isWhole(parts)) open.delete(number)
      if (open.size === 0) this.kept.get(file)!.doneAt = performance.now()
    }
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.sweeping
  }

  private sweep(): void {
    this.sweeping = this.sweeping
      .then(() => this.releaseOldest())
      .catch((error) => this.options.log.error({ err: error }, 'a log file could not be released'))
  }

  private async releaseOldest(): Promise<void> {
    const { folder, files } = this.folder
    const { journal, bytesMax } = this.options
    const numbers = [...this.kept.keys()].sort((a, b) => a - b)
    let bytes = numbers.length * files.fileBytes
    for (const number of numbers) {
      const file = this.kept.get(number)!
      // Only in order: a file's header tells where the one before it ends.
      if (number >= this.writingFile || file.open.size > 0) return
      if (performance.now() - file.doneAt < retiredFileKeepMs && bytes <= bytesMax) return
      await journal.markReleased(folder, number)
      await files.release(number)
      this.kept.delete(number)
      bytes -= files.fileBytes
    }
  }
}
