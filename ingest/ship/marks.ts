/**
 * Publishes to Postgres up to where the events of this node's leases are shipped, for the fold. A lease's watermark, or
 * mark for short, is an event id W. Every row of the lease with an id up to W is in ClickHouse or never will be. W is
 * the largest such id.
 *
 * A mark may be lower than the last stored id, never higher. A repair may still insert rows behind a mark. This happens
 * after a power loss in which ClickHouse lost acknowledged rows, or after damage to the journal. Then the rows' hours are
 * recorded in Postgres before the manifest counts as loaded again. To know this after any crash, the journal syncs two
 * things. One is a mark, before it is published. The other is the need of a repair, before the manifest's rows are sent.
 *
 * With the marks goes the time T as of which they are complete. Every event that this node answered before T has an id up
 * to its lease's mark, or is never stored. An event is answered after the first row of its segment was appended. So T
 * is the time of that append for the oldest segment that isn't loaded. If all are loaded, T is the time before the check.
 * Workers report first rows by messages. After the time is read, a round trip to each worker ensures that all have arrived.
 * An open segment without rows doesn't hold T back. A segment found at start does, because its times are unknown.
 * All leases of a node are published in one statement, also when nothing has changed: silent nodes count as dead.
 *
 * Only a manifest under repair waits for Postgres. Held by test/property/marks.test.ts and test/integration/marks.test.ts.
 */
import type { LeaseWatermark } from '../../postgres/tables/operation/segment-leases.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { markIntervalMs, markSpacingMs, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import type { Segment } from '../log/segment.ts'
import type { HeldLease, SegmentLeases } from '../segment-leases.ts'
import type { ShipJournal } from './journal.ts'
import { isWhole, type Manifest, type Part } from './manifest.ts'

/** Where marks and repairs go. @throws StoreUnavailable */
export interface MarkStore {
  /**
   * Publishes the marks of all the node's leases.
   * @param completeForMs called once the store has read its clock; answers how long ago T was, or null where it isn't
   *   known
   */
  advance(marks: readonly LeaseWatermark[], completeForMs: () => number | null): Promise<void>
  /** Records each (workspace, UTC hour since 1970) whose rows were changed behind the marks. */
  recordRepairs(keys: Manifest['keys']): Promise<void>
}

export interface MarksOptions {
  readonly leases: Pick<SegmentLeases, 'held' | 'letGo'>
  readonly journal: ShipJournal
  readonly store: MarkStore
  /** Resolves once all messages that the writers sent before the call have arrived. */
  readonly writerBarrier: () => Promise<void>
  readonly log: Log
}

/** Time that an orderly stop has to publish once more. */
const closeMs = 1_000
/** Failures in a row before one is logged. */
const failuresUntold = 10

/** Reads the monotonic clock that all threads of the process share; performance.now() starts at zero in each thread. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

interface Undone {
  readonly parts: Set<Part>
  /** When the first row was appended that the mark can't pass meanwhile: its own, or a later segment's. Infinity: none was. */
  rowsSince: number
}

/** Segments that have a number and whose rows aren't all loaded yet. */
export class UndoneSegments {
  private readonly segments = new Map<number, Undone>()

  constructor(private readonly leaseSize = segmentLeaseSize) {}

  begin(number: number): void {
    this.segments.set(number, { parts: new Set(), rowsSince: Number.POSITIVE_INFINITY })
  }

  /** Found at start: when its rows were answered isn't known. */
  find(number: number): void {
    this.segments.set(number, { parts: new Set(), rowsSince: Number.NEGATIVE_INFINITY })
  }

  /** The first row of the segment was appended at `at`. */
  gotRow(number: number, at: number): void {
    const lease = this.leaseOf(number)
    for (const [other, segment] of this.segments) {
      // An earlier segment keeps the mark below this row too, even while it has no rows itself.
      const isHeld = other <= number && this.leaseOf(other) === lease
      if (isHeld) segment.rowsSince = Math.min(segment.rowsSince, at)
    }
  }

  /** It ended without a row that counts. */
  unused(number: number): void {
    this.segments.delete(number)
  }

  loaded({ segments, part }: Pick<Manifest, 'segments' | 'part'>): void {
    for (const { number } of segments) {
      const parts = this.segments.get(number)?.parts.add(part)
      if (parts && isWhole(parts)) this.segments.delete(number)
    }
  }

  /** The time as of which the marks are complete, if all first rows of before `now` are known; -Infinity: not known. */
  completeAt(now: number): number {
    let complete = now
    for (const { rowsSince } of this.segments.values()) complete = Math.min(complete, rowsSince)
    return complete
  }

  /** The lease's mark: the id up to which all is done. */
  throughOf({ first, next, end }: HeldLease): number {
    let done = Math.min(next, end)
    for (const number of this.segments.keys()) if (number >= first && number < done) done = number
    return done * segmentRowsMax - 1
  }

