/**
 * The ids that this node has seen lately: 64-bit keyed hashes of `client_event_id` → event id, in two generations of
 * open-addressed tables. When the younger one is full, or has covered the whole window, the older one is dropped and they
 * change places: memory is bounded, and an entry lives for between one and two generations.
 *
 * Entries are added when a row is appended, before it is synced; whoever appends removes them again when the group fails.
 * Held by test/unit/dedup-window.test.ts against a plain Map.
 */
import type { Hash64 } from '../../schemas/row.ts'

interface Generation {
  readonly keys: Uint32Array
  readonly ids: Float64Array
  size: number
  startedAt: number
}

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
    return this.findIn(this.young, hash) || this.findIn(this.old, hash)
  }

  add(hash: Hash64, id: number, now: number): void {
    // A clock that was set back must not keep a generation for longer.
    if (this.young.size >= this.entriesMax || Math.abs(now - this.young.startedAt) > this.windowMs) this.turn(now)
    const { keys, ids } = this.young
    let slot = hash.lo & this.mask
    while (ids[slot] !== 0) slot = (slot + 1) & this.mask
    keys[slot * 2] = hash.lo
    keys[slot * 2 + 1] = hash.hi
    ids[slot] = id
    this.young.size++
  }

  /** Forgets an entry, if it still names `id`. */
  remove(hash: Hash64, id: number): void {
    for (const generation of [this.young, this.old]) {
      const slot = this.slotOf(generation, hash)
      // The slot stays taken, so that probing goes on past it; -1 is no event's id.
      if (slot >= 0 && generation.ids[slot] === id) generation.ids[slot] = -1
    }
  }

  /** Since when every id added is known: what the window really holds. */
  get heldSince(): number {
    return this.old.startedAt
  }

  private findIn(generation: Generation, hash: Hash64): number {
    const slot = this.slotOf(generation, hash)
    return slot < 0 ? 0 : generation.ids[slot]!
  }

  private slotOf({ keys, ids }: Generation, hash: Hash64): number {
    let slot = hash.lo & this.mask
    for (let id = ids[slot]!; id !== 0; id = ids[slot]!) {
      if (id !== -1 && keys[slot * 2] === hash.lo && keys[slot * 2 + 1] === hash.hi) return slot
      slot = (slot + 1) & this.mask
    }
    return -1
  }

  private turn(now: number): void {
    const emptied = this.old
    emptied.ids.fill(0)
    emptied.size = 0
    emptied.startedAt = now
    this.old = this.young
    this.young = emptied
  }

  private makeGeneration(now: number): Generation {
    return {
      keys: new Uint32Array((this.mask + 1) * 2),
      ids: new Float64Array(this.mask + 1),
      size: 0,
      startedAt: now,
    }
  }
}
