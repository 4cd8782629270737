/** The group of rows that gathers or is on its way to the disk, and the segment that it belongs to. */
import { type Hash64, rowFormat } from '../../schemas/event/row.ts'
import type { RowEncoder } from '../../schemas/event/row-codec.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import { segmentAgeMs, segmentBytesMax, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { forEachClaim, groupHeaderBytes, groupLength, indexEntryBytes, rowId, sealGroup } from './format.ts'
import type { LogWriterOptions } from './writer-options.ts'

/** A group is small beside a segment, so that a segment always has room for one more. */
export const groupRowsMax = segmentRowsMax / 8
const firstBytes = 512 * 1024
const firstIndexRows = 256

/** Hears whether its rows are on the disk. */
export type OnSynced = (isDurable: boolean) => void

/** A segment that is being written. */
export interface OpenSegment {
  readonly number: number
  /** Where its first group went; 0 before that. */
  file: number
  start: number
  /** Behind its last synced group. */
  end: number
  syncedRows: number
  /** Index that the next row gets. */
  nextRow: number
  isDue: boolean
  isSealed: boolean
  timer: NodeJS.Timeout | undefined
}

type Sealing = Pick<LogWriterOptions, 'onSealed' | 'onUnused'>

/** A segment without rows: it may stay so for as long as none come. Undefined where no number can be had. */
export function beginSegment({ numbers, log }: Pick<LogWriterOptions, 'numbers' | 'log'>): OpenSegment | undefined {
  let number: number
  try {
    number = numbers.take()
  } catch (error) {
    log.error({ err: error }, 'no segment number: events are refused')
    return undefined
  }
  return {
    number,
    file: 0,
    start: 0,
    end: 0,
    syncedRows: 0,
    nextRow: 0,
    isDue: false,
    isSealed: false,
    timer: undefined,
  }
}

/** Calls `onDue` when the segment has reached the age at which it is to be sealed, counted from now. */
export function startAge(segment: OpenSegment, onDue: () => void): void {
  segment.timer = setTimeout(() => {
    segment.isDue = true
    onDue()
  }, segmentAgeMs)
}

/** Hands on a segment whose end is certain. Does nothing for one that was sealed before. */
export function sealOnce(segment: OpenSegment, { onSealed, onUnused }: Sealing): void {
  if (segment.isSealed) return
  segment.isSealed = true
  clearTimeout(segment.timer)
  const { number, file, start, end, syncedRows } = segment
  if (syncedRows === 0) onUnused(number)
  else onSealed({ number, file, start, end, rows: syncedRows, rowFormat })
}

/** Whether a segment may not take another group. */
export function isFull(segment: OpenSegment): boolean {
  return segment.nextRow + groupRowsMax > segmentRowsMax || segment.end - segment.start >= segmentBytesMax
}

/** Memory of a group, used again by later ones. */
export class GroupBuffer {
  bytes = Buffer.allocUnsafeSlow(firstBytes)
  index = Buffer.allocUnsafeSlow(firstIndexRows * indexEntryBytes)

  growBytes(atLeast: number, used: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, atLeast))
    this.bytes.copy(grown, 0, 0, used)
    this.bytes = grown
  }

  growIndex(): void {
    const grown = Buffer.allocUnsafeSlow(this.index.length * 2)
    this.index.copy(grown)
    this.index = grown
  }
}

export class GatheringGroup {
  readonly waiters: OnSynced[] = []
  readonly firstRow: number
  rows = 0
  private used = groupHeaderBytes
  private readonly sides: string[] = []
  private sideBytes = 0

  constructor(
    readonly segment: OpenSegment,
    readonly buffer: GroupBuffer,
    private readonly rowBytesMax: number,
  ) {
    this.firstRow = segment.nextRow
  }

  /** The bytes that it will take, but for its padding. */
  get bytes(): number {
    return this.used + this.rows * indexEntryBytes + this.sideBytes
  }

  /** Encodes a row into the group, giving it its id, which is returned. */
  add<Row extends { id: number }>(
    encode: RowEncoder<Row>,
    row: Row,
    claim: Hash64 | null,
    side: SidePayload | null,
  ): number {
    const { buffer, segment } = this
    const id = rowId(segment.number, segment.nextRow)
    row.id = id
    const start = this.used
    const bound = start + this.rowBytesMax
    if (bound > buffer.bytes.length) buffer.growBytes(bound, start)
    const end = encode(row, buffer.bytes, start)
    if (side) side.event_id = id
    const line = side ? `${JSON.stringify(side)}\n` : ''
    // Nothing has changed until here: a row that can't be encoded leaves the group as it was.
    const at = this.rows * indexEntryBytes
    if (at + indexEntryBytes > buffer.index.length) buffer.growIndex()
    buffer.index.writeUInt32LE(end - start, at)
    buffer.index.writeUInt32LE(claim === null ? 0 : claim.lo, at + 4)
    buffer.index.writeUInt32LE(claim === null ? 0 : claim.hi, at + 8)
    if (line !== '') {
      this.sides.push(line)
      this.sideBytes += Buffer.byteLength(line)
    }
    this.used = end
    this.rows++
    segment.nextRow++
    return id
  }

  holds(id: number): boolean {
    const first = rowId(this.segment.number, this.firstRow)
    return id >= first && id < first + this.rows
  }

  forEachClaim(visit: (claim: Hash64, id: number) => void): void {
    const { firstRow, rows, segment } = this
    forEachClaim(this.buffer.index, { segment: segment.number, firstRow, rows }, visit)
  }

  /** Puts index, side payloads and header to the rows. Returns how many of the buffer's bytes are the group. */
  finish(fileNumber: number, groupNumber: number): number {
    const { buffer } = this
    const rowsBytes = this.used - groupHeaderBytes
    const side = Buffer.from(this.sides.join(''), 'utf8')
    const sideBytes = side.length
    const length = groupLength({ rows: this.rows, rowsBytes, sideBytes })
    if (length > buffer.bytes.length) buffer.growBytes(length, this.used)
    const { bytes } = buffer
    const sideAt = this.used + buffer.index.copy(bytes, this.used, 0, this.rows * indexEntryBytes)
    const end = sideAt + side.copy(bytes, sideAt)
    bytes.fill(0, end, length)
    const { rows, firstRow, segment } = this
    sealGroup(bytes, end, {
      rowFormat,
      fileNumber,
      groupNumber,
      segment: segment.number,
      firstRow,
      rows,
      rowsBytes,
      sideBytes,
    })
    return length
  }
}

/** Tells whoever waits for these groups that they won't be on the disk. */
export function reportLost(groups: readonly GatheringGroup[]): void {
  for (const group of groups) for (const waiter of group.waiters.splice(0)) waiter(false)
}
