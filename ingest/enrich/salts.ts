/**
 * The salts of visitors without an id: a random one a UTC day, the same on every node through Postgres. Each is made a
 * day ahead and forgotten two days after its day began. With it goes the last way to tell whose hashes they were.
 *
 * Salts are kept on disk too, so that an outage of Postgres stops nothing. A day that begins without Postgres gets a
 * salt of this node's own, which is offered to Postgres later. If another node's came first, that one is taken over.
 *
 * Held by test/unit/salts.test.ts.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { saltKeepMs, saltRetryMs, saltSweepMs } from '../../schemas/limits/ingest-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { makeSaltCopy, nameOf, type Salt, type SaltCopyOptions } from './salt-copy.ts'
import type { SaltOfDay } from './salted-cache.ts'

export interface SaltsOptions extends SaltCopyOptions {
  /** The salt of the day (`YYYY-MM-DD`) that all nodes share: the one in Postgres, or else `newSalt`, which then is it. */
  readonly readOrMakeSalt: (day: string, newSalt: Buffer) => Promise<Buffer>
  readonly clock: Clock
}

export interface Salts extends SaltOfDay {
  start(): Promise<void>
  close(): Promise<void>
}

export function makeSalts(options: SaltsOptions): Salts {
  const { clock, log } = options
  const copy = makeSaltCopy(options)
  /** By the number of the day since 1970. */
  const salts = new Map<number, Salt>()
  let isClosed = false
  let isReachable = true
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | undefined

  /** Forgets old salts, and sees to those of today and tomorrow. */
  function sweep(): Promise<void> {
    working ??= sweepOnce().finally(() => {
      working = undefined
      clearTimeout(timer)
      if (isClosed) return
      timer = setTimeout(sweep, isReachable ? saltSweepMs : saltRetryMs)
      timer.unref()
    })
    return working
  }

  async function sweepOnce(): Promise<void> {
    const before = salts.size
    const today = Math.floor(clock.now() / dayMs)
    for (const day of salts.keys()) if (isExpired(day)) salts.delete(day)
    let isChanged = salts.size !== before
    for (const day of [today, today + 1]) {
      if (salts.get(day)?.isShared) continue
      await share(day)
      isChanged = true
    }
    if (isChanged) await copy.write(salts)
  }

  async function share(day: number): Promise<void> {
    const own = salts.get(day)?.bytes ?? randomBytes(32)
    try {
      salts.set(day, { bytes: await options.readOrMakeSalt(nameOf(day), own), isShared: true })
      isReachable = true
    } catch (error) {
      salts.set(day, { bytes: own, isShared: false })
      if (isReachable) log.warn({ err: error }, 'the visitor salt could not be shared: a salt of this node goes on')
      isReachable = false
    }
  }

  function isExpired(day: number): boolean {
    return day * dayMs < clock.now() - saltKeepMs
  }

  return {
    start: async () => {
      for (const [day, salt] of await copy.read()) if (!isExpired(day)) salts.set(day, salt)
      await sweep()
    },

    at: (ms) => {
      const day = Math.floor(ms / dayMs)
      const known = salts.get(day)
      if (known !== undefined) return known.bytes
      // Only a clock that jumped comes here: the next day's salt is made a day ahead.
      const bytes = randomBytes(32)
      salts.set(day, { bytes, isShared: false })
      void sweep()
      return bytes
    },

    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await working
    },
  }
}
