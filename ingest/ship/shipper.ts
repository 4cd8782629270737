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
import { backoffMs, sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { gatherWhileBehindMs, insertBytesMax, segmentRowsMax } from '../../schemas/limits.ts'
import type { StreamName } from '../../schemas/row.ts'
import type { LogFiles } from '../log/files.ts'
import type { Recovered } from '../log/recover.ts'
import type { Segment } from '../log/segment.ts'
import type { SidePayload } from '../outcome.ts'
import { type Batch, forEachRow, hasClaim, readBatch, sidesOf, workspaceHourOf } from './batch.ts'
import { type Claims, claimBytes } from './claim.ts'
import { FileKeeper } from './file-keeper.ts'
import type { ManifestState, ShipJournal } from './journal.ts'
import { isKept, loadOnce, settle } from './load.ts'
import { type Manifest, manifestId, type Part } from './manifest.ts'
import type { SetAside } from './set-aside.ts'

/** A segment on its way to a manifest; `rest` when its rows without claims are frozen already. */
interface Waiting {
  readonly segment: Segment
  readonly sealedAt: number
  rest: boolean
}

interface Frozen {
  readonly state: ManifestState
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

const retryFirstMs = 200
const retryMaxMs = 5_000
const segmentsPerManifestMax = 512
const rowsPerManifestMax = 4 * segmentRowsMax

export class Shipper {
  private readonly keeper: FileKeeper
  private readonly waiting: Waiting[] = []
  private readonly toLoad: Frozen[] = []
  private readonly toCopy: ManifestState[] = []
  private readonly stopping = new AbortController()
  private wakeUps: (() => void)[] = []
  private stages: Promise<void>[] = []
  private isLoading = false
  private isDraining = false
  private waitingBytes = 0

  constructor(private readonly options: ShipperOptions) {
    this.keeper = new FileKeeper(options)
  }

  /** Takes over what was found at start, shipped or not. Then the stages run until `close`. */
  start({ files, segments }: Pick<Recovered, 'files' | 'segments'>, newestFile: number): void {
    const { journal, clock } = this.options
    this.keeper.adopt(files, segments, newestFile)
    const frozen = journal.frozenParts()
    for (const state of journal.open()) this.enqueue({ state, batch: undefined, isUncertain: true })
    for (const segment of segments) {
      const parts = frozen.get(segment.number) ?? new Set<Part>()
      if (parts.has('all') || parts.has('claimed')) continue
      this.push({ segment, sealedAt: clock.now(), rest: parts.has('unclaimed') })
    }
    for (const state of journal.done()) this.keeper.manifestDone(state.manifest)
    this.stages = [
      this.runStage(() => this.freezeNext()),
      this.runStage(() => this.loadNext()),
      this.runStage(() => this.copyNext()),
    ]
    this.keeper.start()
  }

  add(segment: Segment): void {
    this.keeper.addSegment(segment)
    this.push({ segment, sealedAt: this.options.clock.now(), rest: false })
    this.wake()
  }

  /** True while an insert runs: the open segment then grows instead of being sealed by its age. */
  get isBusy(): boolean {
    return this.isLoading
  }

  /** Bytes of log whose rows are not all stored yet, and since when the oldest of them waits (0: nothing waits). */
  backlog(): { bytes: number; segments: number; since: number } {
    const frozenBytes = this.toLoad.reduce((sum, { state }) => sum + bytesOf(state.manifest.segments), 0)
    const since = this.toLoad[0] ? this.loadingSince : (this.waiting[0]?.sealedAt ?? 0)
    return { bytes: this.waitingBytes + frozenBytes, segments: this.waiting.length + this.toLoad.length, since }
  }

  private loadingSince = 0

  /** Ships what it can within `deadlineMs`, then stops; what is left is found again at the next start. */
  async close(deadlineMs: number): Promise<void> {
    this.isDraining = true
    this.wake()
    const deadline = Date.now() + deadlineMs
    while (this.waiting.length + this.toLoad.length + this.toCopy.length > 0 && Date.now() < deadline) await sleep(20)
    this.stopping.abort()
    this.wake()
    await Promise.all(this.stages)
    await this.keeper.close()
    await this.options.journal.close()
  }

  private push(waiting: Waiting): void {
    this.waiting.push(waiting)
    this.waitingBytes += bytesOf([waiting.segment])
  }

  private enqueue(frozen: Frozen): void {
    if (frozen.state.loadedAt === 0) {
      if (this.toLoad.length === 0) this.loadingSince = this.options.clock.now()
      this.toLoad.push(frozen)
    }
    if (!frozen.state.isCopied) this.toCopy.push(frozen.state)
    this.wake()
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
    return retryFirstMs
  }

  /** Freezes the next segments in the state `rest`. False: there are none, or their claims can't be made now. */
  private async freezeSome(rest: boolean): Promise<boolean> {
    const taken = this.takeTogether(rest)
    if (taken.length === 0) return false
    const batch = await this.read(taken.map(({ segment }) => segment))
    const decision = await this.decideClaims(batch, taken, this.options.clock.now() - taken[0]!.sealedAt)
    if (decision === undefined) return false
    const { part, dropped } = decision
    const state = await this.options.journal.freeze(describe(batch, part, dropped))
    const duplicates = Object.values(dropped).reduce((sum, indexes) => sum + indexes.length, 0)
    if (duplicates > 0) this.options.count('duplicate', duplicates)
    this.removeTaken(taken, part)
    const isNext = this.toLoad.length === 0
    const isUncertain = taken.some(({ segment }) => this.keeper.isRecovered(segment))
    this.enqueue({ state, batch: isNext ? batch : undefined, isUncertain })
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

  /**
   * Which rows are dropped for another's claim. While Redis is away the rows without an id go ahead; the others wait for
   * at most `claimWaitMs` and then rest on the local window alone. Undefined: nothing can be frozen now.
   */
  private async decideClaims(
    batch: Batch,
    taken: Waiting[],
    age: number,
  ): Promise<{ part: Part; dropped: Record<string, number[]> } | undefined> {
    const rest = taken[0]!.rest
    const part: Part = rest ? 'claimed' : 'all'
    const { packed, rows } = packClaims(batch)
    if (rows.length === 0) return { part, dropped: {} }
    try {
      const lost = await this.options.claims.claim(packed, this.options.clock.now())
      const dropped: Record<string, number[]> = {}
      for (const position of lost) {
        const [segment, index] = rows[position]!
        dropped[segment] ??= []
        dropped[segment].push(index)
      }
      return { part, dropped }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      if (age >= this.options.claimWaitMs) {
        this.options.log.warn(
          { rows: rows.length },
          'shipping on the local dedup window alone: Redis has been away for too long',
        )
        this.options.count('unclaimed', rows.length)
        return { part, dropped: {} }
      }
      const hasOthers = taken.reduce((sum, { segment }) => sum + segment.rows, 0) > rows.length
      return !rest && hasOthers ? { part: 'unclaimed', dropped: {} } : undefined
    }
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
    try {
      if (manifest.rows > 0) await this.load(next)
      await this.options.journal.markLoaded(state, this.options.clock.now())
      this.options.count('loaded', manifest.rows)
    } finally {
      this.isLoading = false
    }
    this.toLoad.shift()
    this.loadingSince = this.options.clock.now()
    if (state.isCopied) this.keeper.manifestDone(manifest)
    this.options.onIdle()
    this.wake()
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
    const state = this.toCopy[0]
    if (!state) return Number.POSITIVE_INFINITY
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

  /** Runs a stage until the shipper stops: `step` answers how long to wait for a wake-up before it is asked again. */
  private async runStage(step: () => Promise<number>): Promise<void> {
    for (let failures = 0; !this.stopping.signal.aborted; ) {
      let pause: number
      try {
        pause = await step()
        failures = 0
      } catch (error) {
        pause = backoffMs(failures++, retryFirstMs, retryMaxMs)
        this.options.count('retried', 1)
        const level = error instanceof StoreUnavailable ? 'warn' : 'error'
        if (failures <= 3 || failures % 20 === 0)
          this.options.log[level]({ err: error, failures }, 'shipping goes on later')
        await sleep(pause, this.stopping.signal)
        continue
      }
      if (pause > 0 && !this.stopping.signal.aborted) await this.pause(pause)
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined
      this.wakeUps.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  private wake(): void {
    for (const wakeUp of this.wakeUps.splice(0)) wakeUp()
  }
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { start, end }) => sum + end - start, 0)
}

/** The claims of a batch, packed for Redis, and which rows they are of. */
function packClaims(batch: Batch): { packed: Buffer; rows: [segment: number, index: number][] } {
  const rows: [number, number][] = []
  let packed = Buffer.allocUnsafe(1024 * claimBytes)
  forEachRow(batch, (row) => {
    if (!hasClaim(row)) return
    const at = rows.length * claimBytes
    if (at === packed.length) packed = Buffer.concat([packed, Buffer.allocUnsafe(packed.length)])
    packed.writeUInt32LE(row.claim.lo, at)
    packed.writeUInt32LE(row.claim.hi, at + 4)
    packed.writeUInt32LE(row.id >>> 0, at + 8)
    packed.writeUInt32LE(Math.floor(row.id / 2 ** 32), at + 12)
    rows.push([row.segment, row.index])
  })
  return { packed: packed.subarray(0, rows.length * claimBytes), rows }
}

function describe(batch: Batch, part: Part, dropped: Record<string, number[]>): Manifest {
  const manifest = { id: manifestId(batch.segments[0]!.number, part), part, segments: batch.segments, dropped }
  const kept = isKept({ ...manifest, rows: 0, hasSides: false, keys: [] })
  const keys = new Map<number, [number, number]>()
  let rows = 0
  let hasSides = false
  forEachRow(batch, (row) => {
    if (!kept(row)) return
    rows++
    if (row.group.sideBytes > 0) hasSides = true
    const [workspace, hour] = workspaceHourOf(row)
    // Both fit into 53 bits together: an hour since 1970 has less than 21.
    const key = workspace * 2 ** 21 + hour
    if (!keys.has(key)) keys.set(key, [workspace, hour])
  })
  return { ...manifest, rows, hasSides, keys: [...keys.values()] }
}
