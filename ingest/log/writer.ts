/**
 * Group commit. Rows are encoded into the gathering group while the group before is in flight. Each group takes one write
 * and one sync; then its waiters are called. commit-pace.ts decides when the next group is written.
 *
 * Invariants:
 * - A waiter gets `true` only when its rows are synced.
 * - A group that fails is not acknowledged, and its file is never synced again. The file is valid up to its last synced
 *   group. The next file's header records that end, and writing continues there.
 * - Waiters of a failed group get `false` once that header is durable. If no file can be made for seconds they get it
 *   anyway; a kill before one is made may then recover the rows.
 * - A group belongs to one segment, a segment to one file. Ids of a failed group are never used again.
 *
 * Held by test/unit/log-writer.test.ts and test/crash/*.
 */
import { closeSync } from 'node:fs'
import { sleep } from '../../runtime/retry.ts'
import type { Hash64 } from '../../schemas/event/row.ts'
import { compileRowEncoder, type RowEncoder } from '../../schemas/event/row-codec.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import { groupBytesMax, logFileRetryMs, logFileTriesBeforeAnswer } from '../../schemas/limits/log-limits.ts'
import { retryWhileDiskFull } from '../wait-for-room.ts'
import { CommitPace } from './commit-pace.ts'
import { isWorthLeaving, type OpenLogFile } from './files.ts'
import { fileHeaderBytes } from './format.ts'
import {
  beginSegment,
  GatheringGroup,
  GroupBuffer,
  groupRowsMax,
  isFull,
  type OnSynced,
  type OpenSegment,
  reportLost,
  sealOnce,
  startAge,
} from './group.ts'
import { leaveOldFiles, type OldFiles } from './leave-old-files.ts'
import { Outage } from './outage.ts'
import type { LogWriterOptions } from './writer-options.ts'

export class LogWriter<Row extends { id: number }> {
  private readonly encode: RowEncoder<Row>
  private readonly groupBytesMax: number
  private file: OpenLogFile | undefined
  private oldFiles: OldFiles | undefined
  /** Behind the last group written or in flight. */
  private fileEnd = fileHeaderBytes
  private syncedEnd = fileHeaderBytes
  private groupNumber = 0
  private segment: OpenSegment | undefined
  private gathering: GatheringGroup | undefined
  private inflight: GatheringGroup | undefined
  private freeBuffers: GroupBuffer[] = []
  /** From a failed write or sync until another file is open. */
  readonly outage = new Outage()
  private isClosed = false
  private idleWaiters: (() => void)[] = []
  private readonly pace = new CommitPace(
    () => this.gathering?.rows ?? 0,
    () => this.commit(),
  )

  private constructor(private readonly options: LogWriterOptions) {
    this.encode = compileRowEncoder<Row>(options.columns)
    this.groupBytesMax = Math.min(groupBytesMax, Math.floor((options.files.fileBytes - fileHeaderBytes) / 4))
    if (!this.fileHasRoom()) throw new RangeError('a log file must have room for a group')
  }

  /** @param previousEnd where the newest file of the folder ends */
  static async open<Row extends { id: number }>(options: LogWriterOptions, previousEnd: number) {
    const writer = new LogWriter<Row>(options)
    writer.file = await retryWhileDiskFull(options.files.folder, options.log, () => options.files.openNext(previousEnd))
    writer.oldFiles = leaveOldFiles(options.files, options.log, () => writer.leaveWhenOld())
    return writer
  }

  /**
   * Whether the writer can accept `rows` more rows of at most `bytes` in total. False while the disk fails or is far
   * behind. Call it before `append`.
   */
  hasRoom(rows: number, bytes: number): boolean {
    if (this.isClosed || this.outage.isOn) return false
    const gathering = this.gathering ?? this.startGroup()
    if (!gathering || gathering.rows + rows > groupRowsMax) return false
    return gathering.rows === 0 || gathering.bytes + bytes <= this.groupBytesMax
  }

  get currentFile(): number {
    return this.file?.number ?? 0
  }

