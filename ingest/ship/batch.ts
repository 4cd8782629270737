/** The rows of some segments in memory, while they are claimed, frozen and loaded. */
import type { Hash64, StreamName } from '../../schemas/event/row.ts'
import { columnsOf } from '../../schemas/event/row.ts'
import { occurredAtOffset, workspaceIdOffset } from '../../schemas/event/row-codec.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { type Group, indexEntryBytes, rowId } from '../log/format.ts'
import { readSegment } from '../log/reader.ts'
import type { Segment } from '../log/segment.ts'
import type { Manifest } from './manifest.ts'

export interface Batch {
  readonly segments: readonly Segment[]
  readonly groups: readonly Group[]
}

/** One row of a batch. The object is used again for the next row. */
export interface BatchRow {
  id: number
  segment: number
  index: number
  group: Group
  /** Where it lies in the group's row bytes. */
  start: number
  end: number
  claim: Hash64
}

/** Reads segments; bytes that are no groups any more are given to `setAside`. */
export async function readBatch(
  pathOf: (segment: Segment) => string,
  segments: readonly Segment[],
  setAside: (name: string, bytes: Buffer) => Promise<void>,
): Promise<Batch> {
  const groups: Group[] = []
  for (const segment of segments) {
    const content = await readSegment(pathOf(segment), segment)
    groups.push(...content.groups)
    for (const { name, bytes } of content.damages) await setAside(name, bytes)
  }
  return { segments, groups }
}

export function forEachRow(batch: Batch, visit: (row: BatchRow) => void): void {
  const row: BatchRow = {
    id: 0,
    segment: 0,
    index: 0,
    group: batch.groups[0]!,
    start: 0,
    end: 0,
    claim: { hi: 0, lo: 0 },
  }
  for (const group of batch.groups) {
    row.group = group
    row.segment = group.segment
    row.end = 0
    for (let i = 0; i < group.rows; i++) {
      const at = i * indexEntryBytes
      row.start = row.end
      row.end += group.index.readUInt32LE(at)
      row.index = group.firstRow + i
      row.id = rowId(group.segment, row.index)
      row.claim.lo = group.index.readUInt32LE(at + 4)
      row.claim.hi = group.index.readUInt32LE(at + 8)
      visit(row)
    }
  }
}

export function hasClaim(row: BatchRow): boolean {
  return row.claim.lo !== 0 || row.claim.hi !== 0
}

/** Makes the test whether a row is the manifest's: of its part, and not dropped. */
export function keptBy({ part, dropped }: Pick<Manifest, 'part' | 'dropped'>): (row: BatchRow) => boolean {
  const indexes = new Map(Object.entries(dropped).map(([segment, list]) => [Number(segment), new Set(list)]))
  return (row) =>
    (part === 'all' || (part === 'claimed') === hasClaim(row)) && !indexes.get(row.segment)?.has(row.index)
}

/** The bytes of the rows that `isKept`, in runs: neighbours in one group are one run. */
export function keptRuns(batch: Batch, isKept: (row: BatchRow) => boolean): Uint8Array[] {
  const runs: Uint8Array[] = []
  let group: Group | undefined
  let start = 0
  let end = 0
  const flush = () => {
    if (group && end > start) runs.push(group.rowBytes.subarray(start, end))
  }
  forEachRow(batch, (row) => {
    if (!isKept(row)) return
    if (row.group === group && row.start === end) {
      end = row.end
      return
    }
    flush()
    group = row.group
    start = row.start
    end = row.end
  })
  flush()
  return runs
}

/** The workspace of a row and its UTC hour, in hours since 1970, read where every format has them. */
export function workspaceHourOf(row: BatchRow): [workspace: number, hour: number] {
  const at = row.start
  const { rowBytes } = row.group
  const workspace = rowBytes.readUInt32LE(at + workspaceIdOffset)
  const low = rowBytes.readUInt32LE(at + occurredAtOffset)
  const high = rowBytes.readUInt32LE(at + occurredAtOffset + 4)
  return [workspace, Math.floor((high * 2 ** 32 + low) / hourMs)]
}

/** The column names of the batch's rows: all its segments have one row format. */
export function columnNamesOf(stream: StreamName, batch: Batch): string[] {
  return columnsOf(stream, batch.segments[0]!.rowFormat)!.map((column) => column.name)
}
