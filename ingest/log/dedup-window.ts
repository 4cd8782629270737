/**
 * The ids that this node has seen lately: 64-bit keyed hashes of `client_event_id` → event id, in two generations of
 * open-addressed tables. When the younger one is full or has covered the whole window, the older one is dropped and they
 * change places. So memory is bounded, and an entry lives for one to two generations.
 *
 *   entry, 16 bytes so that a look-up touches one cache line: hash lo u32 | hash hi u32 | id lo u32 | id hi u32
 *   free: id 0; removed: id hi is `removed`, and probing goes on past it
 *
 * Entries are added when a row is appended, before it is synced; whoever appends removes them again when the group fails.
 * Held by test/unit/dedup-window.test.ts against a plain Map.
 */
import type { Hash64 } from '../../schemas/event/row.ts'

interface Generation {
  readonly entries: Uint32Array
  size: number
  startedAt: number
}

const wordsEach = 4
/** Higher than the upper half of any event's id. */
const removed = 0xffffffff

export class DedupWindow {
  private readonly entriesMax: number
  private readonly mask: number
  private young: Generation
  private old: Generation

  /** @param entries kept at most, over both generations @param windowMs after which an entry need not be known any more */
  constructor(
    entries: number,
    private readonly windowMs: number,
    now: number,
  ) {
    this.entriesMax = Math.ceil(entries / 2)
    let slots = 64
    while (slots < this.entriesMax * 2) slots *= 2
    this.mask = slots - 1
    this.young = this.makeGeneration(now)
    this.old = this.makeGeneration(now)
  }

  /** The event id first seen with this hash, or 0. */
  find(hash: Hash64): number {
    return this.findIn(this.young.entries, hash) || this.findIn(this.old.entries, hash)
  }

  add(hash: Hash64, id: number, now: number): void {
    // A clock that was set back must not keep a generation for longer.
    const isOver = Math.abs(now - this.young.startedAt) > this.windowMs
    if (this.young.size >= this.entriesMax || isOver) this.rotate(now)
    const { entries } = this.young
    let at = (hash.lo & this.mask) * wordsEach
    while (entries[at + 2] !== 0 || entries[at + 3] !== 0) at = this.after(at)
    entries[at] = hash.lo
    entries[at + 1] = hash.hi
    entries[at + 2] = id >>> 0
    entries[at + 3] = Math.floor(id / 2 ** 32)
    this.young.size++
  }

  /** Forgets an entry, if it still names `id`. */
  remove(hash: Hash64, id: number): void {
    for (const { entries } of [this.young, this.old]) {
      const at = this.placeOf(entries, hash)
      if (at >= 0 && idAt(entries, at) === id) entries[at + 3] = removed
    }
  }

  /** The time since which every added id is known: the window that is really held. */
  get heldSince(): number {
    return this.old.startedAt
  }

  private findIn(entries: Uint32Array, hash: Hash64): number {
    const at = this.placeOf(entries, hash)
    return at < 0 ? 0 : idAt(entries, at)
  }

  private placeOf(entries: Uint32Array, { lo, hi }: Hash64): number {
    let at = (lo & this.mask) * wordsEach
    while (entries[at + 2] !== 0 || entries[at + 3] !== 0) {
      if (entries[at] === lo && entries[at + 1] === hi && entries[at + 3] !== removed) return at
      at = this.after(at)
    }
    return -1
  }

  private after(at: number): number {
    return at + wordsEach < (this.mask + 1) * wordsEach ? at + wordsEach : 0
  }

  private rotate(now: number): void {
    const emptied = this.old
    emptied.entries.fill(0)
    emptied.size = 0
    emptied.startedAt = now
    this.old = this.young
    this.young = emptied
  }

  private makeGeneration(now: number): Generation {
    return { entries: new Uint32Array((this.mask + 1) * wordsEach), size: 0, startedAt: now }
  }
}

function idAt(entries: Uint32Array, at: number): number {
  return entries[at + 3]! * 2 ** 32 + entries[at + 2]!
}