  /**
   * Appends one row after `hasRoom`, sets its id and returns it. The row is durable once a waiter that `whenSynced` adds
   * after this call gets `true`.
   */
  append(row: Row, claim: Hash64 | null, side: SidePayload | null): number {
    const gathering = this.gathering!
    const { segment } = gathering
    const id = gathering.add(this.encode, row, claim, side)
    const isFirst = segment.nextRow === 1
    if (isFirst) this.options.onFirstRow(segment.number)
    if (isFirst) startAge(segment, () => this.trySeal(segment))
    if (gathering.rows === 1 && !this.inflight) this.pace.consider()
    return id
  }

  /** Calls back with `true` once everything appended so far is synced, or with `false` once it is known to be lost. */
  whenSynced(waiter: OnSynced): void {
    if (this.gathering && this.gathering.rows > 0) this.gathering.waiters.push(waiter)
    else if (this.inflight) this.inflight.waiters.push(waiter)
    else waiter(true)
  }

  /** Calls back once the row `id`, appended earlier, is synced (at once when it is). */
  whenRowSynced(id: number, waiter: OnSynced): void {
    const group = [this.inflight, this.gathering].find((each) => each?.holds(id))
    if (group) group.waiters.push(waiter)
    else waiter(true)
  }

  /** The loader has finished its last insert: a segment that has waited for it can be sealed. */
  onLoaderIdle(): void {
    if (this.segment?.isDue) this.trySeal(this.segment)
  }

  /** Syncs all appended rows, seals the open segment, closes the file. No row may be appended any more. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.oldFiles?.stop()
    if (this.inflight || this.gathering?.rows) await new Promise<void>((resolve) => this.idleWaiters.push(resolve))
    if (this.segment) this.seal(this.segment)
    if (this.file) closeSync(this.file.fd)
    this.file = undefined
    await this.options.files.settle()
  }

  private startGroup(): GatheringGroup | undefined {
    let segment = this.segment
    if (segment && ((segment.isDue && !this.options.isLoaderBusy()) || isFull(segment) || !this.fileHasRoom())) {
      this.retire(segment)
      segment = undefined
    }
    segment ??= beginSegment(this.options)
    this.segment = segment
    if (!segment) return undefined
    this.gathering = new GatheringGroup(segment, this.freeBuffers.pop() ?? new GroupBuffer(), this.options.rowBytesMax)
    return this.gathering
  }

  private commit(): void {
    const group = this.gathering
    if (!group || group.rows === 0 || this.inflight || !this.file) return
    const isFirstOfSegment = group.segment.file === 0
    if (isFirstOfSegment && !this.fileHasRoom()) return void this.leaveFile()
    this.gathering = undefined
    this.inflight = group
    if (isFirstOfSegment) {
      Object.assign(group.segment, { file: this.file.number, start: this.fileEnd, end: this.fileEnd })
    }
    const { buffer, segment } = group
    const length = group.finish(this.file.number, this.groupNumber++)
    const startedAt = performance.now()
    const offset = this.fileEnd
    this.fileEnd += length
    try {
      if (this.fileEnd > this.options.files.fileBytes) throw new Error('the group is larger than its rows said')
      this.options.io.write(this.file.fd, buffer.bytes, length, offset)
    } catch (error) {
      return void this.fail(group, error as Error)
    }
    this.options.io.sync(this.file.fd, (error) => {
      if (error) return void this.fail(group, error)
      this.syncedEnd = this.fileEnd
      segment.end = this.fileEnd
      segment.syncedRows += group.rows
      this.inflight = undefined
      this.freeBuffers.push(buffer)
      this.options.observeSync((performance.now() - startedAt) / 1000, group.rows)
      for (const waiter of group.waiters) waiter(true)
      if (this.gathering?.rows) this.pace.consider()
      if (segment !== this.segment) this.sealWhenDone(segment)
      else if (segment.isDue) this.trySeal(segment)
      this.resolveIdleWaiters()
    })
  }

  /** The file is valid only up to its last synced group: continue in another, then call the waiters. */
  private async fail(group: GatheringGroup, error: Error): Promise<void> {
    this.outage.begin()
    if (this.file) this.options.files.distrust(this.file.number)
    this.options.log.error({ err: error, file: this.file?.number }, 'a group could not be written: not acknowledged')
    const lost = this.gathering && this.gathering.rows > 0 ? [group, this.gathering] : [group]
    const segments = [...(this.segment ? [this.segment] : []), ...lost.map(({ segment }) => segment)]
    this.gathering = undefined
    this.segment = undefined
    for (const each of lost) each.forEachClaim(this.options.onClaimLost)
    await this.roll(lost, segments)
    this.inflight = undefined
    this.freeBuffers.push(...lost.map(({ buffer }) => buffer))
    this.resolveIdleWaiters()
  }

