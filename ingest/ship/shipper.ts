/**
 * Ships the sealed segments of one stream from all the node's folders. Each of the four stages has a cursor of its own, so
 * an outage of one store doesn't stop the other:
 *
 *   freeze   segments → claims (Redis) → a manifest in the journal
 *   load     manifests → ClickHouse, one insert at a time
 *   repair   hours of rows that were inserted behind a published mark → Postgres
 *   copy     side payloads of manifests → the inbox (Postgres)
 *
 * Loaded manifests advance the marks (marks.ts). Clicks of a lease are stored by rising ids: webhooks rely on it (decisions/0048).
 *
 * A segment is done when all its parts are loaded and copied; a file is done when all its segments are. Done files are kept
 * for some minutes, because a power loss may destroy rows that ClickHouse acknowledged. Then they are recycled, oldest first.
 *
 * Every stage is idempotent. A start repeats everything unfinished: it asks ClickHouse which rows exist before it sends
 * any. Held by test/crash/*.
 */
import { randomBytes } from 'node:crypto'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { InsertRefused } from '../../clickhouse/insert.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import type { StreamName } from '../../schemas/event/row.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import { gatherWhileBehindMs, insertBytesMax } from '../../schemas/limits/log-limits.ts'
import type { Segment } from '../log/segment.ts'
import { type Batch, readBatch } from './batch.ts'
import type { Claims } from './claim.ts'
import type { ShippedFolder } from './file-keeper.ts'
import { buildManifest } from './freeze.ts'
import type { ManifestState, ShipJournal } from './journal.ts'
import { loadOnce, settle } from './load.ts'
import type { Part } from './manifest.ts'
import type { Marks } from './marks.ts'
import { OpenSegments } from './open-segments.ts'
import type { SetAside } from './set-aside.ts'
import { ShippedFolders } from './shipped-folders.ts'
import { copyEach, sidesOf } from './sides.ts'
import { Stages } from './stages.ts'
import { unfinishedManifests } from './unfinished.ts'
import { bytesOf, freezeOrder, WaitingSegments, type WaitingState } from './waiting.ts'

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
  readonly folders: readonly ShippedFolder[]
  readonly journal: ShipJournal
  readonly clickhouse: ClickHouse
  readonly claims: Claims
  /** Copies side payloads in one transaction; each counts once, also where only some come again. @throws StoreUnavailable */
  readonly copySides: (manifestId: number, sides: SidePayload[]) => Promise<void>
  /** The stream `events` has them: the fold reads up to its marks. */
  readonly marks: Marks | undefined
  readonly setAside: SetAside
  readonly insertDeadlineMs: number
  readonly claimWaitMs: number
  readonly clock: Clock
  readonly log: Log
  /** Told of each insert's begin and end: while one runs, open segments grow instead of being sealed by their age. */
  readonly onLoading: (isLoading: boolean) => void
  readonly count: (what: 'loaded' | 'duplicate' | 'unclaimed' | 'settled' | 'retried', rows: number) => void
}

/** How soon claims are tried again while Redis is away. */
const retryClaimsMs = 200
const claimsPauseMs = 1_000
/** How long close() waits for a stage. The next start settles an insert that hangs. */
const stagesEndMs = 1_000
/** Minimum interval between the starts of two inserts of at least `pacedRowsMin` rows. */
const pacedRowsMin = 4096
const insertIntervalMs = 500

export class Shipper {
  /** The log's writers call it as their segments begin and end. */
  readonly open: OpenSegments
  readonly folders: ShippedFolders
  private readonly waiting = new WaitingSegments()
  private readonly toLoad: Frozen[] = []
  private readonly toRepair: Frozen[] = []
  private readonly toCopy: Frozen[] = []
  private readonly stages: Stages
  private isDraining = false
  private claimsNotBefore = 0
  private readonly damages = new Set<string>()

  constructor(private readonly options: ShipperOptions) {
    this.open = new OpenSegments(options.marks)
    this.folders = new ShippedFolders(options.folders, options.journal, options.log)
    this.stages = new Stages(options.log, () => options.count('retried', 1))
  }

