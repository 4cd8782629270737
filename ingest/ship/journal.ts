/**
 * Journal of one stream's shipper: an append-only file of lines (journal-lines.ts).
 *
 * `loaded` and `copied` need no sync: if one is lost, the shipper asks the store again. A line with a wrong checksum is
 * skipped; at start the shipper asks the stores about every segment anyway. The file is compacted to the current state at
 * start, and at a `loaded` line once it has grown large. Held by test/unit/ship-journal.test.ts
 * and failing-journal.test.ts.
 */
import { closeSync, fdatasync, openSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import { ifMissing } from '../../runtime/files/missing-file.ts'
import type { Log } from '../../runtime/log.ts'
import { decodeLine, encodeLine, type JournalLine } from './journal-lines.ts'
import type { Manifest, Part } from './manifest.ts'

const bytesBeforeRewrite = 4 * 1024 * 1024

export interface ManifestState {
  manifest: Manifest
  /** When ClickHouse was known to hold it, milliseconds since 1970; 0 before. */
  loadedAt: number
  isCopied: boolean
  /** Rows of it may have been inserted behind a published mark, and that isn't reported yet. */
  needsRepair: boolean
}

export class ShipJournal {
  private readonly states = new Map<number, ManifestState>()
  /** By the first segment of a lease: the highest mark (event id) that may have been published. */
  private readonly marks = new Map<number, number>()
  private isUnsure = false
  private bytes = 0
  private fd = -1
  /** A write or sync failed, and the file wasn't written anew since. */
  private mustRewrite = false
  private isClosed = false
  /** Appends wait while it is set. */
  private rewriting: Promise<void> | undefined

  private constructor(
    private readonly path: string,
    private readonly bootId: string,
    private readonly log: Log,
  ) {}

  /**
   * Reads the journal and compacts it. After a power loss (another boot id), manifests that were loaded less than
   * `reopenMs` before the last one count as not loaded. The shipper asks for their rows again.
   */
  static async open(path: string, bootId: string, reopenMs: number, log: Log): Promise<ShipJournal> {
    const journal = new ShipJournal(path, bootId, log)
    const lastBoot = journal.replay(await readFile(path, 'utf8').catch(ifMissing('')))
    if (lastBoot !== '' && lastBoot !== bootId) {
      const states = [...journal.states.values()]
      // The last one in order, not the latest time: a clock that ran ahead may have set that.
      const newest = states.findLast(({ loadedAt }) => loadedAt > 0)?.loadedAt ?? 0
      for (const state of states) if (state.loadedAt > newest - reopenMs) state.loadedAt = 0
      log.warn('the machine was restarted: asking for the last manifests again')
    }
    journal.isUnsure ||= lastBoot === ''
    await journal.rewrite()
    return journal
  }

  /** Lines were lost or the file was missing at opening: marks may have been published that it doesn't know. */
  get mayLackMarks(): boolean {
    return this.isUnsure
  }

  /** Manifests with something left to do, oldest first. */
  unfinished(): ManifestState[] {
    return [...this.states.values()].filter((state) => state.loadedAt === 0 || !state.isCopied)
  }

  /** Manifests with nothing left to do whose files are kept. */
  done(): ManifestState[] {
    return [...this.states.values()].filter((state) => state.loadedAt > 0 && state.isCopied)
  }

  /** Which parts of a segment are frozen in a manifest. */
  frozenParts(): Map<number, Set<Part>> {
    const parts = new Map<number, Set<Part>>()
    for (const { manifest } of this.states.values()) {
      for (const { number } of manifest.segments) {
        parts.set(number, (parts.get(number) ?? new Set()).add(manifest.part))
      }
    }
    return parts
  }

  /** Durable when it resolves. */
  async freeze(manifest: Manifest): Promise<ManifestState> {
    const state: ManifestState = { manifest, loadedAt: 0, isCopied: !manifest.hasSides, needsRepair: false }
    await this.untilWritable()
    // In the state before it is in the file: a rewrite that begins meanwhile takes it along.
    this.states.set(manifest.id, state)
    const lines: JournalLine[] = [{ t: 'frozen', m: manifest }]
    if (state.isCopied) lines.push({ t: 'copied', id: manifest.id })
    await this.appendSynced(lines, () => this.states.delete(manifest.id))
    return state
  }

  /** The event id up to which the mark of the lease that begins with `lease` may have been published; -1: none was. */
  markOf(lease: number): number {
    return this.marks.get(lease) ?? -1
  }

  /** To be called before a mark is published. Durable when it resolves; an earlier, higher one stays. */
  async noteMark(lease: number, through: number): Promise<void> {
    await this.untilWritable()
    const before = this.markOf(lease)
    if (through <= before) return
    this.marks.set(lease, through)
    await this.appendSynced([{ t: 'mark', lease, through }], () => this.marks.set(lease, before))
  }

  forgetMark(lease: number): void {
    this.marks.delete(lease)
  }

  /** To be called before rows are inserted behind a published mark. Durable when it resolves. */
  async markNeedsRepair(state: ManifestState): Promise<void> {
    await this.untilWritable()
    state.needsRepair = true
    await this.appendSynced([{ t: 'repair', id: state.manifest.id }], () => {})
  }

  async markLoaded(state: ManifestState, now: number): Promise<void> {
    await this.untilWritable()
    state.loadedAt = now
    state.needsRepair = false
    this.append({ t: 'loaded', id: state.manifest.id, at: now })
    if (this.bytes >= bytesBeforeRewrite) await this.rewrite()
  }

  async markCopied(state: ManifestState): Promise<void> {
    await this.untilWritable()
    state.isCopied = true
    this.append({ t: 'copied', id: state.manifest.id })
  }

  /** Forgets segments that lay in `file` of the folder or in files released before. Durable when it resolves. */
  async markReleased(folder: number, file: number): Promise<void> {
    await this.untilWritable()
    this.forget(folder, file)
    // Before the file is used again: a manifest must never point into another use of it.
    await this.appendSynced([{ t: 'released', folder, file }], () => {})
  }

  /** A stage that a stop doesn't wait for may still call: the file may be the next process's by then. */
  async close(): Promise<void> {
    while (this.rewriting) await this.rewriting
    this.isClosed = true
    if (this.fd >= 0) closeSync(this.fd)
    this.fd = -1
  }

  /** Applies the lines of `text` and answers the last boot id in it. */
  private replay(text: string): string {
    let boot = ''
    let damaged = 0
    for (const textLine of text.split('\n')) {
      if (textLine === '') continue
      const line = decodeLine(textLine)
      if (!line) {
        damaged++
        continue
      }
      if (line.t === 'boot') boot = line.id
      else if (line.t === 'frozen') {
        this.states.set(line.m.id, { manifest: line.m, loadedAt: 0, isCopied: false, needsRepair: false })
      } else if (line.t === 'released') this.forget(line.folder, line.file)
      else if (line.t === 'mark') this.marks.set(line.lease, line.through)
      else {
        const state = this.states.get(line.id)
        if (!state) continue
        if (line.t === 'loaded') Object.assign(state, { loadedAt: line.at, needsRepair: false })
        else if (line.t === 'copied') state.isCopied = true
        else state.needsRepair = true
      }
    }
    this.isUnsure = damaged > 0
    if (damaged > 0)
      this.log.warn({ damaged }, 'lines of the shipping journal don’t check: the stores are asked instead')
    return boot
  }

  private forget(folder: number, file: number): void {
    for (const [id, state] of this.states) {
      const { segments } = state.manifest
      const left = segments.filter((segment) => segment.folder !== folder || segment.file > file)
      if (left.length === 0) this.states.delete(id)
      else if (left.length < segments.length) state.manifest = { ...state.manifest, segments: left }
    }
  }

  /** Appends lines for a change already made to the state; `undo` reverts it if the append fails. */
  private async appendSynced(lines: readonly JournalLine[], undo: () => void): Promise<void> {
    try {
      for (const line of lines) this.append(line)
      await this.sync()
    } catch (error) {
      undo()
      // A file whose sync has failed isn't synced again: a later sync may succeed without the lines.
      this.mustRewrite = true
      await this.rewrite()
      throw error
    }
  }

  private sync(): Promise<void> {
    return new Promise((resolve, reject) => fdatasync(this.fd, (error) => (error ? reject(error) : resolve())))
  }

  private append(line: JournalLine): void {
    // Another's line may have failed since this one's turn came.
    if (this.mustRewrite) throw new Error('the shipping journal must be written anew first')
    const bytes = Buffer.from(encodeLine(line))
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.fd, bytes, at)
    } catch (error) {
      // A full disk may have taken half of it: the next line would end it, and be lost with it.
      this.mustRewrite = true
      throw error
    }
    this.bytes += bytes.length
  }

  /** @throws where the file has to be written anew and can't be */
  private async untilWritable(): Promise<void> {
    while (this.rewriting) await this.rewriting
    if (this.mustRewrite) await this.rewrite()
  }

  /** One at a time; lines are appended again when it is over. */
  private rewrite(): Promise<void> {
    const rewriting = (this.rewriting ?? Promise.resolve()).then(() => this.rewriteNow())
    const ended = rewriting.then(
      () => {},
      () => {},
    )
    this.rewriting = ended
    void ended.then(() => {
      if (this.rewriting === ended) this.rewriting = undefined
    })
    return rewriting
  }

  private async rewriteNow(): Promise<void> {
    if (this.isClosed) throw new Error('the shipping journal is closed')
    // If this fails after the rename, `fd` is still that of the old file.
    this.mustRewrite = true
    let text = encodeLine({ t: 'boot', id: this.bootId })
    for (const [lease, through] of this.marks) text += encodeLine({ t: 'mark', lease, through })
    for (const { manifest, loadedAt, isCopied, needsRepair } of this.states.values()) {
      text += encodeLine({ t: 'frozen', m: manifest })
      if (loadedAt > 0) text += encodeLine({ t: 'loaded', id: manifest.id, at: loadedAt })
      if (isCopied) text += encodeLine({ t: 'copied', id: manifest.id })
      if (needsRepair) text += encodeLine({ t: 'repair', id: manifest.id })
    }
    await writeFileDurably(this.path, text)
    const fd = openSync(this.path, 'a')
    if (this.fd >= 0) closeSync(this.fd)
    this.fd = fd
    // With a long backlog the state alone may be large. Only bytes added to it count towards the next compaction.
    this.bytes = 0
    this.mustRewrite = false
  }
}
