/**
 * Segment numbers. A node leases a million of them at a time from a sequence in Postgres and keeps the lease in a file,
 * so that it goes on for a day without Postgres and through restarts. Numbers are taken from the lease in small
 * reservations, each written and synced before its first number is used: a kill skips at most one reservation and
 * never uses a number twice. Held by test/unit/segment-numbers.test.ts.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeFileDurably } from '../runtime/durable-file.ts'
import type { Log } from '../runtime/log.ts'
import { backoffMs, sleep } from '../runtime/retry.ts'
import { segmentLeaseSize, segmentNumberMax, segmentReserveSize } from '../schemas/limits.ts'

const reserveRetryMs = 500

interface Lease {
  /** Numbers from `next` up to (not including) `end` are free. */
  next: number
  end: number
}

/** A lease that this node has: its numbers are [first, end), and those from `next` on may still be taken. */
export interface HeldLease {
  readonly first: number
  readonly next: number
  readonly end: number
}

export interface NumberSource {
  /** The next number. @throws Error when both leases are used up (Postgres away for more than a day) */
  take(): number
}

export interface SegmentNumbers extends NumberSource {
  /** The node's leases. One that is used up stays among them until it is let go of. */
  held(): HeldLease[]
  /** Nothing is left to be said of the used-up lease that begins with `first`. Durable when it resolves. */
  letGo(first: number): Promise<void>
  close(): Promise<void>
}

export interface SegmentNumbersOptions {
  readonly file: string
  /** Leases `segmentLeaseSize` numbers and answers the first. */
  readonly lease: () => Promise<number>
  /** Whether ClickHouse holds ids of these numbers already: a restored disk would use them again. Null: can't be known now. */
  readonly isUsed: (first: number, end: number) => Promise<boolean | null>
  readonly log: Log
}

export async function openSegmentNumbers(options: SegmentNumbersOptions): Promise<SegmentNumbers> {
  const { file, log } = options
  await mkdir(dirname(file), { recursive: true })
  let leases = await readLeases(file)
  const checked: Lease[] = []
  for (const lease of leases) {
    if (lease.next < lease.end && (await options.isUsed(lease.next, lease.end)) === true)
      log.warn({ lease }, 'a lease of segment numbers is used already: dropped')
    else checked.push(lease)
  }
  leases = checked

  /** The reservation that is being written, or was written last. */
  let underWay: Lease = { next: 0, end: 0 }
  let leasing: Promise<void> | undefined
  let reserving: Promise<void> | undefined
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

  /** Takes the next reservation out of the lease, durably. */
  async function reserve(): Promise<Lease> {
    if (left() < segmentLeaseSize / 2) leaseAhead()
    const lease = leases.find(({ next, end }) => next < end)
    if (!lease) throw new Error('no segment numbers are left: Postgres has been away for too long')
    const taken = { next: lease.next, end: Math.min(lease.next + segmentReserveSize, lease.end) }
    lease.next = taken.end
    underWay = taken
    try {
      await save()
    } catch (error) {
      // Nobody has got a number of it: it is taken again once the disk is well.
      lease.next = taken.next
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

  if (left() === 0) await addLease()
  let reserved = await reserve()
  let ahead = await reserve()
  let reserveNotBefore = 0

  function reserveAhead(): void {
    if (performance.now() < reserveNotBefore) return
    reserving ??= reserve()
      .then((next) => {
        ahead = next
      })
      .catch((error) => {
        reserveNotBefore = performance.now() + reserveRetryMs
        log.error({ err: error }, 'segment numbers could not be reserved')
      })
      .finally(() => {
        reserving = undefined
      })
  }

  return {
    take() {
      if (reserved.next === reserved.end) {
        reserved = ahead
        ahead = { next: 0, end: 0 }
      }
      if (ahead.next === ahead.end) reserveAhead()
      if (reserved.next === reserved.end) throw new Error('no segment number is reserved')
      return reserved.next++
    },
    held() {
      const reservations = [reserved, ahead, underWay].filter(({ next, end }) => next < end)
      return leases.map((lease) => {
        const first = firstOf(lease)
        const free = reservations.filter(({ next }) => next >= first && next < lease.end)
        return { first, next: Math.min(lease.next, ...free.map(({ next }) => next)), end: lease.end }
      })
    },
    async letGo(first) {
      leases = leases.filter((lease) => lease.next < lease.end || firstOf(lease) !== first)
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
function firstOf({ end }: Lease): number {
  return end - segmentLeaseSize
}

async function readLeases(file: string): Promise<Lease[]> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { leases: Lease[] }).leases
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`the lease file ${file} can't be read: ${(error as Error).message}`)
  }
}
