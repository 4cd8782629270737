/**
 * Reads at start which rows a stream's files hold. Nothing but the files is believed: every group is checked, and
 * damaged ones are set aside with their reason. The torn tail of an unsynced group is cut: nothing of it was
 * acknowledged. The claims of all rows go back into the local dedup window, so that a retry after a restart is known
 * even without Redis.
 */
import type { Log } from '../../runtime/log.ts'
import { columnsOf, type Hash64, type StreamName } from '../../schemas/event/row.ts'
import type { LogFiles } from './files.ts'
import { decodeFileHeader, type FileHeader, fileHeaderBytes, forEachClaim, type Group, groupLength } from './format.ts'
import { damageName, fileName, findGroups, readWhole } from './reader.ts'
import type { Segment } from './segment.ts'

export interface Recovered {
  /** Every segment of every file, oldest first, whether shipped or not. */
  readonly segments: Segment[]
  /** Numbers of the files that are kept, oldest first. Some of them have no segment. */
  readonly files: number[]
  /** Those of them that have nothing behind their header. */
  readonly unused: number[]
  /** Where the newest file ends. */
  readonly newestEnd: number
  readonly bytes: number
}

export interface RecoverOptions {
  readonly stream: StreamName
  /** Which of the node's folders the files are in: see folders.ts. */
  readonly folder: number
  readonly files: LogFiles
  readonly numbers: readonly number[]
  readonly onClaim: (claim: Hash64, id: number) => void
  /** Keeps bytes that can't be read as a group. */
  readonly setAside: (name: string, reason: string, bytes: Buffer) => Promise<void>
  readonly log: Log
}

export async function recoverLog(options: RecoverOptions): Promise<Recovered> {
  const { files, numbers, log } = options
  const segments: Segment[] = []
  const unused: number[] = []
  let newestEnd = fileHeaderBytes
  let total = 0
  if (numbers.length === 0) return { segments, files: [], unused, newestEnd, bytes: total }

  const headers = new Map<number, FileHeader | null>()
  for (const number of numbers) headers.set(number, await readHeader(files.pathOf(number), number))

  const buffer = Buffer.allocUnsafeSlow(files.fileBytes)
  for (const number of numbers) {
    // The next file's header says where this one ends. Files are of full size from the first: most of it may be unused.
    const knownEnd = headers.get(number + 1)?.previousEnd ?? Number.POSITIVE_INFINITY
    const bytes = await readWhole(files.pathOf(number), buffer.subarray(0, knownEnd))
    if (headers.get(number) === null) {
      // Its groups carry the file's number themselves; only where the file before it ends is lost.
      await options.setAside(
        fileName(options.folder, number),
        'the header of a log file can’t be read',
        bytes.subarray(0, fileHeaderBytes),
      )
    }
    const content = findGroups(bytes, number, knownEnd)
    for (const { start, end } of content.damages) {
      await options.setAside(
        damageName(options.folder, number, start),
        'damaged bytes among the groups of the log',
        bytes.subarray(start, end),
      )
    }
    if (content.isTorn) log.info({ file: number, at: content.end }, 'cut the torn tail of an unacknowledged group')
    segments.push(...(await segmentsOf(content.groups, number, options)))
    if (content.end === fileHeaderBytes && content.damages.length === 0 && !content.isTorn) unused.push(number)
    newestEnd = content.end
    total += content.end
  }
  const kept = await releaseUnused(files, numbers, new Set(unused))
  return { segments, files: kept, unused: unused.filter((number) => kept.includes(number)), newestEnd, bytes: total }
}

/**
 * Each start that ends before it writes leaves an unused file. If several are in a row, only the first and the newest are
 * kept. The first one's header says where the file before it ends; the newest one keeps its number from being used again.
 * @returns the files kept
 */
async function releaseUnused(
  files: LogFiles,
  numbers: readonly number[],
  unused: ReadonlySet<number>,
): Promise<number[]> {
  const kept: number[] = []
  for (const number of numbers) {
    const before = kept.at(-1)
    const isNeedless = unused.has(number) && before !== undefined && unused.has(before) && number !== numbers.at(-1)
    if (isNeedless) {
      // The one before may have a group that failed, which only the header of this one keeps from being read.
      await files.cutToHeader(before)
      await files.release(number)
    } else kept.push(number)
  }
  return kept
}

/** Null when the file's first bytes aren't its header. */
async function readHeader(path: string, number: number): Promise<FileHeader | null> {
  const header = decodeFileHeader(await readWhole(path, Buffer.alloc(fileHeaderBytes)))
  return header?.fileNumber === number ? header : null
}

async function segmentsOf(groups: Group[], file: number, options: RecoverOptions): Promise<Segment[]> {
  const segments: Segment[] = []
  for (const group of groups) {
    if (!columnsOf(options.stream, group.rowFormat)) {
      const whole = Buffer.concat([group.rowBytes, group.index, group.side])
      await options.setAside(
        damageName(options.folder, file, group.offset),
        `row format ${group.rowFormat} is unknown`,
        whole,
      )
      continue
    }
    const end = group.offset + groupLength(group)
    const last = segments.at(-1)
    if (last?.number === group.segment) {
      segments[segments.length - 1] = { ...last, end, rows: last.rows + group.rows }
    } else {
      segments.push({
        number: group.segment,
        folder: options.folder,
        file,
        start: group.offset,
        end,
        rows: group.rows,
        rowFormat: group.rowFormat,
      })
    }
    forEachClaim(group.index, group, options.onClaim)
  }
  return segments
}
