/** Segment numbers of one thread. One reservation is always prefetched, so taking a number never waits. */
import type { Log } from '../../runtime/log.ts'
import type { NumberRange } from '../segment-leases.ts'
import { Outage } from './outage.ts'

const reserveRetryMs = 500

export interface SegmentNumbers {
  /** The next number. @throws Error when none is reserved (the disk fails, or Postgres has been away for many hours) */
  take(): number
  /** For how long there has been none; 0 where there are some. Asks for more, as nobody may take one meanwhile. */
  outageMs(): number
  close(): Promise<void>
}

/** @param reserve answers numbers that nobody else has got, once that is durable */
export async function openSegmentNumbers(reserve: () => Promise<NumberRange>, log: Log): Promise<SegmentNumbers> {
  let reserved = await reserve()
  let ahead = await reserve()
  let reserving: Promise<void> | undefined
  let reserveNotBefore = 0
  const outage = new Outage()

  function reserveAhead(): void {
    if (performance.now() < reserveNotBefore) return
    reserving ??= reserve()
      .then((next) => {
        ahead = next
        outage.end()
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
      if (reserved.next === reserved.end) {
        outage.begin()
        throw new Error('no segment number is reserved')
      }
      return reserved.next++
    },
    outageMs() {
      if (outage.isOn) reserveAhead()
      return outage.ms()
    },
    async close() {
      await reserving
    },
  }
}
