/** Redis as the doctor asks it: nothing is written. */
import { Redis } from 'ioredis'
import { claimsDatabaseOf, countKeysUpTo, sinceKey, sliceMsOf } from '../../ingest/ship/claims-layout.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { probeDeadlineMs } from '../../schemas/limits/doctor-limits.ts'

interface ClaimsHeld {
  /** From this time on all claims are held, in ms of Redis's clock; null: there was none yet. */
  readonly since: number | null
  readonly claims: number
}

export interface RedisProbe {
  ping(): Promise<void>
  /** Milliseconds since 1970. */
  now(): Promise<number>
  /** The fields of all sections. */
  info(): Promise<Readonly<Record<string, string>>>
  /** Claims in the database. */
  readClaims(windowHours: number): Promise<ClaimsHeld>
  close(): void
}

/** Every call rejects with StoreUnavailable when Redis doesn't answer in time. */
export function connectRedis(url: string): RedisProbe {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    connectTimeout: probeDeadlineMs,
    commandTimeout: probeDeadlineMs,
    retryStrategy: () => null,
  })
  let whyNot: NodeJS.ErrnoException | undefined
  redis.on('error', (error) => {
    whyNot ??= error
  })

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const { message, code } = whyNot ?? (error as NodeJS.ErrnoException)
      throw new StoreUnavailable('redis', message || String(code), { cause: error })
    }
  }

  return {
    ping: () =>
      ask(async () => {
        await redis.ping()
      }),

    now: () =>
      ask(async () => {
        const [seconds, micros] = await redis.time()
        return Number(seconds) * 1000 + Number(micros) / 1000
      }),

    info: () =>
      ask(async () => {
        const lines = (await redis.info()).split('\r\n')
        return Object.fromEntries(lines.filter((line) => /^\w+:/.test(line)).map(splitOnce))
      }),

    readClaims: (windowHours) =>
      ask(async () => {
        await redis.select(claimsDatabaseOf(url))
        const since = await redis.get(sinceKey)
        const [seconds] = await redis.time()
        const slice = Math.floor((Number(seconds) * 1000) / sliceMsOf(windowHours))
        const counts = await redis.mget(countKeysUpTo(slice))
        return {
          since: since === null ? null : Number(since),
          claims: counts.reduce((sum, count) => sum + Number(count ?? 0), 0),
        }
      }),

    close: () => redis.disconnect(),
  }
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(':')
  return [line.slice(0, at), line.slice(at + 1)]
}
