/**
 * The layout of the event log.
 *
 * A log file has a fixed size and is used again and again (a growing file syncs at half the speed):
 *
 *   file header, 4096 bytes:
 *     magic u32 "SVCF" | version u16 | 0 u16 | file number u32 | previous file's end u32 | crc32 u32 | zeros
 *   groups, each starting at a multiple of 64 bytes:
 *     magic u32 "SVCG" | row format u16 | 0 u16 | file number u32 | group number in the file u32
 *     | segment number u64 | index of the first row in the segment u32 | rows u32
 *     | rows' bytes u32 | side bytes u32 | crc32 u32 | 0 u32
 *     rows, as ClickHouse loads them | per row: its length u32, its claim hash u64 (0: none) | side payload, JSON lines
 *
 * The file number is in every group and covered by its crc. So bytes of an earlier use never pass for a group of this
 * one. Group numbers count from 0 without gaps. The previous file's end is written when a file is opened. No bytes
 * beyond it were acknowledged (a failed sync leaves such bytes).
 *
 * A group is one write and one sync. A group that doesn't check and has no valid group after it is a torn write. Its
 * rows were not acknowledged. With a valid group (or the known end) after it, it alone is set aside.
 *
 * A segment is a run of groups of one file; it is cut, not moved. Held by test/property/log.test.ts (a cut at every byte,
 * flipped bits) and test/unit/log-writer.test.ts.
 */
import { crc32 } from 'node:zlib'
import type { Hash64 } from '../../schemas/event/row.ts'

export const fileHeaderBytes = 4096
export const groupHeaderBytes = 48
export const groupAlignment = 64
export const indexEntryBytes = 12

const fileMagic = 0x46435653
const groupMagic = 0x47435653
const logVersion = 1

export interface FileHeader {
  readonly fileNumber: number
  readonly previousEnd: number
}

export function encodeFileHeader({ fileNumber, previousEnd }: FileHeader): Buffer {
  const bytes = Buffer.alloc(fileHeaderBytes)
  bytes.writeUInt32LE(fileMagic, 0)
  bytes.writeUInt16LE(logVersion, 4)
  bytes.writeUInt32LE(fileNumber, 8)
  bytes.writeUInt32LE(previousEnd, 12)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 16)), 16)
  return bytes
}

/** Null when the bytes aren't a header of this version. */
export function decodeFileHeader(bytes: Buffer): FileHeader | null {
  if (bytes.length < 20 || bytes.readUInt32LE(0) !== fileMagic || bytes.readUInt16LE(4) !== logVersion) return null
  if (bytes.readUInt32LE(16) !== crc32(bytes.subarray(0, 16))) return null
  return { fileNumber: bytes.readUInt32LE(8), previousEnd: bytes.readUInt32LE(12) }
}

export interface GroupHeader {
  readonly rowFormat: number
  readonly fileNumber: number
  readonly groupNumber: number
  readonly segment: number
  readonly firstRow: number
  readonly rows: number
  readonly rowsBytes: number
  readonly sideBytes: number
}

/** The bytes of a whole group, padding included. */
export function groupLength(group: Pick<GroupHeader, 'rows' | 'rowsBytes' | 'sideBytes'>): number {
  const length = groupHeaderBytes + group.rowsBytes + group.rows * indexEntryBytes + group.sideBytes
  return Math.ceil(length / groupAlignment) * groupAlignment
}

/** Fills in the header in front of a body that already stands in `bytes` behind `groupHeaderBytes`; `end` is the body's. */
export function sealGroup(bytes: Buffer, end: number, group: GroupHeader): void {
  bytes.writeUInt32LE(groupMagic, 0)
  bytes.writeUInt16LE(group.rowFormat, 4)
  bytes.writeUInt16LE(0, 6)
  bytes.writeUInt32LE(group.fileNumber, 8)
  bytes.writeUInt32LE(group.groupNumber, 12)
  bytes.writeUInt32LE(group.segment >>> 0, 16)
  bytes.writeUInt32LE(Math.floor(group.segment / 2 ** 32), 20)
  bytes.writeUInt32LE(group.firstRow, 24)
  bytes.writeUInt32LE(group.rows, 28)
  bytes.writeUInt32LE(group.rowsBytes, 32)
  bytes.writeUInt32LE(group.sideBytes, 36)
  bytes.writeUInt32LE(0, 40)
  bytes.writeUInt32LE(0, 44)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end)), 40)
}

