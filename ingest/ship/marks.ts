/**
 * Up to where the events of this node's leases are shipped, told to whoever builds aggregates of them. A lease's mark is
 * the largest event id W such that every row of `events` of the lease with an id up to W is in ClickHouse or never will be.
 *
 * Marks may only be behind. Where rows are inserted behind one all the same (after a power loss ClickHouse has lost what it
 * had acknowledged; lines of the journal were damaged), their hours are told once the rows are there, and before the manifest counts as loaded again. So that this is known whatever dies in between, two things are synced into
 * the shipping journal: a mark before it is published, and that a manifest will need repair before its rows are sent.
 *
 * Nothing waits for Postgres but such a manifest. Held by test/property/marks.test.ts and test/integration/marks.test.ts.
 */
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { markIntervalMs, segmentRowsMax } from '../../schemas/limits.ts'
import type { HeldLease, SegmentLeases } from '../ids.ts'
import type { Segment } from '../log/segment.ts'
import type { ShipJournal } from './journal.ts'
import { isWhole, type Manifest, type Part } from './manifest.ts'

/** Where marks and repairs go. @throws StoreUnavailable */
export interface MarkStore {
  advance(firstSegment: number, throughId: number): Promise<void>
  /** For each (workspace, UTC hour since 1970): its rows were changed behind the marks. */
  recordRepairs(keys: Manifest['keys']): Promise<void>
}

export interface MarksOptions {
  readonly leases: Pick<SegmentLeases, 'held' | 'letGo'>
  readonly journal: ShipJournal
  readonly store: MarkStore
  readonly log: Log
}

/** What an orderly stop may take to publish once more. */
const closeMs = 1_000
/** Failures in a row before it is said: one is nothing. */
const failuresUntold = 10

/** Segments that have got a number and whose rows are not all loaded yet. */
export class UndoneSegments {
  private readonly parts = new Map<number, Set<Part>>()

  begin(number: number): void {
    this.parts.set(number, new Set())
  }

  /** No row of it counts. */
  unused(number: number): void {
    this.parts.delete(number)
  }

  loaded({ segments, part }: Pick<Manifest, 'segments' | 'part'>): void {
    for (const { number } of segments) {
      const parts = this.parts.get(number)?.add(part)
      if (parts && isWhole(parts)) this.parts.delete(number)
    }
  }

  /** The lease's mark: the id up to which all is done. */
  throughOf({ first, next, end }: HeldLease): number {
    let done = Math.min(next, end)
    for (const number of this.parts.keys()) if (number >= first && number < done) done = number
    return done * segmentRowsMax - 1
  }
}

export class Marks {
  private readonly undone = new UndoneSegments()
  /** By the lease's first number, what Postgres was told last. */
  private readonly published = new Map<number, number>()
  private timer: NodeJS.Timeout | undefined
  private publishing: Promise<void> | undefined
  private failures = 0

  constructor(private readonly options: MarksOptions) {}

  /** Takes over what was found at start. */
  async adopt(segments: readonly Segment[]): Promise<void> {
    const { journal, leases } = this.options
    if (journal.mayLackMarks) {
      // Whatever was given out before this start may have been published.
      const nothing = new UndoneSegments()
      for (const lease of leases.held()) await journal.noteMark(lease.first, nothing.throughOf(lease))
    }
    for (const { number } of segments) this.undone.begin(number)
    for (const { loadedAt, manifest } of [...journal.open(), ...journal.done()]) {
      if (loadedAt > 0) this.undone.loaded(manifest)
    }
  }

  start(): void {
    this.timer = setInterval(() => void this.publish(), markIntervalMs)
    this.timer.unref()
  }

  /** A number that rows may get now. */
  begin(number: number): void {
    this.undone.begin(number)
  }

  /** No row of a number that was begun counts. */
  unused(number: number): void {
    this.undone.unused(number)
  }

  /** To be called once the journal says so, too. */
  loaded(manifest: Manifest): void {
    this.undone.loaded(manifest)
  }

  /** Whether a mark may have been published that says of rows of the manifest that they are there. */
  isBehind({ segments }: Manifest): boolean {
    const held = this.options.leases.held()
    return segments.some(({ number }) => {
      const lease = held.find(({ first, end }) => number >= first && number < end)
      // Of a lease that was let go of nothing is known any more.
      return lease === undefined || number * segmentRowsMax <= this.options.journal.markOf(lease.first)
    })
  }

  recordRepairs(manifest: Manifest): Promise<void> {
    return this.options.store.recordRepairs(manifest.keys)
  }

  /** Publishes once more. Nothing may be begun or loaded any more. */
  async close(): Promise<void> {
    clearInterval(this.timer)
    await Promise.race([Promise.resolve(this.publishing).then(() => this.publish()), sleep(closeMs)])
  }

  private publish(): Promise<void> {
    this.publishing ??= this.publishChanged()
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
      })
    return this.publishing
  }

  private async publishChanged(): Promise<void> {
    const { leases, journal, store } = this.options
    for (const lease of leases.held()) {
      const { first, end } = lease
      const through = this.undone.throughOf(lease)
      if (through < first * segmentRowsMax || through <= (this.published.get(first) ?? -1)) continue
      await journal.noteMark(first, through)
      await store.advance(first, through)
      this.published.set(first, through)
      if (through < end * segmentRowsMax - 1) continue
      await leases.letGo(first)
      journal.forgetMark(first)
      this.published.delete(first)
    }
  }
}
