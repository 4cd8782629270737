/** Reading groups back: for shipping a segment and, at start, for finding out what the files hold. */
import { open } from 'node:fs/promises'
import { fileHeaderBytes, findGroupStart, type Group, groupAlignment, groupLength, readGroup } from './format.ts'
import type { Segment } from './segment.ts'

/** Bytes of a log file in which no valid group stands although valid ones follow, or were known to. */
export interface Damage {
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

/** The groups of one segment, read from its file. Damaged ones are left out: they were set aside when found. */
export async function readSegment(path: string, segment: Segment): Promise<Group[]> {
  const bytes = Buffer.allocUnsafe(segment.end - segment.start)
  const handle = await open(path, 'r')
  try {
    for (let length = 0; length < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, segment.start + length)
      if (bytesRead === 0) throw new Error(`${path} ends within segment ${segment.number}`)
      length += bytesRead
    }
  } finally {
    await handle.close()
  }
  const { groups } = findGroups(bytes, segment.file, segment.end, segment.start)
  return groups.filter((group) => group.segment === segment.number)
}