  /** Takes over the files found at start. Then the stages run until `close`. */
  start(): void {
    const { journal } = this.options
    const frozen = journal.frozenParts()
    for (const state of unfinishedManifests(this.options, this.folders.found)) {
      this.enqueue({ state, sealedAt: performance.now(), batch: undefined, isUncertain: true })
    }
    for (const segment of this.folders.found) {
      const parts = frozen.get(segment.number) ?? new Set<Part>()
      if (parts.has('all') || parts.has('claimed')) continue
      const state = parts.has('unclaimed') ? 'remainderPending' : 'fresh'
      this.waiting.push({ segment, sealedAt: performance.now(), state })
    }
    for (const state of journal.done()) this.folders.manifestDone(state.manifest)
    for (const stage of [this.freezeNext, this.loadNext, this.repairNext, this.copyNext]) {
      this.stages.run(() => stage.call(this))
    }
    this.folders.start()
    this.options.marks?.start()
  }

  add(segment: Segment): void {
    this.open.sealed(segment.number)
    this.folders.addSegment(segment)
    this.waiting.push({ segment, sealedAt: performance.now(), state: 'fresh' })
    this.stages.wake()
  }

  /** Segments that at least one of the two stores lacks: bytes and age of sealed ones, the number of all. */
  backlog(): { bytes: number; segments: number; ageMs: number } {
    const frozen = new Set([...this.toLoad, ...this.toRepair, ...this.toCopy])
    let { bytes } = this.waiting
    let segments = this.open.size + this.waiting.length
    const now = performance.now()
    let oldest = this.waiting.oldest?.sealedAt ?? now
    for (const { state, sealedAt } of frozen) {
      bytes += bytesOf(state.manifest.segments)
      segments += state.manifest.segments.length
      oldest = Math.min(oldest, sealedAt)
    }
    return { bytes, segments, ageMs: now - oldest }
  }

  /** Ships as much as it can within `deadlineMs`, then stops; the next start finds the rest. */
  async close(deadlineMs: number): Promise<void> {
    this.isDraining = true
    this.stages.wake()
    const deadline = performance.now() + deadlineMs
    while (this.hasWork() && performance.now() < deadline) await sleep(20)
    await Promise.race([this.stages.close(), sleep(stagesEndMs)])
    await this.folders.close()
    await this.options.marks?.close()
    await this.options.journal.close()
  }

  private hasWork(): boolean {
    return [this.waiting, this.toLoad, this.toRepair, this.toCopy].some(({ length }) => length > 0)
  }

  /** Reports damage once, although every stage that reads it finds it. */
  private readonly setDamageAside = async (name: string, bytes: Buffer): Promise<void> => {
    if (this.damages.has(name)) return
    await this.options.setAside(
      `${this.options.stream}-${name}`,
      'bytes of the log were damaged after they were written',
      bytes,
    )
    this.damages.add(name)
  }

  private enqueue(frozen: Frozen): void {
    if (frozen.state.loadedAt === 0) this.toLoad.push(frozen)
    if (!frozen.state.isCopied) this.toCopy.push(frozen)
    this.stages.wake()
  }

  // Stage 1: freeze.

  private async freezeNext(): Promise<number> {
    const { oldest } = this.waiting
    if (!oldest) return Number.POSITIVE_INFINITY
    // Behind the loader there is no hurry: more segments make larger inserts. Side payloads don't wait for long.
    const age = performance.now() - oldest.sealedAt
    if (
      this.toLoad.length > 0 &&
      age < gatherWhileBehindMs &&
      this.waiting.bytes < insertBytesMax &&
      !this.isDraining
    ) {
      return Math.max(20, gatherWhileBehindMs - age)
    }
    for (const state of freezeOrder) if (await this.freezeSome(state)) return 0
    return retryClaimsMs
  }

