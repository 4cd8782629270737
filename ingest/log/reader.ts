/** Reading groups back: for shipping a segment and, at start, for finding the rows in the files. */
import { open } from 'node:fs/promises'
import { fileHeaderBytes, findGroupStart, type Group, groupAlignment, groupLength, readGroup } from './format.ts'
import type { Segment } from './segment.ts'

/** Bytes of a log file in which no valid group stands although valid ones follow, or were known to. */
interface Damage {
  readonly start: number
  readonly end: number
}

export interface FileContent {
  readonly groups: Group[]
  readonly damages: Damage[]
  /** Behind the last valid group. */
  readonly end: number
  /** Whether something unreadable stood behind it where nothing was promised: the torn write of a crash. */
  readonly isTorn: boolean
}

/**
 * Finds the groups in `bytes`, which are a file's from `bytesOffset` on.
 * @param knownEnd up to where the file was acknowledged; Infinity when nobody has said: the last group may be torn
 */
export function findGroups(bytes: Buffer, fileNumber: number, knownEnd: number, bytesOffset = 0): FileContent {
  const groups: Group[] = []
  const damages: Damage[] = []
  const limit = Math.min(knownEnd - bytesOffset, bytes.length)
  let at = bytesOffset === 0 ? fileHeaderBytes : 0
  let expected = bytesOffset === 0 ? 0 : -1
  while (at < limit) {
    const group = readGroup(bytes, at, fileNumber, bytesOffset)
    if (group && (expected < 0 || group.groupNumber === expected)) {
      groups.push(group)
      expected = group.groupNumber + 1
      at += groupLength(group)
      continue
    }
    const next = nextGroup(bytes, at + groupAlignment, fileNumber, expected, limit)
    if (next < 0) break
    damages.push({ start: bytesOffset + at, end: bytesOffset + next })
    expected = -1
    at = next
  }
  const end = bytesOffset + at
  if (at < limit && knownEnd !== Number.POSITIVE_INFINITY) damages.push({ start: end, end: bytesOffset + limit })
  const isTorn = knownEnd === Number.POSITIVE_INFINITY && findGroupStart(bytes.subarray(0, limit), at, fileNumber) >= 0
  return { groups, damages, end, isTorn }
}

function nextGroup(bytes: Buffer, from: number, fileNumber: number, after: number, limit: number): number {
  for (
    let at = findGroupStart(bytes, from, fileNumber);
    at >= 0 && at < limit;
    at = findGroupStart(bytes, at + 1, fileNumber)
  ) {
    const group = readGroup(bytes, at, fileNumber)
    if (group && group.groupNumber > after) return at
  }
  return -1
}

/** Reads the whole of a log file into `into`, which must be as long as the file may be. */
export async function readWhole(path: string, into: Buffer): Promise<Buffer> {
  const handle = await open(path, 'r')
  try {
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(into, length, into.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return into.subarray(0, length)
  } finally {
    await handle.close()
  }
}

/** The name under which a damaged part of a file is set aside: always the same for the same part. */
export function damageName(folder: number, file: number, start: number): string {
  return `${fileName(folder, file)}-at-${start}`
}

/** A file's name among those of all the node's folders. */
export function fileName(folder: number, file: number): string {
  return folder === 0 ? `file-${file}` : `worker-${folder}-file-${file}`
}

export interface SegmentContent {
  readonly groups: Group[]
  /** Parts of the segment that were whole when it was sealed, or found at start, and aren't any more. */
  readonly damages: { readonly name: string; readonly bytes: Buffer }[]
}

/** The groups of one segment, read from its file. */
export async function readSegment(path: string, segment: Segment): Promise<SegmentContent> {
  const bytes = Buffer.allocUnsafe(segment.end - segment.start)
  let length = 0
  const handle = await open(path, 'r')
  try {
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, segment.start + length)
      if (bytesRead === 0) break
      length += bytesRead
    }
  } finally {
    await handle.close()
  }
  const content = findGroups(bytes.subarray(0, length), segment.file, segment.end, segment.start)
  const groups = content.groups.filter((group) => group.segment === segment.number)
  if (groups.reduce((rows, group) => rows + group.rows, 0) === segment.rows) return { groups, damages: [] }
  const damages = content.damages.map(({ start, end }) => ({
    name: damageName(segment.folder, segment.file, start),
    bytes: bytes.subarray(start - segment.start, end - segment.start),
  }))
  return {
    groups,
    damages: damages.length > 0 ? damages : [{ name: damageName(segment.folder, segment.file, segment.start), bytes }],
  }
}
