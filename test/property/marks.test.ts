import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HeldLease } from '../../ingest/segment-leases.ts'
import type { Part } from '../../ingest/ship/manifest.ts'
import { UndoneSegments } from '../../ingest/ship/marks.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'

const leaseSize = 8
const leases = 3

/** Changes to the numbers of three leases; `pick` says to which of those that are there. */
const step = fc.record({
  what: fc.constantFrom('take', 'take', 'bots', 'skip', 'seal', 'unused', 'freeze', 'split', 'load', 'load'),
  pick: fc.nat(1000),
})

interface Manifest {
  segments: number[]
  part: Part
}

it('a mark covers no row that is not loaded, in whatever order segments are sealed, split, joined and loaded, and all in the end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const undone = new UndoneSegments(leaseSize)
      let next = leaseSize
      const open: number[] = []
      const sealed: number[] = []
      const rests: number[] = []
      const manifests: Manifest[] = []
      const take = <T>(from: T[], pick: number): T | undefined => from.splice(pick % Math.max(1, from.length), 1)[0]

      const held = (): HeldLease[] =>
        Array.from({ length: leases }, (_, index) => {
          const first = (index + 1) * leaseSize
          const end = first + leaseSize
          return { first, next: Math.min(end, Math.max(first, next)), end }
        })
      const load = ({ segments, part }: Manifest) =>
        undone.loaded({ segments: segments.map((number) => ({ number })) as never, part })
      const check = () => {
        const notLoaded = [...open, ...sealed, ...rests, ...manifests.flatMap(({ segments }) => segments)]
        for (const lease of held()) {
          const through = undone.throughOf(lease)
          expect((through + 1) % segmentRowsMax).toBe(0)
          expect(through).toBeGreaterThanOrEqual(lease.first * segmentRowsMax - 1)
          // Neither a row that waits nor one that is still to come.
          for (const number of [...notLoaded, lease.next]) {
            if (number >= lease.first && number < lease.end) expect(number * segmentRowsMax).toBeGreaterThan(through)
          }
          const least = Math.min(lease.next, ...notLoaded.filter((number) => number >= lease.first))
          expect(through).toBe(Math.min(least, lease.end) * segmentRowsMax - 1)
        }
      }

      for (const { what, pick } of steps) {
        if (what === 'take' && next < (leases + 1) * leaseSize) {
          undone.begin(next)
          open.push(next++)
        } else if (what === 'bots' || what === 'skip') next = Math.min(next + 1 + (pick % 3), (leases + 1) * leaseSize)
        else if (what === 'seal') {
          const number = take(open, pick)
          if (number !== undefined) sealed.push(number)
        } else if (what === 'unused') {
          const number = take(open, pick)
          if (number !== undefined) undone.unused(number)
        } else if (what === 'freeze' && sealed.length > 0) {
          manifests.push({ segments: sealed.splice(0, 1 + (pick % sealed.length)), part: 'all' })
        } else if (what === 'freeze' && rests.length > 0) {
          manifests.push({ segments: rests.splice(0, 1 + (pick % rests.length)), part: 'claimed' })
        } else if (what === 'split' && sealed.length > 0) {
          const segments = sealed.splice(0, 1 + (pick % sealed.length))
          manifests.push({ segments, part: 'unclaimed' })
          rests.push(...segments)
        } else if (what === 'load') {
          const manifest = take(manifests, pick)
          if (manifest) load(manifest)
        }
        check()
      }
      for (const number of open.splice(0)) undone.unused(number)
      for (const manifest of manifests.splice(0)) load(manifest)
      load({ segments: rests.splice(0), part: 'claimed' })
      load({ segments: sealed.splice(0), part: 'all' })
      check()
      for (const lease of held()) expect(undone.throughOf(lease)).toBe(lease.next * segmentRowsMax - 1)
    }),
    { numRuns: 500 },
  )
})

/** Changes in two workers, on the way to the main thread, and there. */
const threadsStep = fc.record({
  what: fc.constantFrom(
    ...'take append append append answer answer seal fail hear hear load load look publish publish restart'.split(' '),
  ),
  worker: fc.nat(1),
  pick: fc.nat(1000),
})

const numbersEach = 64

/** A node of two workers with a lease each, and what Postgres was told by it. */
class ModelNode {
  time = 0
  undone = new UndoneSegments(numbersEach)
  readonly workers = [1, 2].map((lease) => ({
    first: lease * numbersEach,
    next: lease * numbersEach,
    /** By segment, how many rows it has. */
    open: new Map<number, number>(),
    unheard: [] as (() => void)[],
    /** Above the numbers that the main thread has heard of. */
    heardNext: lease * numbersEach,
  }))
  sealed: number[] = []
  loaded = new Set<number>()
  /** Ids that aren't answered yet, and when the others were. */
  unanswered: number[] = []
  readonly answeredAt = new Map<number, number>()
  looked: { at: number; unheard: number[] } | undefined
  completeAt = Number.NEGATIVE_INFINITY
  readonly marks = this.workers.map(({ first }) => first * segmentRowsMax - 1)