  /** Freezes the next segments in `state`. False: there are none, or their claims can't be made now. */
  private async freezeSome(state: WaitingState): Promise<boolean> {
    // Rereading the segments at every try costs more than noticing a second later that Redis is back.
    if (state !== 'fresh' && performance.now() < this.claimsNotBefore) return false
    const taken = this.waiting.together(state)
    if (taken.length === 0) return false
    const batch = await this.read(taken.map(({ segment }) => segment))
    const age = performance.now() - taken[0]!.sealedAt
    const manifest = await buildManifest(this.options, batch, state === 'remainderPending', age)
    if (manifest === undefined) {
      this.claimsNotBefore = performance.now() + claimsPauseMs
      if (state === 'fresh') for (const each of taken) each.state = 'claimsPending'
      return state === 'fresh'
    }
    const manifestState = await this.options.journal.freeze(manifest)
    this.waiting.remove(taken, manifest.part)
    const isNext = this.toLoad.length === 0
    const isUncertain = taken.some(({ segment }) => this.folders.isRecovered(segment))
    const { sealedAt } = taken[0]!
    this.enqueue({ state: manifestState, sealedAt, batch: isNext ? batch : undefined, isUncertain })
    return true
  }

  // Stage 2: load.

  private async loadNext(): Promise<number> {
    const next = this.toLoad[0]
    if (!next) return Number.POSITIVE_INFINITY
    const { state } = next
    const { manifest } = state
    this.options.onLoading(true)
    const startedAt = performance.now()
    try {
      if (manifest.rows > 0) await this.load(next)
      if (state.needsRepair) this.toRepair.push(next)
      else await this.finishLoad(state)
      this.options.count('loaded', manifest.rows)
      // Under load, make fewer and larger inserts: each costs ClickHouse a part to write and to merge.
      const isLarge = manifest.rows >= pacedRowsMin && !this.isDraining
      if (isLarge) await sleep(Math.max(0, insertIntervalMs - (performance.now() - startedAt)))
      this.toLoad.shift()
    } finally {
      this.options.onLoading(false)
    }
    this.stages.wake()
    return 0
  }

  private async load(next: Frozen): Promise<void> {
    const { manifest } = next.state
    const batch = next.batch ?? (await this.read(manifest.segments))
    next.batch = undefined
    if (batch.groups.length === 0) return
    if (!next.isUncertain) {
      next.isUncertain = true
      try {
        await loadOnce(this.options, manifest, batch)
        return
      } catch (error) {
        if (!(error instanceof InsertRefused)) throw error
      }
    }
    const isBehind = this.options.marks?.isBehind(manifest) ?? false
    const missing = await settle(this.options, manifest, batch, randomBytes(4).toString('hex'), async () => {
      if (isBehind && !next.state.needsRepair) await this.options.journal.markNeedsRepair(next.state)
    })
    this.options.count('settled', missing)
  }

  private async finishLoad(state: ManifestState): Promise<void> {
    await this.options.journal.markLoaded(state, this.options.clock.now())
    this.options.marks?.loaded(state.manifest)
    if (state.isCopied) this.folders.manifestDone(state.manifest)
  }

  // Stage 3: repair. Only manifests with rows behind a published mark wait for Postgres here.

  private async repairNext(): Promise<number> {
    const next = this.toRepair[0]
    if (!next) return Number.POSITIVE_INFINITY
    await this.options.marks?.recordRepairs(next.state.manifest)
    await this.finishLoad(next.state)
    this.toRepair.shift()
    return 0
  }

  // Stage 4: copy.

  private async copyNext(): Promise<number> {
    const next = this.toCopy[0]
    if (!next) return Number.POSITIVE_INFINITY
    const { state } = next
    const { manifest } = state
    const batch = await this.read(manifest.segments)
    await copyEach(this.options, manifest.id, sidesOf(manifest, batch))
    await this.options.journal.markCopied(state)
    this.toCopy.shift()
    if (state.loadedAt > 0) this.folders.manifestDone(manifest)
    return 0
  }

  private read(segments: readonly Segment[]): Promise<Batch> {
    return readBatch((segment) => this.folders.pathOf(segment), segments, this.setDamageAside)
  }
}