  /** Whether the largest group fits behind the written bytes and those in flight. */
  private fileHasRoom(): boolean {
    return this.fileEnd + this.groupBytesMax + this.options.rowBytesMax <= this.options.files.fileBytes
  }

  /**
   * Opens the next file, with retries; until then no rows are accepted. Waiters of `lost` groups get `false` once the
   * new file records the old one's end, or after several tries. Waiters of the gathering group get it after the first
   * failed try.
   * @param segments those of the old file that aren't sealed
   */
  private async roll(lost: GatheringGroup[] = [], segments: OpenSegment[] = []): Promise<void> {
    const left = this.file!
    this.file = undefined
    for (let attempt = 0; !this.file && !(this.isClosed && attempt > 0); attempt++) {
      try {
        this.file = await this.options.files.openNext(this.syncedEnd)
      } catch (error) {
        this.outage.begin()
        this.options.log.error({ err: error }, 'no new log file yet: events are refused')
        if (attempt === logFileTriesBeforeAnswer) reportLost(lost)
        this.dropGathering()
        await sleep(logFileRetryMs)
      }
    }
    reportLost(lost)
    closeSync(left.fd)
    // Only once the old file's end is certain. A kill may bring the lost groups back, and then their segments must not
    // have been shipped without them. If no file could be had before the end, the next start finds them.
    if (this.file) {
      for (const segment of segments) this.seal(segment)
      this.options.onLeft(left.number)
    }
    this.fileEnd = fileHeaderBytes
    this.syncedEnd = fileHeaderBytes
    this.groupNumber = 0
    this.outage.end()
  }

  /** Goes on in the next file. No group is in flight, and no segment of this file is open. */
  private async leaveFile(): Promise<void> {
    await this.roll()
    this.commit()
    this.resolveIdleWaiters()
  }

  /** Begins another file where this one is old and no rows are under way. */
  private async leaveWhenOld(): Promise<void> {
    const { file, inflight, gathering, segment } = this
    if (!file || this.isClosed || inflight || gathering?.rows || !isWorthLeaving(file, this.fileEnd)) return
    // Otherwise a stream whose segments follow each other closely might keep its file for hours more.
    if (segment?.file) this.retire(segment)
    await this.leaveFile()
  }

  private dropGathering(): void {
    const dropped = this.gathering
    this.gathering = undefined
    if (!dropped) return
    dropped.forEachClaim(this.options.onClaimLost)
    reportLost([dropped])
    this.freeBuffers.push(dropped.buffer)
    this.seal(dropped.segment)
  }

  private trySeal(segment: OpenSegment): void {
    if (segment !== this.segment || (this.options.isLoaderBusy() && !isFull(segment))) return
    this.retire(segment)
  }

  /** New groups take another segment; this one is sealed once its own groups are synced. */
  private retire(segment: OpenSegment): void {
    this.segment = undefined
    this.sealWhenDone(segment)
  }

  private sealWhenDone(segment: OpenSegment): void {
    if (this.inflight?.segment === segment) return
    const { gathering } = this
    if (gathering?.segment === segment) {
      if (gathering.rows > 0) return
      this.gathering = undefined
      this.freeBuffers.push(gathering.buffer)
    }
    this.seal(segment)
  }

  private seal(segment: OpenSegment): void {
    if (segment === this.segment) this.segment = undefined
    sealOnce(segment, this.options)
  }

  private resolveIdleWaiters(): void {
    if (this.inflight || (this.gathering && this.gathering.rows > 0)) return
    for (const resolve of this.idleWaiters.splice(0)) resolve()
  }
}