  do({ what, worker: at, pick }: { what: string; worker: number; pick: number }): void {
    this.time++
    const worker = this.workers[at]!
    const open = [...worker.open.keys()]
    const number = open[pick % open.length]
    if (what === 'take') this.take(worker, pick)
    else if (what === 'append' && number !== undefined) this.append(worker, number)
    else if (what === 'answer') {
      for (const id of this.unanswered.splice(0, 1 + (pick % 3))) this.answeredAt.set(id, this.time)
    } else if (what === 'seal' && number !== undefined) this.seal(worker, number)
    else if (what === 'fail' && number !== undefined) this.fail(worker, number)
    else if (what === 'hear') this.hear(worker, 1 + (pick % 4))
    else if (what === 'load' && this.sealed.length > 0) this.load(pick)
    else if (what === 'look')
      this.looked ??= { at: this.time, unheard: this.workers.map(({ unheard }) => unheard.length) }
    else if (what === 'publish') this.publish()
    else if (what === 'restart' && pick % 8 === 0) this.restart()
  }

  /** Now and then numbers of other streams come first. */
  take(worker: (typeof this.workers)[0], pick: number): void {
    const number = worker.next + (pick % 3)
    if (number >= worker.first + numbersEach) return
    worker.next = number + 1
    worker.open.set(number, 0)
    worker.unheard.push(() => {
      this.undone.begin(number)
      worker.heardNext = number + 1
    })
  }

  append(worker: (typeof this.workers)[0], number: number): void {
    const rows = worker.open.get(number)!
    const at = this.time
    worker.open.set(number, rows + 1)
    this.unanswered.push(number * segmentRowsMax + rows)
    if (rows === 0) worker.unheard.push(() => this.undone.gotRow(number, at))
  }

  seal(worker: (typeof this.workers)[0], number: number): void {
    const rows = worker.open.get(number)!
    worker.open.delete(number)
    worker.unheard.push(() => (rows === 0 ? this.undone.unused(number) : this.sealed.push(number)))
  }

  /** Its groups can't be written. Those of which somebody was answered were. */
  fail(worker: (typeof this.workers)[0], number: number): void {
    const hasAnswered = [...this.answeredAt.keys()].some((id) => segmentOf(id) === number)
    this.unanswered = this.unanswered.filter((id) => segmentOf(id) !== number)
    if (!hasAnswered) worker.open.set(number, 0)
    this.seal(worker, number)
  }

  hear(worker: (typeof this.workers)[0], messages: number): void {
    for (const tell of worker.unheard.splice(0, messages)) tell()
  }

  load(pick: number): void {
    const [number] = this.sealed.splice(pick % this.sealed.length, 1)
    this.loaded.add(number!)
    this.undone.loaded({ segments: [{ number }] as never, part: 'all' })
  }

  publish(): void {
    if (!this.looked) return
    // The answers to a question: no less is heard than what was told when it was asked.
    for (const [at, worker] of this.workers.entries()) this.hear(worker, this.looked.unheard[at]!)
    this.completeAt = Math.max(this.completeAt, this.undone.completeAt(this.looked.at))
    for (const [at, { first, heardNext }] of this.workers.entries()) {
      const through = this.undone.throughOf({ first, next: heardNext, end: first + numbersEach })
      this.marks[at] = Math.max(this.marks[at]!, through)
    }
    this.looked = undefined
    this.check()
  }

  /** After a kill: what the logs have is found, and nothing else. */
  restart(): void {
    this.undone = new UndoneSegments(numbersEach)
    this.sealed = []
    this.looked = undefined
    const ids = [...this.answeredAt.keys(), ...this.unanswered.splice(0)]
    for (const number of new Set(ids.map(segmentOf))) {
      if (this.loaded.has(number)) continue
      this.undone.find(number)
      this.sealed.push(number)
    }
    for (const worker of this.workers) {
      worker.open.clear()
      worker.unheard = []
      worker.heardNext = worker.next
    }
  }

  check(): void {
    for (const [id, at] of this.answeredAt) {
      if (at >= this.completeAt) continue
      expect(this.loaded.has(segmentOf(id))).toBe(true)
      expect(id).toBeLessThanOrEqual(this.marks[this.workers[0]!.first + numbersEach <= segmentOf(id) ? 1 : 0]!)
    }
  }
}

const segmentOf = (id: number) => Math.floor(id / segmentRowsMax)

it('no event that was answered before the marks are complete is above them, however late workers are heard; an idle node is complete', () => {
  fc.assert(
    fc.property(fc.array(threadsStep, { minLength: 40, maxLength: 250, size: 'max' }), (steps) => {
      const node = new ModelNode()
      for (const each of steps) node.do(each)
      // Only the newest segment of a worker may stay open, when it has no rows.
      for (const worker of node.workers) {
        for (const [number, rows] of [...worker.open]) {
          if (rows > 0 || number < worker.next - 1) node.seal(worker, number)
        }
        node.hear(worker, worker.unheard.length)
      }
      while (node.sealed.length > 0) node.load(0)
      node.looked = undefined
      for (const what of ['look', 'publish']) node.do({ what, worker: 0, pick: 0 })
      expect(node.completeAt).toBe(node.time - 1)
    }),
    { numRuns: 1_000 },
  )
})