/** A group as it was found: its header, where it lies and its body's parts as views into the bytes read. */
export interface Group extends GroupHeader {
  readonly offset: number
  readonly rowBytes: Buffer
  readonly index: Buffer
  readonly side: Buffer
}

/**
 * Reads the group at `at` of `bytes`, which are a file's from `bytesOffset` on.
 * @returns null when there is no whole, valid group of `fileNumber` there
 */
export function readGroup(bytes: Buffer, at: number, fileNumber: number, bytesOffset = 0): Group | null {
  if (at + groupHeaderBytes > bytes.length || bytes.readUInt32LE(at) !== groupMagic) return null
  if (bytes.readUInt32LE(at + 8) !== fileNumber) return null
  const rows = bytes.readUInt32LE(at + 28)
  const rowsBytes = bytes.readUInt32LE(at + 32)
  const sideBytes = bytes.readUInt32LE(at + 36)
  const indexAt = at + groupHeaderBytes + rowsBytes
  const sideAt = indexAt + rows * indexEntryBytes
  const end = sideAt + sideBytes
  if (end > bytes.length) return null
  const stored = bytes.readUInt32LE(at + 40)
  // The checksum was taken with its own field zero: its four bytes are fed as zeros in their place.
  const checksum = crc32(bytes.subarray(at + 44, end), crc32(fourZeros, crc32(bytes.subarray(at, at + 40))))
  if (checksum !== stored) return null
  return {
    rowFormat: bytes.readUInt16LE(at + 4),
    fileNumber,
    groupNumber: bytes.readUInt32LE(at + 12),
    segment: bytes.readUInt32LE(at + 16) + bytes.readUInt32LE(at + 20) * 2 ** 32,
    firstRow: bytes.readUInt32LE(at + 24),
    rows,
    rowsBytes,
    sideBytes,
    offset: bytesOffset + at,
    rowBytes: bytes.subarray(at + groupHeaderBytes, indexAt),
    index: bytes.subarray(indexAt, sideAt),
    side: bytes.subarray(sideAt, end),
  }
}

const fourZeros = Buffer.alloc(4)

/** The next place at or after `from` where a group of `fileNumber` might start, or -1. */
export function findGroupStart(bytes: Buffer, from: number, fileNumber: number): number {
  const start = Buffer.alloc(4)
  start.writeUInt32LE(groupMagic, 0)
  for (let at = bytes.indexOf(start, from); at >= 0; at = bytes.indexOf(start, at + 1)) {
    if (at % groupAlignment === 0 && at + 12 <= bytes.length && bytes.readUInt32LE(at + 8) === fileNumber) return at
  }
  return -1
}

/** Calls `visit` for the rows with a claim of a group's index, which may be longer than the group's rows. */
export function forEachClaim(
  index: Buffer,
  { segment, firstRow, rows }: Pick<GroupHeader, 'segment' | 'firstRow' | 'rows'>,
  visit: (claim: Hash64, id: number) => void,
): void {
  for (let row = 0; row < rows; row++) {
    const at = row * indexEntryBytes
    const claim = { lo: index.readUInt32LE(at + 4), hi: index.readUInt32LE(at + 8) }
    if (claim.lo !== 0 || claim.hi !== 0) visit(claim, rowId(segment, firstRow + row))
  }
}

/** The id of a row: the segment's number and the row's index in it. */
export function rowId(segment: number, index: number): number {
  return segment * 2 ** 17 + index
}

export function segmentOfId(id: number): number {
  return Math.floor(id / 2 ** 17)
}
