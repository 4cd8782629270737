/**
 * Segment numbers. Each writer (a node, or a worker of one) leases a million of them at a time from a sequence in
 * Postgres. It keeps the lease in a file, so that it goes on for hours without Postgres and through restarts. Numbers
 * are taken from the lease in small reservations, each written and synced before its first number is used. So a kill
 * skips at most one reservation and never uses a number twice. Held by test/unit/segment-numbers.test.ts.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeFileDurably } from '../runtime/files/durable-file.ts'
import type { Log } from '../runtime/log.ts'
import { backoffMs, sleep } from '../runtime/retry.ts'
import { segmentLeaseSize, segmentNumberMax, segmentReserveSize } from '../schemas/limits/log-limits.ts'

/** The numbers from `next` up to (not including) `end`. */
export interface NumberRange {
  next: number
  end: number
}

/** A lease: its numbers are [first, end), and those from `next` on may still be taken. */
export interface HeldLease {
  readonly first: number
  readonly next: number
  readonly end: number
}

export interface SegmentLeases {
  /**
   * Numbers for the writer, durably taken from the lease. The caller raises the range's `next` with each number that it
   * uses: `held` reads it. Without a lease (the first start, or Postgres away for many hours) this waits for one.
   */
  reserve(): Promise<NumberRange>
  /** The writer's leases. One that is used up stays among them until `letGo` drops it. */
  held(): HeldLease[]
  /** Drops the used-up lease that begins with `first`: its mark has reached its end. Durable when it resolves. */
  letGo(first: number): Promise<void>
  close(): Promise<void>
}

export interface SegmentLeasesOptions {
  readonly file: string
  /** Takes `segmentLeaseSize` numbers from the sequence and answers the first. */
  readonly lease: () => Promise<number>
  /** Whether ClickHouse holds ids of these numbers already: a restored disk would use them again. Null: can't be known now. */
  readonly isUsed: (first: number, end: number) => Promise<boolean | null>
  readonly log: Log
}

export async function openSegmentLeases(options: SegmentLeasesOptions): Promise<SegmentLeases> {
  const { file, log } = options
  await mkdir(dirname(file), { recursive: true })
  let leases = await readLeases(file)
  const checked: NumberRange[] = []
  for (const lease of leases) {
    if (lease.next < lease.end && (await options.isUsed(lease.next, lease.end)) === true)
      log.warn({ lease }, 'a lease of segment numbers is used already: dropped')
    else checked.push(lease)
  }
  leases = checked

  const reserved = new Set<NumberRange>()
  let reserving: Promise<unknown> = Promise.resolve()
  let leasing: Promise<void> | undefined
  const stop = new AbortController()

  /** Writes follow one another: each holds the state of the moment it begins. */
  let writing: Promise<void> = Promise.resolve()
  const save = () => {
    writing = writing.catch(() => {}).then(() => writeFileDurably(file, JSON.stringify({ leases })))
    return writing
  }

  const left = () => leases.reduce((sum, lease) => sum + lease.end - lease.next, 0)

  async function addLease(): Promise<void> {
    for (let attempt = 0; !stop.signal.aborted; attempt++) {
      try {
        const first = await options.lease()
        if (first + segmentLeaseSize > segmentNumberMax) throw new Error('segment numbers are used up')
        // A Postgres restored from a backup leases numbers again.
        if ((await options.isUsed(first, first + segmentLeaseSize)) === true) continue
        leases.push({ next: first, end: first + segmentLeaseSize })
        return
      } catch (error) {
        log.warn({ err: error }, 'no lease of segment numbers yet')
        await sleep(backoffMs(attempt, 200, 5000), stop.signal)
      }
    }
  }

  async function reserveNow(): Promise<NumberRange> {
    if (left() < segmentLeaseSize / 2) leaseAhead()
    if (left() === 0) await leasing
    const lease = leases.find(({ next, end }) => next < end)
    if (!lease) throw new Error('there are no segment numbers')
    const taken = { next: lease.next, end: Math.min(lease.next + segmentReserveSize, lease.end) }
    lease.next = taken.end
    reserved.add(taken)
    try {
      await save()
    } catch (error) {
      // No number of it was used: it is taken again once the disk is well.
      lease.next = taken.next
      reserved.delete(taken)
      throw error
    }
    return taken
  }

  function leaseAhead(): void {
    leasing ??= addLease()
      .then(save)
      .catch((error) => log.error({ err: error }, 'the lease file could not be written'))
      .finally(() => {
        leasing = undefined
      })
  }

  return {
    reserve() {
      // One after another: if two ran at once, the one that fails would take back the other's numbers.
      const reservation = reserving.then(reserveNow)
      reserving = reservation.catch(() => {})
      return reservation
    },
    held() {
      for (const range of reserved) if (range.next >= range.end) reserved.delete(range)
      return leases.map((lease) => {
        const first = firstOf(lease)
        let { next } = lease
        for (const range of reserved) if (range.next >= first && range.next < next) next = range.next
        return { first, next, end: lease.end }
      })
    },
    async letGo(first) {
      const kept = leases.filter((lease) => lease.next < lease.end || firstOf(lease) !== first)
      if (kept.length === leases.length) return
      leases = kept
      await save()
    },
    async close() {
      stop.abort()
      await leasing
      await reserving
    },
  }
}

/** Leases are aligned, and may have been used for a while when they are read. */
function firstOf({ end }: NumberRange): number {
  return end - segmentLeaseSize
}

async function readLeases(file: string): Promise<NumberRange[]> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { leases: NumberRange[] }).leases
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`the lease file ${file} can't be read: ${(error as Error).message}`)
  }
}
