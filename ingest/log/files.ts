/**
 * The files of one log stream: `00000012.log` in use, `spare-3.log` ready to be used (again). A spare has its full size and
 * its blocks allocated, so that a sync writes data only.
 *
 * A file becomes `N.log` by: header with number N written and synced, renamed, folder synced. A crash in between leaves a
 * spare or a file without groups. Held by test/property/log.test.ts.
 *
 * A spare that was used has rows of before, until new ones overwrite them. So a file is reused only in the first hours after
 * it was filled with zeros: then rows of erased people go with it. Held by test/unit/old-log-files.test.ts.
 */
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs'
import { mkdir, open, readdir, rename, stat, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../runtime/files/durable-file.ts'
import { ifMissing } from '../../runtime/files/missing-file.ts'
import { sleep } from '../../runtime/retry.ts'
import { logFileAgeMaxMs } from '../../schemas/limits/log-limits.ts'
import { encodeFileHeader, fileHeaderBytes } from './format.ts'

/** The two calls that durability rests on, apart so that tests can make them fail. */
export interface DiskIo {
  write(fd: number, bytes: Buffer, length: number, offset: number): void
  sync(fd: number, done: (error: Error | null) => void): void
}

export const diskIo: DiskIo = {
  write(fd, bytes, length, offset) {
    for (let at = 0; at < length; ) at += writeSync(fd, bytes, at, length - at, offset + at)
  },
  sync: fdatasync,
}

export function logFilePath(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(8, '0')}.log`)
}

export interface OpenLogFile {
  readonly number: number
  readonly fd: number
  /** It had no rows of before. */
  readonly isBlank: boolean
  /** By the monotonic clock. */
  readonly openedAt: number
}

interface Spare {
  readonly name: string
  /** When it was filled with zeros. */
  readonly filledAt: number
  /** It was never used. */
  readonly isBlank: boolean
}

const zeros = Buffer.alloc(1024 * 1024)
const writersSparesMax = 4
/** Between two pieces of a spare: 64 of them take under a second, and a file fills up in two at the very least. */
const sparePauseMs = 10

export class LogFiles {
  private spares: Spare[] = []
  private preparing: Promise<void> | undefined
  /** Somebody waits for the spare that is being prepared. */
  private isSpareUrgent = false
  private lastNumber = 0
  private spareCount = 0
  private readonly distrusted = new Set<number>()

  private constructor(
    readonly folder: string,
    readonly fileBytes: number,
    private readonly io: DiskIo,
    private readonly sparesMax: number,
  ) {}

  /**
   * Opens the folder, making it if need be; `numbers` are the files with content, oldest first.
   * @param sparesMax how many spare files are kept for reuse; 0 for a folder without a writer
   */
  static async open(
    folder: string,
    fileBytes: number,
    io: DiskIo,
    sparesMax = writersSparesMax,
  ): Promise<{ files: LogFiles; numbers: number[] }> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const files = new LogFiles(folder, fileBytes, io, sparesMax)
    const numbers: number[] = []
    for (const name of await readdir(folder)) {
      const [, number] = /^(\d{8,})\.log$/.exec(name) ?? []
      if (number) numbers.push(Number(number))
      // A spare of another size, or one that was still being filled, is not worth keeping.
      else if (/^spare-\d+\.log(\.new)?$/.test(name)) await files.adoptSpare(name)
    }
    numbers.sort((a, b) => a - b)
    files.lastNumber = numbers.at(-1) ?? 0
    return { files, numbers }
  }

  pathOf(number: number): string {
    return logFilePath(this.folder, number)
  }

  /** Opens the next file for writing: durable, empty, `fileBytes` long. The one before was acknowledged up to `previousEnd`. */
  async openNext(previousEnd: number): Promise<OpenLogFile> {
    if (this.spares.length === 0) {
      this.isSpareUrgent = true
      try {
        await this.prepare()
      } finally {
        this.isSpareUrgent = false
      }
    }
    const spare = this.spares.shift()
    if (spare === undefined) throw new Error('no log file could be prepared')
    const number = this.lastNumber + 1
    const path = this.pathOf(number)
    const sparePath = join(this.folder, spare.name)
    const fd = openSync(sparePath, 'r+')
    try {
      const header = encodeFileHeader({ fileNumber: number, previousEnd })
      this.io.write(fd, header, header.length, 0)
      await new Promise<void>((resolve, reject) => {
        this.io.sync(fd, (error) => (error ? reject(error) : resolve()))
      })
      await rename(sparePath, path)
      await syncFolder(this.folder)
    } catch (error) {
      closeSync(fd)
      await unlink(sparePath).catch(() => {})
      throw error
    }
    this.lastNumber = number
    void this.prepare().catch(() => {})
    return { number, fd, isBlank: spare.isBlank, openedAt: performance.now() }
  }

  /** Marks a file whose sync failed. The kernel's state of it can't be trusted, so it is never written again. */
  distrust(number: number): void {
    this.distrusted.add(number)
  }

  /** Leaves nothing of a file but its header, durably. */
  cutToHeader(number: number): Promise<void> {
    return truncateToHeader(this.pathOf(number))
  }

  /** Releases a file whose rows are all stored: it becomes a spare, or is removed where it can't be one. */
  async release(number: number): Promise<void> {
    const path = this.pathOf(number)
    // Where nobody writes, the newest file goes too, but for its number: no later file may have it again.
    if (this.sparesMax === 0 && number === this.lastNumber) return truncateToHeader(path)
    const found = await stat(path).catch(ifMissing(undefined))
    const isReusable = found && found.size === this.fileBytes && !isOld(found.birthtimeMs)
    if (this.distrusted.has(number) || !isReusable || this.spares.length >= this.sparesMax) {
      await unlink(path).catch(ifMissing(undefined))
      this.distrusted.delete(number)
    } else {
      const name = `spare-${++this.spareCount}.log`
      await rename(path, join(this.folder, name))
      await this.adoptSpare(name)
    }
    await syncFolder(this.folder)
  }

  /** Has a spare ready; concurrent calls share one preparation. */
  prepare(): Promise<void> {
    if (this.spares.length > 0) return Promise.resolve()
    this.preparing ??= this.fillSpare().finally(() => {
      this.preparing = undefined
    })
    return this.preparing
  }

  /** Removes used spares that are old, and has another one ready. */
  async renewSpares(): Promise<void> {
    const old = this.spares.filter(({ filledAt, isBlank }) => !isBlank && isOld(filledAt))
    this.spares = this.spares.filter((spare) => !old.includes(spare))
    for (const { name } of old) await unlink(join(this.folder, name)).catch(ifMissing(undefined))
    await this.prepare()
  }

  /** Waits until nothing is being prepared any more. */
  async settle(): Promise<void> {
    await this.preparing?.catch(() => {})
  }

  private async fillSpare(): Promise<void> {
    const name = `spare-${++this.spareCount}.log`
    const temporary = join(this.folder, `${name}.new`)
    await this.requireRoom()
    const handle = await open(temporary, 'w', 0o600)
    try {
      for (let at = 0; at < this.fileBytes; at += zeros.length) {
        await handle.write(zeros, 0, Math.min(zeros.length, this.fileBytes - at), at)
        if (this.isSpareUrgent) continue
        // Piece by piece: a flush of the whole would hold up the syncs of groups for as long as it takes.
        await handle.datasync()
        await sleep(sparePauseMs)
      }
      await handle.sync()
    } catch (error) {
      await unlink(temporary).catch(() => {})
      throw error
    } finally {
      await handle.close()
    }
    await rename(temporary, join(this.folder, name))
    this.spares.push({ name, filledAt: Date.now(), isBlank: true })
  }

  /** A file that is begun in vain takes the disk's last bytes from others, as from stores on the same disk. */
  private async requireRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder)
    if (bavail * bsize >= this.fileBytes) return
    throw Object.assign(new Error(`ENOSPC: no space for a log file in ${this.folder}`), { code: 'ENOSPC' })
  }

  private async adoptSpare(name: string): Promise<void> {
    const path = join(this.folder, name)
    const { size, birthtimeMs } = await stat(path)
    const isWhole = size === this.fileBytes && !name.endsWith('.new')
    if (!isWhole || isOld(birthtimeMs) || this.spares.length >= this.sparesMax) {
      await unlink(path)
      return
    }
    this.spareCount = Math.max(this.spareCount, Number(/\d+/.exec(name)![0]))
    this.spares.push({ name, filledAt: birthtimeMs, isBlank: false })
  }
}

/** Whether a file that is written is old and has any rows. @param end behind the last one that was written */
export function isWorthLeaving({ isBlank, openedAt }: OpenLogFile, end: number): boolean {
  return performance.now() - openedAt >= logFileAgeMaxMs && !(isBlank && end === fileHeaderBytes)
}

/**
 * A clock that was set back makes files seem to be of the future: nobody knows their age.
 * @param filledAt a file is filled once, when it is made. A file system that doesn't know when that was says 0.
 */
function isOld(filledAt: number): boolean {
  return Math.abs(Date.now() - filledAt) > logFileAgeMaxMs
}

async function truncateToHeader(path: string): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await handle.truncate(fileHeaderBytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
