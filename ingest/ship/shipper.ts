/**
 * Ships the sealed segments of one stream, in three stages with a cursor each, so that no store's outage stops the other:
 *
 *   freeze   segments → claims (Redis) → a manifest in the journal
 *   load     manifests → ClickHouse, one insert at a time
 *   copy     side payloads of manifests → the inbox (Postgres)
 *
 * A segment is done when every part of it is loaded and copied; a file when all its segments are. Done files are kept a
 * while (a power loss may have taken what ClickHouse acknowledged) and are then used again, oldest first.
 *
 * Any stage may be repeated at any time, and at start everything unfinished is: what was found in the files is settled by
 * asking ClickHouse, never by sending it blindly. Held by test/crash/*.
 */
import { randomBytes } from 'node:crypto'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { InsertRefused } from '../../clickhouse/client.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { gatherWhileBehindMs, insertBytesMax, segmentRowsMax } from '../../schemas/limits.ts'
import type { StreamName } from '../../schemas/row.ts'
import type { LogFiles } from '../log/files.ts'
import type { Recovered } from '../log/recover.ts'
import type { Segment } from '../log/segment.ts'
import type { SidePayload } from '../outcome.ts'
import { type Batch, forEachRow, readBatch, sidesOf } from './batch.ts'
import type { Claims } from './claim.ts'
import { FileKeeper } from './file-keeper.ts'
import { describeManifest } from './freeze.ts'
import type { ManifestState, ShipJournal } from './journal.ts'
import { isKept, loadOnce, settle } from './load.ts'
import type { Part } from './manifest.ts'
import type { SetAside } from './set-aside.ts'
import { Stages } from './stages.ts'

/** A segment on its way to a manifest; `rest` when its rows without claims are frozen already. */
interface Waiting {
  readonly segment: Segment
  readonly sealedAt: number
  rest: boolean
}

interface Frozen {
  readonly state: ManifestState
  readonly sealedAt: number
  /** Still in memory from freezing, when the loader takes it right away. */
  batch: Batch | undefined
  /** Whether an insert of it may have been sent before. */
  isUncertain: boolean
}

export interface ShipperOptions {
  readonly stream: StreamName
  readonly files: LogFiles
  readonly journal: ShipJournal
  readonly clickhouse: ClickHouse
  readonly claims: Claims
  /** Copies side payloads in one transaction that a repeat doesn't repeat. @throws StoreUnavailable */
  readonly copySides: (manifestId: number, sides: SidePayload[]) => Promise<void>
  readonly setAside: SetAside
  readonly claimWaitMs: number
  readonly clock: Clock
  readonly log: Log
  readonly onIdle: () => void
  readonly count: (what: 'loaded' | 'duplicate' | 'unclaimed' | 'settled' | 'retried', rows: number) => void
}

/** How soon claims are tried again while Redis is away. */
const retryClaimsMs = 200
const segmentsPerManifestMax = 512
/** Inserts of so many rows begin at least so far apart. */
const pacedRowsMin = 4096
const insertIntervalMs = 500
const rowsPerManifestMax = 4 * segmentRowsMax

export class Shipper {
  private readonly keeper: FileKeeper
  private readonly waiting: Waiting[] = []
  private readonly toLoad: Frozen[] = []
  private readonly toCopy: Frozen[] = []
  private readonly stages: Stages
  private isLoading = false
  private isDraining = false
  private waitingBytes = 0

  constructor(private readonly options: ShipperOptions) {
    this.keeper = new FileKeeper(options)
    this.stages = new Stages(options.log, () => options.count('retried', 1))
  }

  /** Takes over what was found at start, shipped or not. Then the stages run until `close`. */
  start({ files, segments }: Pick<Recovered, 'files' | 'segments'>, newestFile: number): void {
    const { journal, clock } = this.options
    this.keeper.adopt(files, segments, newestFile)
    const frozen = journal.frozenParts()
    for (const state of journal.open()) {
      this.enqueue({ state, sealedAt: clock.now(), batch: undefined, isUncertain: true })
    }
    for (const segment of segments) {
      const parts = frozen.get(segment.number) ?? new Set<Part>()
      if (parts.has('all') || parts.has('claimed')) continue
      this.push({ segment, sealedAt: clock.now(), rest: parts.has('unclaimed') })
    }
    for (const state of journal.done()) this.keeper.manifestDone(state.manifest)
    for (const stage of [() => this.freezeNext(), () => this.loadNext(), () => this.copyNext()]) this.stages.run(stage)
    this.keeper.start()
  }

  add(segment: Segment): void {
    this.keeper.addSegment(segment)
    this.push({ segment, sealedAt: this.options.clock.now(), rest: false })
    this.stages.wake()
  }

  /** True while an insert runs: the open segment then grows instead of being sealed by its age. */
  get isBusy(): boolean {
    return this.isLoading
  }

  /** Bytes of log whose rows are not all stored in both stores, and since when the oldest of them waits (0: none does). */
  backlog(): { bytes: number; segments: number; since: number } {
    const frozen = new Map([...this.toLoad, ...this.toCopy].map((each) => [each.state.manifest.id, each]))
    let { waitingBytes: bytes } = this
    let segments = this.waiting.length
    let since = this.waiting[0]?.sealedAt ?? Number.POSITIVE_INFINITY
    for (const { state, sealedAt } of frozen.values()) {
      bytes += bytesOf(state.manifest.segments)
      segments += state.manifest.segments.length
      since = Math.min(since, sealedAt)
    }
    return { bytes, segments, since: Number.isFinite(since) ? since : 0 }
  }

