/** An event log in a temporary folder, with a disk whose calls can be made to fail. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type DiskIo, diskIo, LogFiles } from '../../ingest/log/files.ts'
import { readSegment } from '../../ingest/log/reader.ts'
import { recoverLog } from '../../ingest/log/recover.ts'
import type { Segment } from '../../ingest/log/segment.ts'
import type { SegmentNumbers } from '../../ingest/log/segment-numbers.ts'
import { LogWriter } from '../../ingest/log/writer.ts'
import type { SegmentLeases } from '../../ingest/segment-leases.ts'
import { makeLog } from '../../runtime/log.ts'
import { type BotVisitRow, botVisitColumns, type Hash64, streams } from '../../schemas/event/row.ts'
import { decodeRow } from '../../schemas/event/row-codec.ts'
import { segmentLeaseSize } from '../../schemas/limits/log-limits.ts'
import { makeBotVisitRow } from './event-rows.ts'

export const silent = makeLog('test', 'silent')
export const smallFileBytes = 1024 * 1024

export function makeVisit(url: string): BotVisitRow {
  return makeBotVisitRow({ workspace_id: 7, occurred_at: 1_790_000_000_123, received_at: 1_790_000_000_456, url })
}

/** Segment numbers counted in memory, from `first` on. */
export function countingNumbers(first = 1): SegmentNumbers & Pick<SegmentLeases, 'held' | 'letGo'> & { next: number } {
  return {
    next: first,
    take() {
      return this.next++
    },
    outageMs: () => 0,
    held() {
      const lease = Math.floor(this.next / segmentLeaseSize)
      return [{ first: lease * segmentLeaseSize, next: this.next, end: (lease + 1) * segmentLeaseSize }]
    },
    letGo: async () => {},
    close: async () => {},
  }
}

export interface FlakyIo extends DiskIo {
  /** The next so many syncs fail. */
  syncFailures: number
  writeFailures: number
  /** The next so many files can't be opened. */
  headerFailures: number
}

export function makeFlakyIo(): FlakyIo {
  return {
    syncFailures: 0,
    writeFailures: 0,
    headerFailures: 0,
    write(fd, bytes, length, offset) {
      const isHeader = offset === 0 && this.headerFailures > 0
      if (!isHeader && this.writeFailures === 0) return diskIo.write(fd, bytes, length, offset)
      if (isHeader) this.headerFailures--
      else this.writeFailures--
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    },
    sync(fd, done) {
      if (this.syncFailures > 0) {
        this.syncFailures--
        setImmediate(() => done(Object.assign(new Error('input/output error'), { code: 'EIO' })))
        return
      }
      diskIo.sync(fd, done)
    },
  }
}

export async function makeLogFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-log-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** A folder for each test of a file, told to `take`. */
export function setUpLogFolder(take: (folder: string) => void): void {
  let remove: () => Promise<void>
  beforeEach(async () => {
    const made = await makeLogFolder()
    remove = made.remove
    take(made.folder)
  })
  afterEach(() => remove())
}

export type OpenLog = Awaited<ReturnType<typeof openLog>>

/** Opens the folder as a start of the service would: recovers, then begins a new file. */
export async function openLog(
  folder: string,
  numbers: SegmentNumbers,
  io: DiskIo = diskIo,
  fileBytes = smallFileBytes,
) {
  const { files, numbers: fileNumbers } = await LogFiles.open(folder, fileBytes, io)
  const setAside: string[] = []
  const claims: [Hash64, number][] = []
  const recovered = await recoverLog({
    stream: 'bot_visits',
    folder: 0,
    files,
    numbers: fileNumbers,
    onClaim: (claim, id) => claims.push([{ ...claim }, id]),
    setAside: async (name) => {
      setAside.push(name)
    },
    log: silent,
  })
  const sealed: Segment[] = []
  /** Numbers that were taken for nothing. */
  const unused: number[] = []
  const left: number[] = []
  const writer = await LogWriter.open<BotVisitRow>(
    {
      columns: botVisitColumns,
      rowBytesMax: streams.bot_visits.rowBytesMax,
      files,
      numbers,
      io,
      onSealed: (segment) => sealed.push({ ...segment, folder: 0 }),
      onFirstRow: () => {},
      onUnused: (number) => unused.push(number),
      onLeft: (file) => left.push(file),
      isLoaderBusy: () => false,
      onClaimLost: () => {},
      observeSync: () => {},
      log: silent,
    },
    recovered.newestEnd,
  )
  return {
    writer,
    sealed,
    unused,
    left,
    recovered,
    setAside,
    claims,
    pathOf: (file: number) => files.pathOf(file),
    /** Waits for what goes on in the background, so that the folder can be opened anew without a close: as after a kill. */
    abandon: () => files.settle(),
  }
}

/** Appends a row and resolves to its id once it is durable; rejects when it isn't. */
export function appendDurably(log: OpenLog, url: string, claim: Hash64 | null = null): Promise<number> {
  if (!log.writer.hasRoom(1, 4096)) return Promise.reject(new Error('no room'))
  const id = log.writer.append(makeVisit(url), claim, null)
  return new Promise((resolve, reject) => {
    log.writer.whenSynced((isDurable) => (isDurable ? resolve(id) : reject(new Error('not durable'))))
  })
}

/** Every row of the segments as id → url. */
export async function readRows(log: OpenLog, segments: readonly Segment[]): Promise<Map<number, string>> {
  const rows = new Map<number, string>()
  for (const segment of segments) {
    const { groups } = await readSegment(log.pathOf(segment.file), segment)
    for (const group of groups) {
      for (let at = 0; at < group.rowBytes.length; ) {
        const { row, end } = decodeRow(botVisitColumns, group.rowBytes, at)
        rows.set(Number(row.id), row.url as string)
        at = end
      }
    }
  }
  return rows
}
