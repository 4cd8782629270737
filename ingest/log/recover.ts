/**
 * What a stream's files hold at start. Nothing but the files is believed: every group is checked, damaged ones are set
 * aside with their reason, the torn tail of an unsynced group is cut (nothing of it was acknowledged). The claims of all
 * rows go back into the local dedup window, so that a retry after a restart is known even without Redis.
 */
import { rm } from 'node:fs/promises'
import type { Log } from '../../runtime/log.ts'
import { columnsOf, type Hash64, type StreamName } from '../../schemas/row.ts'
import type { LogFiles } from './files.ts'
import { decodeFileHeader, fileHeaderBytes, type Group, groupLength, indexEntryBytes, rowId } from './format.ts'
import { findGroups, readWhole } from './reader.ts'
import type { Segment } from './segment.ts'

export interface Recovered {
  /** Every segment of every file, oldest first, whether shipped or not. */
  readonly segments: Segment[]
  /** Oldest first. One without segments is kept as well: its header says where the one before it ends. */
  readonly files: number[]
  /** Where the newest file ends. */
  readonly newestEnd: number
  readonly bytes: number
}

export interface RecoverOptions {
  readonly stream: StreamName
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
  const kept: number[] = []
  let newestEnd = fileHeaderBytes
  let total = 0
  if (numbers.length === 0) return { segments, files: kept, newestEnd, bytes: total }

  // Newest first: a file's header says where the one before it ends.
  const buffer = Buffer.allocUnsafeSlow(files.fileBytes)
  let knownEnd = Number.POSITIVE_INFINITY
  let successor = 0
  let isNewest = true
  for (const number of [...numbers].reverse()) {
    const bytes = await readWhole(files.pathOf(number), buffer)
    const header = decodeFileHeader(bytes)
    if (header?.fileNumber !== number) {
      await options.setAside(`file-${number}`, 'the header of a log file can’t be read', bytes)
      await rm(files.pathOf(number))
      continue
    }
    const content = findGroups(bytes, number, successor === number + 1 ? knownEnd : Number.POSITIVE_INFINITY)
    for (const { start, end } of content.damages) {
      await options.setAside(
        `file-${number}-at-${start}`,
        'damaged bytes among the groups of the log',
        bytes.subarray(start, end),
      )
    }
    if (content.isTorn) log.info({ file: number, at: content.end }, 'cut the torn tail of an unacknowledged group')
    if (isNewest) newestEnd = content.end
    isNewest = false
    const found = await segmentsOf(content.groups, number, options)
    segments.unshift(...found)
    kept.unshift(number)
    total += content.end
    knownEnd = header.previousEnd
    successor = number
  }
  return { segments, files: kept, newestEnd, bytes: total }
}

async function segmentsOf(groups: Group[], file: number, options: RecoverOptions): Promise<Segment[]> {
  const segments: Segment[] = []
  for (const group of groups) {
    if (!columnsOf(options.stream, group.rowFormat)) {
      await options.setAside(
        `file-${file}-at-${group.offset}`,
        `row format ${group.rowFormat} is unknown`,
        group.rowBytes,
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
        file,
        start: group.offset,
        end,
        rows: group.rows,
        rowFormat: group.rowFormat,
      })
    }
    for (let row = 0; row < group.rows; row++) {
      const at = row * indexEntryBytes
      const claim = { lo: group.index.readUInt32LE(at + 4), hi: group.index.readUInt32LE(at + 8) }
      if (claim.lo !== 0 || claim.hi !== 0) options.onClaim(claim, rowId(group.segment, group.firstRow + row))
    }
  }
  return segments
}
