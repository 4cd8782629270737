/**
 * Claims on `client_event_id`s over all nodes: the first event to claim an id keeps it. claims-layout.ts has the layout in Redis.
 *
 * A claim is idempotent: the same event id gets the same answer again. When there are more claims than allowed, or Redis is
 * out of memory, a sixteenth of the oldest slice is dropped, and the metric of held hours counts complete slices only.
 * Held by test/integration/claims.test.ts.
 */
import { type Redis, Redis as RedisClient, ReplyError } from 'ioredis'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { claimsPerCallMax } from '../../schemas/limits/log-limits.ts'
import { redisDeadlineMs } from '../../schemas/limits/store-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import {
  bucketsPerDrop,
  claimsDatabaseOf,
  countKeyOf,
  countKeysUpTo,
  dropsPerSlice,
  sinceKey,
  sliceMsOf,
  slicesPerWindow,
} from './claims-layout.ts'

export const claimBytes = 16
const callsBetweenChecks = 100

// ARGV: claims of 16 bytes | ms of a slice | ttl in ms. Answers {slice, since, time, positions of lost claims}.
// A bucket gets its expiry with its first claim, in the same script: none is ever without. Its key is made once: Lua writes a
// number as text by way of a fraction, which was a fifth of the script's time.
const script = `
local packed, sliceMs, ttl = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local call, sub, byte, floor, format = redis.call, string.sub, string.byte, math.floor, string.format
local clock = call('TIME')
local time = clock[1] * 1000 + floor(clock[2] / 1000)
local slice = floor(time / sliceMs)
call('SET', 'since', time, 'NX')
local now, before, oldest = 'c:' .. slice .. ':', 'c:' .. (slice - 1) .. ':', 'c:' .. (slice - 2) .. ':'
local hasBefore = call('EXISTS', 'n:' .. (slice - 1), 'n:' .. (slice - 2)) > 0
local lost, added = {}, 0
for n = 0, #packed / 16 - 1 do
  local at = n * 16 + 1
  local b1, b2, b3 = byte(packed, at, at + 2)
  local bucket = format('%d', b1 * 512 + b2 * 2 + floor(b3 / 128))
  local key = now .. bucket
  local field, id = sub(packed, at + 2, at + 7), sub(packed, at + 8, at + 15)
  if call('HSETNX', key, field, id) == 1 then
    added = added + 1
    local owner = hasBefore and (call('HGET', before .. bucket, field) or call('HGET', oldest .. bucket, field))
    if owner and owner ~= id then
      call('HSET', key, field, owner)
      lost[#lost + 1] = n
    end
    if call('HLEN', key) == 1 then call('PEXPIRE', key, ttl) end
  elseif call('HGET', key, field) ~= id then
    lost[#lost + 1] = n
  end
end
call('INCRBY', 'n:' .. slice, added)
call('PEXPIRE', 'n:' .. slice, ttl)
return {slice, tonumber(call('GET', 'since')), time, lost}
`

// ARGV: slice | first bucket | buckets | new `since`: all claims from then on are held. Returns the number of dropped claims.
// It deletes first, because a Redis that is out of memory refuses a script's SET unless the script has already written.
const dropScript = `
local call, prefix, gone = redis.call, 'c:' .. ARGV[1] .. ':', 0
for bucket = tonumber(ARGV[2]), ARGV[2] + ARGV[3] - 1 do
  local key = prefix .. string.format('%d', bucket)
  local claims = call('HLEN', key)
  if claims > 0 then call('UNLINK', key) end
  gone = gone + claims
end
if gone > 0 then
  call('DECRBY', 'n:' .. ARGV[1], gone)
  if tonumber(ARGV[4]) > tonumber(call('GET', 'since') or 0) then call('SET', 'since', ARGV[4]) end
end
return gone
`

type ClaimsRedis = Redis & {
  dropClaims(slice: number, firstBucket: number, buckets: number, since: number): Promise<number>
  claimIds(packed: Buffer, sliceMs: number, ttl: number): Promise<[number, number, number, number[]]>
}

export interface Claims {
  /**
   * Claims for each 16 bytes of `packed` (8 of hash, 8 of event id).
   * @returns the positions whose id another event has claimed before
   * @throws StoreUnavailable
   */
  claim(packed: Buffer): Promise<number[]>
  /** Hours for which claims are known to be held: less than the window after the first one, a drop, or a loss of Redis. */
  heldHours(): number
  close(): Promise<void>
}