  /** Ships what it can within `deadlineMs`, then stops; what is left is found again at the next start. */
  async close(deadlineMs: number): Promise<void> {
    this.isDraining = true
    this.stages.wake()
    const deadline = Date.now() + deadlineMs
    while (this.waiting.length + this.toLoad.length + this.toCopy.length > 0 && Date.now() < deadline) await sleep(20)
    await this.stages.close()
    await this.keeper.close()
    await this.options.journal.close()
  }

  private push(waiting: Waiting): void {
    this.waiting.push(waiting)
    this.waitingBytes += bytesOf([waiting.segment])
  }

  private enqueue(frozen: Frozen): void {
    if (frozen.state.loadedAt === 0) this.toLoad.push(frozen)
    if (!frozen.state.isCopied) this.toCopy.push(frozen)
    this.stages.wake()
  }

  // Stage 1: freeze.

  private async freezeNext(): Promise<number> {
    if (this.waiting.length === 0) return Number.POSITIVE_INFINITY
    // Behind the loader there is no hurry: more segments make larger inserts. Side payloads don't wait for long.
    const age = this.options.clock.now() - this.waiting[0]!.sealedAt
    if (this.toLoad.length > 0 && age < gatherWhileBehindMs && this.waitingBytes < insertBytesMax && !this.isDraining) {
      return Math.max(20, gatherWhileBehindMs - age)
    }
    // Rests are older, but while they wait for Redis they don't hold up the rows that need no claim.
    if ((await this.freezeSome(true)) || (await this.freezeSome(false))) return 0
    return retryClaimsMs
  }

  /** Freezes the next segments in the state `rest`. False: there are none, or their claims can't be made now. */
  private async freezeSome(rest: boolean): Promise<boolean> {
    const taken = this.takeTogether(rest)
    if (taken.length === 0) return false
    const batch = await this.read(taken.map(({ segment }) => segment))
    const age = this.options.clock.now() - taken[0]!.sealedAt
    const manifest = await describeManifest(this.options, batch, rest, age)
    if (manifest === undefined) return false
    const state = await this.options.journal.freeze(manifest)
    this.removeTaken(taken, manifest.part)
    const isNext = this.toLoad.length === 0
    const isUncertain = taken.some(({ segment }) => this.keeper.isRecovered(segment))
    this.enqueue({ state, sealedAt: taken[0]!.sealedAt, batch: isNext ? batch : undefined, isUncertain })
    return true
  }

  /** The first segments in the state `rest` that fit into one insert and have one row format. */
  private takeTogether(rest: boolean): Waiting[] {
    const taken: Waiting[] = []
    let bytes = 0
    let rows = 0
    for (const each of this.waiting) {
      if (each.rest !== rest) continue
      bytes += bytesOf([each.segment])
      rows += each.segment.rows
      const fits = bytes <= insertBytesMax && rows <= rowsPerManifestMax && taken.length < segmentsPerManifestMax
      if (taken.length > 0 && (!fits || each.segment.rowFormat !== taken[0]!.segment.rowFormat)) break
      taken.push(each)
    }
    return taken
  }

  private removeTaken(taken: Waiting[], part: Part): void {
    if (part === 'unclaimed') {
      for (const each of taken) each.rest = true
      return
    }
    for (const each of taken) this.waitingBytes -= bytesOf([each.segment])
    const gone = new Set(taken)
    const left = this.waiting.filter((each) => !gone.has(each))
    this.waiting.splice(0, this.waiting.length, ...left)
  }

  // Stage 2: load.

  private async loadNext(): Promise<number> {
    const next = this.toLoad[0]
    if (!next) return Number.POSITIVE_INFINITY
    const { state } = next
    const { manifest } = state
    this.isLoading = true
    const startedAt = performance.now()
    try {
      if (manifest.rows > 0) await this.load(next)
      await this.options.journal.markLoaded(state, this.options.clock.now())
      this.options.count('loaded', manifest.rows)
      // Under load fewer inserts of more rows: each costs ClickHouse a part to write and to merge.
      const isLarge = manifest.rows >= pacedRowsMin && !this.isDraining
      if (isLarge) await sleep(Math.max(0, insertIntervalMs - (performance.now() - startedAt)))
    } finally {
      this.isLoading = false
    }
    this.toLoad.shift()
    if (state.isCopied) this.keeper.manifestDone(manifest)
    this.options.onIdle()
    this.stages.wake()
    return 0
  }

  private async load(next: Frozen): Promise<void> {
    const { manifest } = next.state
    const batch = next.batch ?? (await this.read(manifest.segments))
    next.batch = undefined
    if (!next.isUncertain) {
      next.isUncertain = true
      try {
        await loadOnce(this.options, manifest, batch)
        return
      } catch (error) {
        if (!(error instanceof InsertRefused)) throw error
      }
    }
    const missing = await settle(this.options, manifest, batch, randomBytes(4).toString('hex'))
    this.options.count('settled', missing)
  }

  // Stage 3: copy.

  private async copyNext(): Promise<number> {
    const next = this.toCopy[0]
    if (!next) return Number.POSITIVE_INFINITY
    const { state } = next
    const { manifest } = state
    const batch = await this.read(manifest.segments)
    const kept = isKept(manifest)
    const ids = new Set<number>()
    forEachRow(batch, (row) => {
      if (row.group.sideBytes > 0 && kept(row)) ids.add(row.id)
    })
    await this.options.copySides(
      manifest.id,
      sidesOf(batch).filter((side) => ids.has(side.event_id)),
    )
    await this.options.journal.markCopied(state)
    this.toCopy.shift()
    if (state.loadedAt > 0) this.keeper.manifestDone(manifest)
    return 0
  }

  private read(segments: readonly Segment[]): Promise<Batch> {
    return readBatch((file) => this.options.files.pathOf(file), segments)
  }
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { start, end }) => sum + end - start, 0)
}