  private leaseOf(number: number): number {
    return Math.floor(number / this.leaseSize)
  }
}

export class Marks {
  private readonly undone = new UndoneSegments()
  private timer: NodeJS.Timeout | undefined
  private isRunning = false
  private publishing: Promise<void> | undefined
  private publishedAt = Number.NEGATIVE_INFINITY
  /** Rows were loaded since marks were last computed. */
  private isMoved = false
  private failures = 0

  constructor(private readonly options: MarksOptions) {}

  /** Takes over the segments that were found at start. */
  async adopt(segments: readonly Segment[]): Promise<void> {
    const { journal, leases } = this.options
    if (journal.mayLackMarks) {
      // A mark may have been published up to the last number given out before this start.
      const allDone = new UndoneSegments()
      for (const lease of leases.held()) await journal.noteMark(lease.first, allDone.throughOf(lease))
    }
    for (const { number } of segments) this.undone.find(number)
    for (const { loadedAt, manifest } of [...journal.unfinished(), ...journal.done()]) {
      if (loadedAt > 0) this.undone.loaded(manifest)
    }
  }

  start(): void {
    this.isRunning = true
    this.publishIn(markIntervalMs)
  }

  /** The segment of that number may get rows from now on. */
  begin(number: number): void {
    this.undone.begin(number)
  }

  /** The segment's first row was appended at `at` (monotonicMs), and its request isn't answered yet. */
  gotRow(number: number, at: number): void {
    this.undone.gotRow(number, at)
  }

  /** A segment that was begun ended without a row that counts. */
  unused(number: number): void {
    this.undone.unused(number)
  }

  /** To be called once the journal says so, too. */
  loaded(manifest: Manifest): void {
    this.undone.loaded(manifest)
    this.isMoved = true
    if (!this.publishing) this.publishIn(markSpacingMs)
  }

  /** Whether a mark that covers rows of the manifest may have been published. */
  isBehind({ segments }: Manifest): boolean {
    const held = this.options.leases.held()
    return segments.some(({ number }) => {
      const lease = held.find(({ first, end }) => number >= first && number < end)
      // The journal has forgotten the mark of a lease that isn't held any more.
      return lease === undefined || number * segmentRowsMax <= this.options.journal.markOf(lease.first)
    })
  }

  recordRepairs(manifest: Manifest): Promise<void> {
    return this.options.store.recordRepairs(manifest.keys)
  }

  /** Publishes once more. Nothing may be begun or loaded any more. */
  async close(): Promise<void> {
    this.isRunning = false
    clearTimeout(this.timer)
    await Promise.race([Promise.resolve(this.publishing).then(() => this.publish()), sleep(closeMs)])
  }

  /** Publishes `ms` after the last time, or at once if that has passed. */
  private publishIn(ms: number): void {
    clearTimeout(this.timer)
    if (!this.isRunning) return
    this.timer = setTimeout(() => void this.publish(), Math.max(0, this.publishedAt + ms - monotonicMs()))
    this.timer.unref()
  }

  private publish(): Promise<void> {
    this.publishing ??= this.publishAll()
      .then(
        () => {
          this.failures = 0
        },
        (error) => {
          if (++this.failures % failuresUntold === 0) {
            this.options.log.warn({ err: error, failures: this.failures }, 'marks are published later')
          }
        },
      )
      .finally(() => {
        this.publishing = undefined
        this.publishIn(this.isMoved ? markSpacingMs : markIntervalMs)
      })
    return this.publishing
  }

  private async publishAll(): Promise<void> {
    const { leases, journal, store } = this.options
    const now = monotonicMs()
    this.publishedAt = now
    this.isMoved = false
    await this.options.writerBarrier()
    // Time and marks are of one moment.
    const completeAt = this.undone.completeAt(now)
    const held = leases.held()
    if (held.length === 0) return
    const marks = held.map((lease) => ({ firstSegment: lease.first, throughId: this.undone.throughOf(lease) }))
    try {
      for (const { firstSegment, throughId } of marks) await journal.noteMark(firstSegment, throughId)
    } catch (error) {
      // Publishes unmoved marks: a node that publishes nothing counts as dead, and `as_of` would pass its waiting rows.
      const unmoved = marks.map(({ firstSegment }) => ({ firstSegment, throughId: firstSegment * segmentRowsMax - 1 }))
      await store.advance(unmoved, () => null)
      throw error
    }
    await store.advance(marks, () => (Number.isFinite(completeAt) ? monotonicMs() - completeAt : null))
    for (const [at, { first, end }] of held.entries()) {
      if (marks[at]!.throughId < end * segmentRowsMax - 1) continue
      await leases.letGo(first)
      journal.forgetMark(first)
    }
  }
}