export interface ClaimsOptions {
  readonly url: string
  readonly windowHours: number
  readonly entriesMax: number
}

export function connectClaims({ url, windowHours, entriesMax }: ClaimsOptions): Claims {
  const database = claimsDatabaseOf(url)
  const redis = new RedisClient(inDatabase(url, database), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: redisDeadlineMs,
    connectTimeout: redisDeadlineMs,
    retryStrategy: (attempt) => Math.min(100 * attempt, 2000),
  }) as ClaimsRedis
  // Failures reach the caller through its own call; without a listener they would end the process.
  redis.on('error', () => {})
  redis.defineCommand('claimIds', { numberOfKeys: 0, lua: script })
  redis.defineCommand('dropClaims', { numberOfKeys: 0, lua: dropScript })

  const sliceMs = sliceMsOf(windowHours)
  const ttl = sliceMs * (slicesPerWindow + 2)
  let callsSinceCheck = 0
  let drops = 0
  /** By Redis's clock, as of the last call. */
  let known = { time: 0, since: 0 }

  /** Undefined until the connection has selected the claims' database: ioredis itself would go on in another one. */
  let selected: Promise<void> | undefined
  redis.on('ready', () => {
    selected = undefined
    ensureSelected().catch(() => {})
  })

  /** A failure is tried again with the next call: the connection may live long. */
  function ensureSelected(): Promise<void> {
    selected ??= selectDatabase().catch((error) => {
      selected = undefined
      throw error
    })
    return selected
  }

  async function selectDatabase(): Promise<void> {
    await redis.select(database).catch((error) => {
      if (!(error instanceof ReplyError)) throw error
      throw new Error(`claims need the database after the one that REDIS_URL names, ${database}: ${error.message}`)
    })
    const time = await redisTime()
    known = { time, since: Number((await redis.get(sinceKey)) ?? time) }
  }

  async function redisTime(): Promise<number> {
    const [seconds, micros] = await redis.time()
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  /** Drops some claims of the oldest slice that has any, even if it is the current one. @returns how many */
  async function dropOldest(): Promise<number> {
    const time = await redisTime()
    const slice = Math.floor(time / sliceMs)
    for (let back = slicesPerWindow; back >= 0; back--) {
      if (Number(await redis.get(countKeyOf(slice - back))) <= 0) continue
      const since = back === 0 ? time : (slice - back + 1) * sliceMs
      for (let tries = 0; tries < dropsPerSlice; tries++) {
        const first = (drops++ % dropsPerSlice) * bucketsPerDrop
        const gone = await redis.dropClaims(slice - back, first, bucketsPerDrop, since)
        if (gone === 0) continue
        known = { time, since: Math.max(known.since, since) }
        return gone
      }
      // The slice's claims have expired, but its count has not.
      await redis.del(countKeyOf(slice - back))
    }
    return 0
  }

  async function dropBeyondBound(slice: number): Promise<void> {
    if (++callsSinceCheck < callsBetweenChecks) return
    callsSinceCheck = 0
    const counts = await redis.mget(countKeysUpTo(slice))
    let beyond = counts.reduce((sum, count) => sum + Number(count ?? 0), 0) - entriesMax
    while (beyond > 0) {
      const gone = await dropOldest()
      if (gone === 0) return
      beyond -= gone
    }
  }

  async function claimSome(packed: Buffer): Promise<number[]> {
    const [slice, since, time, lost] = await redis.claimIds(packed, sliceMs, ttl).catch(async (error: Error) => {
      if (!(error instanceof ReplyError) || !/^OOM/.test(error.message)) throw error
      await dropOldest()
      return redis.claimIds(packed, sliceMs, ttl)
    })
    known = { time, since }
    await dropBeyondBound(slice)
    return lost
  }

  return {
    async claim(packed) {
      const lost: number[] = []
      try {
        await ensureSelected()
        for (let at = 0; at < packed.length; at += claimsPerCallMax * claimBytes) {
          const some = await claimSome(packed.subarray(at, at + claimsPerCallMax * claimBytes))
          for (const position of some) lost.push(at / claimBytes + position)
        }
      } catch (error) {
        throw new StoreUnavailable('redis', (error as Error).message, { cause: error })
      }
      return lost
    },
    heldHours: () => Math.min(windowHours, Math.max(0, known.time - known.since) / hourMs),
    async close() {
      redis.disconnect()
    },
  }
}

/** In the URL, because ioredis takes its database over the option. */
function inDatabase(url: string, database: number): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}
